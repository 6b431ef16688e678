/* The state directory and its two disk threads, the only threads that publish files in it.
 *
 *   LOCK, FORMAT, RESERVE, catalogue.db, graphs/<id>, results/<id>.<kind>.result, quarantine/,
 *   orders/<digest> (order_file.h; written by workers), coordinates/<graph id>
 *
 * Each change writes its files first and commits its catalogue rows second, so everything that the
 * catalogue names is on the disk. Start-up removes files that no row names.
 *
 * Changes with results run in the order of their store_apply calls, and so do changes without
 * results. A change without results may run before an earlier change with results, so that
 * accepting a job never waits while a large result is hashed and synced. The caller writes the file
 * of a graph before store_apply (store_write_graph). Waiting changes share one commit. After a
 * failed commit or fsync the store refuses every further change (STATUS_IO), so that it
 * acknowledges nothing that may be lost. */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/graph_cache.h"
#include "server/store/result.h"
#include "server/store/state_dir.h"

struct store;

/* The comment of each kind names the member of struct store_op that it uses. */
enum store_op_kind {
    STORE_DELETE_GRAPH,       /* id: deletes the graph with its names, results and coordinates */
    STORE_DELETE_RESULT,      /* result: only graph_id and kind of the row */
    STORE_QUARANTINE_RESULT,  /* as STORE_DELETE_RESULT; the damaged file moves to quarantine */
    STORE_DELETE_JOB,         /* id */
    STORE_PUT_GRAPH,          /* graph */
    STORE_PUT_NAME,           /* name */
    STORE_PUT_RESULT,         /* result */
    STORE_PUT_JOB,            /* job */
    STORE_ADD_COORDINATES,    /* coordinates: of a graph that has none; published before the rows */
    STORE_PUT_COORDINATES,    /* coordinates: published after all rows of the batch are committed */
    STORE_DELETE_COORDINATES, /* coordinates: deleted after all rows of the batch are committed */
    STORE_OP_KINDS
};

/* One row of the catalogue with its file, or only one of the two. */
struct store_op {
    enum store_op_kind kind;
    union { /* each member begins with its row, if it has one, and each row with its ID */
        char id[JOB_ID_SIZE];
        struct {
            struct graph_row row;      /* file_bytes is set by store_write_graph */
            const struct graph *graph; /* NULL = only the row is written */
            enum status file_status;   /* outcome of store_write_graph */
            struct draft_file file;
        } graph;
        struct name_row name;
        struct {
            struct result_row row; /* bytes and checksum are set by the publisher */
            struct result *result; /* its file is published under its final name */
        } result;
        struct job_row job;
        struct {
            char graph_id[GRAPH_ID_SIZE];
            struct draft_file file;
        } coordinates;
    };
};

#define STORE_OPS_MAX 4

/* One durable change, whose operations take effect together. The caller owns it and everything it
 * points to, and must not touch them until done is called on a thread of the store, with status
 * set. done usually posts a message. */
struct store_change {
    struct store_op ops[STORE_OPS_MAX];
    unsigned op_count;
    /* References to deleted results, indexed by kind, or NULL. The publisher drops them after the
     * commit, because the last reference unmaps the file, and freeing a large file takes long. */
    struct result *retired[KIND_COUNT];
    enum status status; /* set before done is called */
    void (*done)(struct store_change *change);
    void *context;
    struct store_change *next; /* link of the store's queues and batches */
};

/* Appends a zeroed operation. */
struct store_op *store_add_op(struct store_change *change, enum store_op_kind kind);
/* Returns the first operation of the kind, or NULL. */
struct store_op *store_find_op(struct store_change *change, enum store_op_kind kind);

/* Creates the directory if it is missing, locks it (STATUS_CONFIG with a problem if another process
 * holds the lock or the format differs), and repairs it (state_dir_repair). The blocks of results
 * are not read. cache_bytes: the budget of the graph cache. */
MUST_CHECK enum status store_open(const char *path, uint64_t cache_bytes, struct store **ret_store,
                                  struct problem *reterr);
/* Visits all rows, then everything that store_open found damaged or missing; before store_start.
 * The files of the visited results exist and match the checksum of their row. */
MUST_CHECK enum status store_visit(struct store *store, const struct catalogue_visitor *visitor);
MUST_CHECK enum status store_start(struct store *store);
/* Carries out all changes passed to store_apply, then frees the store. Accepts NULL. */
void store_close(struct store *store);

/* The first step of a change with STORE_PUT_GRAPH: writes and syncs the graph's file as a draft.
 * Stores a failure in file_status, which store_apply reports. Any thread; blocks on the disk. */
void store_write_graph(const struct store *store, struct store_change *change);
/* Passes the change, valid until done is called, to the disk threads. Any thread; never blocks. */
void store_apply(struct store *store, struct store_change *change);

/* Returns the open directory of a folder, in which workers read or create files. Borrowed. */
int store_folder(const struct store *store, enum store_folder folder);
/* Returns the cache of the edges and coordinates of stored graphs. Borrowed. */
struct graph_cache *store_graph_cache(const struct store *store);
/* Returns the random key of the hashes in IDs, generated with the store. Never sent to clients. */
const char *store_secret(const struct store *store);
/* These functions return the free and total bytes of the file system. Any thread. */
uint64_t store_free_bytes(const struct store *store);
uint64_t store_disk_bytes(const struct store *store);
