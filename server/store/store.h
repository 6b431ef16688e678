/* The state directory and its two disk threads, which alone publish anything in it.
 *
 *   LOCK, FORMAT, RESERVE, catalogue.db, graphs/<id>, results/<id>.<kind>.npy, quarantine/,
 *   orders/<digest>, which are the workers' matter (order_file.h), coordinates/<id of a graph>
 *
 * A change is files first, catalogue commit second: what the catalogue names is on the disk. Files
 * that no row names are removed at start-up, graphs to quarantine. Changes that publish or delete
 * results are carried out in the order given, all others too; between the two sorts the first may
 * be overtaken, so that no acceptance waits while a large result is hashed and synced. The file of
 * a graph is written before its change is given; its sync is the catalogue thread's, and the
 * acceptances behind it wait. Changes that wait share one commit. After a failed commit or fsync
 * the store refuses every further change (STATUS_IO): nothing is acknowledged that might be lost.
 */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/graph_cache.h"
#include "server/store/graph_file.h"
#include "server/store/result.h"
#include "server/store/state_dir.h"

struct store;

/* Each kind names the member of struct store_op that it has. */
enum store_op_kind {
    STORE_DELETE_GRAPH,       /* id: with its names, results and coordinates */
    STORE_DELETE_RESULT,      /* result: graph_id and kind of its row */
    STORE_QUARANTINE_RESULT,  /* the same of a damaged file */
    STORE_DELETE_JOB,         /* id */
    STORE_PUT_GRAPH,          /* graph */
    STORE_PUT_NAME,           /* name */
    STORE_PUT_RESULT,         /* result */
    STORE_PUT_JOB,            /* job */
    STORE_ADD_COORDINATES,    /* coordinates: before the rows, to a graph that has none */
    STORE_PUT_COORDINATES,    /* coordinates: once all rows of the batch are committed */
    STORE_DELETE_COORDINATES, /* coordinates: at the same time */
    STORE_OP_KINDS
};

/* One row of the catalogue, with the file that it names; or a file alone. */
struct store_op {
    enum store_op_kind kind;
    union {
        char id[JOB_ID_SIZE];
        struct {
            struct graph_row row;      /* store_write_graph sets file_bytes */
            const struct graph *graph; /* NULL: the row alone */
            enum status file_status;   /* by store_write_graph: whether there is a file */
            struct draft_file file;
        } graph;
        struct name_row name;
        struct {
            struct result_row row; /* the publisher sets bytes and checksum */
            struct result *result; /* its file is published under its name */
        } result;
        struct job_row job;
        struct {
            char graph_id[GRAPH_ID_SIZE];
            struct draft_file file;
        } coordinates;
    };
};

#define STORE_OPS_MAX 4

/* One durable change: its operations take effect together. Everything it points to is borrowed
 * until done is called, on a thread of the store, with status set; done usually posts a message. */
struct store_change {
    struct store_op ops[STORE_OPS_MAX];
    unsigned op_count;
    /* By kind, or NULL: references to results that are deleted. The publisher drops them after the
     * commit: the last one unmaps the file, whose blocks the file system takes long to free. */
    struct result *retired[KIND_COUNT];
    enum status status; /* out */
    void (*done)(struct store_change *change);
    void *context;
    struct store_change *next; /* the store's own: in a queue or batch */
};

/* Appends an operation, zeroed. */
struct store_op *store_add_op(struct store_change *change, enum store_op_kind kind);
/* The first operation of the kind, or NULL. */
struct store_op *store_find_op(struct store_change *change, enum store_op_kind kind);

/* Creates the directory when absent, takes its lock (STATUS_CONFIG with words when another process
 * holds it or the format is another), and makes rows and files agree, as state_dir_repair says. The
 * blocks of a result are not looked at. cache_bytes: the budget of the graph cache. */
MUST_CHECK enum status store_open(const char *path, uint64_t cache_bytes, struct store **ret_store,
                                  struct problem *reterr);
/* All rows, then all that store_open found damaged or lost, before store_start. Results visited
 * exist and have their checksum. */
MUST_CHECK enum status store_visit(struct store *store, const struct catalogue_visitor *visitor);
/* Starts the disk threads. */
MUST_CHECK enum status store_start(struct store *store);
/* Carries out what was given, then stops the threads and closes all. NULL is accepted. */
void store_close(struct store *store);

/* The first step of a change that puts a graph: its file, synced, not yet under its name. A failure
 * is noted, for store_apply to report. Any thread; blocks on the disk. */
void store_write_graph(const struct store *store, struct store_change *change);
/* Any thread, never blocks. The change must stay valid until done. */
void store_apply(struct store *store, struct store_change *change);

/* An open directory, for workers to read graphs and make result files in. Borrowed. */
int store_folder(const struct store *store, enum store_folder folder);
/* The edges and coordinates of its graphs; it drops those of deleted graphs. Borrowed. */
struct graph_cache *store_graph_cache(const struct store *store);
/* A word that the store made at random when it was created, to key ids with. It leaves the process
 * nowhere. */
const char *store_secret(const struct store *store);
/* Bytes on the file system of the state directory: free for us now, and in all. Any thread. */
uint64_t store_free_bytes(const struct store *store);
uint64_t store_disk_bytes(const struct store *store);
