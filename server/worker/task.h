/* A task of a worker with its outcome: a plain object that moves to the worker and back. Meanwhile
 * scheduler and worker communicate through the task's signal.
 *
 * The daemon opens the files of a task before the solve; after the solve, it proves the result and
 * closes the files. So a worker process opens no files. */
#pragma once

#include "proto/job_document.h"
#include "server/solver/hierarchy/shape.h"
#include "server/solver/hierarchy/update.h"
#include "server/solver/progress.h"
#include "server/solver/solve.h"
#include "server/store/order_file.h"
#include "server/store/result.h"
#include "server/store/result_file.h"
#include "server/worker/mailbox.h"

#include <stdatomic.h>

/* The values that the worker and the loop thread share while a job runs. The worker owns them. */
struct task_signal {
    atomic_bool cancelled;
    atomic_bool is_allocated; /* the file of a matrix has its disk space */
    atomic_uint rounds_done;
    atomic_uint rounds_total;
    struct progress progress; /* progress of the solve */
};

/* Returns the observer through which the solver updates the signal. */
struct observer task_signal_observer(struct task_signal *signal);

/* Why a worker was lost. EXIT and SIGNAL come with the exit code or the signal. */
enum task_loss {
    TASK_LOSS_NONE = 0,
    TASK_LOSS_EXIT,     /* the process exited */
    TASK_LOSS_SIGNAL,   /* the process was killed by a signal */
    TASK_LOSS_STALLED,  /* no progress within the deadline; the daemon killed the process */
    TASK_LOSS_SILENT,   /* no heartbeat within the deadline; the daemon killed the process */
    TASK_LOSS_PROTOCOL, /* invalid message; the daemon killed the process */
    TASK_LOSS_DEVICE    /* the device of a worker thread failed permanently */
};

/* Graphs with fewer vertices have no cached order: planning is faster than reading the file. */
#define TASK_KEPT_VERTICES_MIN 1024

/* A job as the worker sees it; moves to the worker and back. */
struct task {
    struct message message;
    void *context; /* context of the scheduler */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct graph *graph;           /* read from its file, or given with the task; owned */
    struct hierarchy_shape *shape; /* shape of the graph's hierarchy, owned; NULL = unknown */
    uint32_t vertex_count;         /* vertices of the graph according to the catalogue */
    uint64_t edge_count;
    bool negative; /* some weight is below 0 */
    enum kind kind;
    enum result_form form; /* form of the result */
    bool verify;
    struct result *base;    /* counted reference to the result of the parent graph; NULL = none */
    struct solve_arc *arcs; /* arcs that differ from the parent; borrowed from the job */
    size_t arc_count;
    uint64_t order_seed;        /* seed for order_file_open */
    struct task_signal *signal; /* signal of the worker (worker_signal), borrowed */

    /* Files that the daemon opens for the solver. */
    int graph_descriptor; /* file of the graph, open while status is STATUS_OK */
    struct order_file order_file;

    /* Output of the task. */
    bool is_updated;  /* solved by updating the base */
    bool is_followed; /* the update of a hierarchy recomputed only arcs that the change affects */
    enum status status;
    bool is_passing;    /* a file operation failed, perhaps temporarily: may be retried */
    bool graph_damaged; /* the graph's file is damaged */
    struct problem problem;
    double write_s;
    double parse_s; /* time spent reading the graph's file */
    struct solve_outcome outcome;
    struct result_file *file;     /* the sealed result; set on STATUS_OK */
    struct search_pool *searches; /* pool that searched a hierarchy for the proof, kept for its
                                     result; may be NULL */
    struct vertex_names *names;   /* vertex names; set on STATUS_OK and after a negative cycle */
    enum task_loss loss;          /* why the worker was lost, if status is STATUS_DEVICE_LOST */
    int loss_code;
};

void task_finish(struct task *task);

struct task_folders {
    int graphs; /* descriptors of three open directories, borrowed */
    int results;
    int orders;
    uint64_t plan_budget_bytes; /* limit on the cached orders; 0 = none are cached */
};

/* Opens the graph's file, reads it unless the task has the graph, and creates the result file. Sets
 * status and problem; a cancelled task gets STATUS_CANCELLED and no files. Blocks on the disk. */
void task_open_files(const struct task_folders *folders, struct task *task);
/* Opens the file of the cached order before a solve, if the graph is large enough to have one. */
void task_open_order_file(const struct task_folders *folders, struct task *task);

/* Reads the graph from its file. STATUS_CORRUPT also if its vertex count differs from the
 * catalogue's. Sets the problem. */
MUST_CHECK enum status task_read_graph(struct task *task);
/* task_read_record reads the order that an earlier task cached, if any; task_keep_record caches a
 * newly computed order, and frees the record's words. A zeroed file means no cache. */
void task_read_record(const struct order_file *file, const struct graph *graph,
                      struct order_record *record);
void task_keep_record(const struct order_file *file, const struct order_record *record);
/* Returns `status`, the outcome of a file operation; on failure sets problem and is_passing. */
MUST_CHECK enum status task_check_result(struct task *task, enum status status);
/* Writes a hierarchy of `size` bytes to the result file, or the matrix if hierarchy is NULL. */
MUST_CHECK enum status task_write_result(struct task *task, const void *hierarchy, uint64_t size);
/* Posts the task back, and only then frees the memory that it no longer needs: freeing the pages
 * and blocks of a large result takes longer than a cancel may take. */
void task_send_home(struct mailbox *home, void (*finished)(struct message *message),
                    struct task *task);

/* Describes how a worker was lost, as a clause such as "the solver exited with code 80". code: the
 * exit code or the signal. */
#define TASK_LOSS_TEXT_SIZE 64
void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE]);
