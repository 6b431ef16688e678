/* The catalogue of the store: graphs, aliases, results and jobs in one SQLite file. There is
 * exactly one connection (WAL, synchronous=FULL, exclusive locking), owned by the store. The
 * starting thread uses it until store_start, the catalogue thread after that. Times are wall-clock
 * seconds. */
#pragma once

#include "proto/graph.h"
#include "proto/job_document.h"

#define NAME_SIZE 128
#define ETAG_SIZE 32
#define IDEMPOTENCY_KEY_SIZE 128
#define FINGERPRINT_SIZE 33
#define TENANT_NAME_SIZE 32 /* an empty name: tenant 0, the only tenant if no keys exist */

struct graph_row {
    char id[GRAPH_ID_SIZE];
    double created_s;
    uint32_t vertex_count;
    uint64_t edge_count;
    bool directed;
    uint64_t file_bytes;
    struct graph_summary summary;
    char tenant[TENANT_NAME_SIZE];
    char parent[GRAPH_ID_SIZE]; /* graph before the change; empty = uploaded */
    bool of_name; /* created only by a change of a named graph; deleted when the name moves */
};

struct name_row {
    char name[NAME_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    char tenant[TENANT_NAME_SIZE]; /* the owner; tenants have separate names */
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
    char fingerprint[FINGERPRINT_SIZE]; /* digest of the request; a repeated Idempotency-Key with
                                           another digest is an error */
    char tenant[TENANT_NAME_SIZE];
    const char *report; /* text written by job_report_encode, borrowed; NULL = no report */
};

struct catalogue;

/* Opens the catalogue, or creates it with store_id, the random name of its state directory.
 * STATUS_CORRUPT for a damaged file; STATUS_CONFIG if it belongs to another state directory. */
MUST_CHECK enum status catalogue_open(const char *path, const char *store_id,
                                      struct catalogue **ret_catalogue, struct problem *reterr);
void catalogue_close(struct catalogue *catalogue);

/* Calls write(catalogue, context) in a transaction, which is rolled back if write fails. */
MUST_CHECK enum status catalogue_transact(struct catalogue *catalogue,
                                          enum status (*write)(struct catalogue *catalogue,
                                                               const void *context),
                                          const void *context);

/* catalogue_put inserts a row, or replaces the row with the same key. row points to the struct of
 * the table's rows, such as struct graph_row. */
enum catalogue_table {
    CATALOGUE_GRAPH,
    CATALOGUE_NAME,
    CATALOGUE_RESULT,
    CATALOGUE_JOB,
    CATALOGUE_TABLES
};
MUST_CHECK enum status catalogue_put(struct catalogue *catalogue, enum catalogue_table table,
                                     const void *row);
/* Deletes the row with this key: a struct result_row, of which only graph_id and kind are read, or
 * the ID of a graph or job. Also deletes the names and results of a graph, but not its jobs. */
MUST_CHECK enum status catalogue_delete(struct catalogue *catalogue, enum catalogue_table table,
                                        const void *key);

/* These functions find out whether the catalogue has a row; a file without a row is an orphan.
 * ret_vertex_count may be NULL. */
MUST_CHECK enum status catalogue_has_graph(struct catalogue *catalogue, const char *graph_id,
                                           bool *ret_found, uint32_t *ret_vertex_count);
MUST_CHECK enum status catalogue_has_result(struct catalogue *catalogue, const char *graph_id,
                                            enum kind kind, bool *ret_found);

/* A stored row or file that is missing or differs from what was written. */
struct catalogue_damage {
    struct catalogue_damage *next; /* next element of the list */
    const char *what;              /* table of the row, or type of the file; a static string */
    int64_t row;                   /* rowid; 0 = a file */
    enum kind kind;                /* kind of a result's file, else KIND_COUNT */
    char id[NAME_SIZE];            /* ID of the graph or job, or the alias, as currently stored */
};

/* Callbacks of catalogue_visit, which reads every row at start-up, oldest first. Tables without a
 * callback are skipped. A callback that fails ends the walk with its status. A damaged row is
 * passed only to `damaged`; if that is NULL, the row ends the walk with STATUS_CORRUPT. */
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
/* Moves a row to the table of damaged rows, for an operator. Not to be called during a visit. */
MUST_CHECK enum status catalogue_set_aside(struct catalogue *catalogue, const char *table,
                                           int64_t row);
