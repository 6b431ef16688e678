/* The catalogue of the store: graphs, aliases, results and jobs in one SQLite file. There is
 * exactly one connection (WAL, synchronous=FULL, exclusive locking), used by one thread at a time:
 * the starting thread until store_start, the catalogue thread after. Times are wall seconds. */
#pragma once

#include "proto/graph.h"
#include "proto/job_document.h"

#define NAME_SIZE 128
#define ETAG_SIZE 32
#define IDEMPOTENCY_KEY_SIZE 128
#define FINGERPRINT_SIZE 33
#define TENANT_NAME_SIZE 32 /* empty: made without keys, belongs to nobody */

struct graph_row {
    char id[GRAPH_ID_SIZE];
    double created_s;
    uint32_t vertex_count;
    uint64_t edge_count;
    bool directed;
    uint64_t file_bytes;
    struct graph_summary summary;
    char tenant[TENANT_NAME_SIZE];
    char parent[GRAPH_ID_SIZE]; /* of which it is a change; empty = it was uploaded */
    bool of_name;               /* changes of a name made it, and nobody asked for it otherwise */
};

struct name_row {
    char name[NAME_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    char tenant[TENANT_NAME_SIZE]; /* whose name it is: each has names of its own */
};

struct result_row {
    char graph_id[GRAPH_ID_SIZE];
    enum kind kind;
    char etag[ETAG_SIZE];
    uint64_t bytes;
    uint64_t checksum;
    double created_s;
};

struct job_row {
    char id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    enum job_state state;
    enum kind kind;
    int priority;
    bool verify;
    double deadline_s;
    double created_s;
    double started_s;
    double finished_s;
    char idempotency_key[IDEMPOTENCY_KEY_SIZE]; /* empty = none */
    char fingerprint[FINGERPRINT_SIZE];         /* of the request, to tell a repeat from a misuse */
    char tenant[TENANT_NAME_SIZE];
    const char *report; /* job_report_encode's text, borrowed; NULL when there is none */
};

struct catalogue;

/* Creates or opens. A new one remembers store_id, the random name of its state directory.
 * STATUS_CORRUPT for a broken file; STATUS_CONFIG, with words, for the catalogue of another state
 * directory. */
MUST_CHECK enum status catalogue_open(const char *path, const char *store_id,
                                      struct catalogue **ret_catalogue, struct problem *reterr);
void catalogue_close(struct catalogue *catalogue);

/* Calls write(catalogue, context) in a transaction, which commits all that it changes, or nothing.
 */
MUST_CHECK enum status catalogue_transact(struct catalogue *catalogue,
                                          enum status (*write)(struct catalogue *catalogue,
                                                               const void *context),
                                          const void *context);

/* row: of the struct of the table. Replaces the row of the same key. */
enum catalogue_table {
    CATALOGUE_GRAPH,
    CATALOGUE_NAME,
    CATALOGUE_RESULT,
    CATALOGUE_JOB,
    CATALOGUE_TABLES
};
MUST_CHECK enum status catalogue_put(struct catalogue *catalogue, enum catalogue_table table,
                                     const void *row);
/* With its names and results; jobs that refer to it are kept. */
MUST_CHECK enum status catalogue_delete_graph(struct catalogue *catalogue, const char *graph_id);
MUST_CHECK enum status catalogue_delete_result(struct catalogue *catalogue, const char *graph_id,
                                               enum kind kind);
MUST_CHECK enum status catalogue_delete_job(struct catalogue *catalogue, const char *job_id);

/* Whether there is a row: what decides if a file is an orphan. ret_vertex_count: of the graph that
 * was found, or NULL. */
MUST_CHECK enum status catalogue_has_graph(struct catalogue *catalogue, const char *graph_id,
                                           bool *ret_found, uint32_t *ret_vertex_count);
MUST_CHECK enum status catalogue_has_result(struct catalogue *catalogue, const char *graph_id,
                                            enum kind kind, bool *ret_found);

/* Something stored that is not what was written, or is gone. */
struct catalogue_damage {
    struct catalogue_damage *next; /* of a list */
    const char *what;              /* the table of a row, or a sort of file; static */
    int64_t row;                   /* its number; 0 = a file */
    enum kind kind;                /* of the file of a result, else KIND_COUNT */
    char id[NAME_SIZE];            /* of the graph or job, or the name, as it reads now */
};

/* Every row, oldest first, at start-up. Rows without a callback are skipped; one that fails ends
 * the walk with its status. With damaged all rows are read, and one that is not what was written
 * goes to it alone; without it such a row ends the walk with STATUS_CORRUPT. */
struct catalogue_visitor {
    void *context;
    enum status (*damaged)(void *context, const struct catalogue_damage *damage);
    enum status (*graph)(void *context, const struct graph_row *row);
    enum status (*name)(void *context, const struct name_row *row);
    enum status (*result)(void *context, const struct result_row *row);
    enum status (*job)(void *context, const struct job_row *row);
};
MUST_CHECK enum status catalogue_visit(struct catalogue *catalogue,
                                       const struct catalogue_visitor *visitor);
/* Moves a row to the table of damaged ones, for people to look at; not during a walk. */
MUST_CHECK enum status catalogue_set_aside(struct catalogue *catalogue, const char *table,
                                           int64_t row);
