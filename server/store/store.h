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
#include "server/store/graph_file.h"
#include "server/store/result.h"

struct store;

/* One durable change. Fields left zero are not part of it. Everything it points to is borrowed
 * until done is called, on a thread of the store, with status set; done usually posts a message. */
struct store_change {
    const struct graph *graph;         /* with graph_row; store_write_graph has written its file */
    const struct graph_row *graph_row; /* file_bytes is that of the file written */
    const struct name_row *name_row;
    struct result *result;               /* its file is published under its name, with result_row */
    const struct result_row *result_row; /* bytes and checksum are computed by the publisher */
    const struct job_row *job_row;

    const char *delete_graph_id; /* rows and files: the graph and all of its results */
    const struct result_row *delete_result;
    /* By kind, NULL without: references to what is deleted. The publisher drops them, as the last
     * one unmaps a whole matrix: of a large one after the commit, when the file has lost its name,
     * as the file system takes as long again to free it. The publisher then tells the changes that
     * it had together with it, in their order. */
    struct result *retired[KIND_COUNT];
    struct store_change *next_told; /* the store's own, as is */
    bool is_told_last;
    bool quarantine;                 /* the file of delete_result: it is damaged */
    const char *quarantine_graph_id; /* the damaged file alone; its row stays */
    const char *delete_job_id;
    /* The id of the graph whose coordinates come, in coordinates_file, or go. With job_row they
     * come before the rows of the change, to a graph without any; else the change has no row, and
     * is carried out once the rows of all others are committed. */
    const char *put_coordinates_id;
    const char *delete_coordinates_id;
    struct draft_file coordinates_file;

    enum status status;        /* out */
    uint64_t graph_file_bytes; /* out */
    uint64_t result_checksum;  /* out */
    void (*done)(struct store_change *change);
    void *context;
    struct store_change *next; /* of the store while queued */
    enum status file_status;   /* by store_write_graph: whether there is a graph_file */
    struct draft_file graph_file;
};

/* Creates the directory when absent, takes its lock (STATUS_CONFIG with words when another process
 * holds it or the format is another), and makes rows and files agree, as state_dir_repair says. The
 * blocks of a result are not looked at. */
MUST_CHECK enum status store_open(const char *path, struct store **ret_store,
                                  struct problem *reterr);
/* All rows, then all that store_open found damaged or lost, before store_start. Results visited
 * exist and have their checksum. */
MUST_CHECK enum status store_visit(struct store *store, const struct catalogue_visitor *visitor);
/* Starts the disk threads. */
MUST_CHECK enum status store_start(struct store *store);
/* Carries out what was given, then stops the threads and closes all. */
void store_close(struct store *store);

/* The first step of a change with a graph: its file, synced, not yet under its name. A failure is
 * noted, for store_apply to report. Any thread; blocks on the disk. */
void store_write_graph(const struct store *store, struct store_change *change);
/* Any thread, never blocks. The change must stay valid until done. */
void store_apply(struct store *store, struct store_change *change);

/* Open directories, for workers to read graphs and make result files in. Borrowed. */
int store_graph_folder(const struct store *store);
int store_result_folder(const struct store *store);
int store_order_folder(const struct store *store);
int store_coordinates_folder(const struct store *store);
/* A word that the store made at random when it was created, to key ids with. It leaves the process
 * nowhere. */
const char *store_secret(const struct store *store);
/* Bytes on the file system of the state directory: free for us now, and in all. Any thread. */
uint64_t store_free_bytes(const struct store *store);
uint64_t store_disk_bytes(const struct store *store);
