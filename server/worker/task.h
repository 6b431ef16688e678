/* A task of a worker and its outcome: a plain object that moves to the worker and back, and the
 * signal through which both sides communicate meanwhile.
 *
 * The daemon opens the files of a task before the solve, and proves and closes them after it: a
 * worker process opens nothing. */
#pragma once

#include "proto/job_document.h"
#include "server/solver/hierarchy/update.h"
#include "server/solver/progress.h"
#include "server/solver/solve.h"
#include "server/store/order_file.h"
#include "server/store/result.h"
#include "server/store/result_file.h"
#include "server/worker/mailbox.h"

#include <stdatomic.h>

/* The values that worker and loop share while a job runs: in the job, or in struct worker_shared
 * when the worker is a process. */
struct task_signal {
    atomic_bool cancelled;
    atomic_bool placed; /* the result file is there: its room on the disk is taken */
    atomic_uint rounds_done;
    atomic_uint rounds_total;
    struct progress progress; /* of the solve, in seconds */
};

/* Before a solve: nothing is done yet. */
void task_signal_reset(struct task_signal *signal);
/* Copies the values one by one: they may change meanwhile. */
void task_signal_copy(const struct task_signal *from, struct task_signal *to);

/* The observer through which the solver updates the signal. */
struct observer task_signal_observer(struct task_signal *signal);

/* Why a worker cannot go on. */
enum task_loss {
    TASK_LOSS_NONE = 0,
    TASK_LOSS_EXIT,     /* left by itself, with the code */
    TASK_LOSS_SIGNAL,   /* killed by the signal */
    TASK_LOSS_STALLED,  /* no progress in time: killed */
    TASK_LOSS_SILENT,   /* no heartbeat in time: killed */
    TASK_LOSS_PROTOCOL, /* broke the protocol: killed */
    TASK_LOSS_DEVICE    /* a thread's device failed for good */
};

/* Smaller graphs are planned sooner than a kept plan is read. */
#define TASK_KEPT_VERTICES_MIN 1024

/* A job as the worker sees it; moved to the worker and back. */
struct task {
    struct message message;
    void *context; /* the scheduler's */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct graph *graph;   /* read from its file; owned by the task */
    uint32_t vertex_count; /* of the graph, as the catalogue says */
    uint64_t edge_count;
    bool negative; /* some weight is below 0 */
    enum kind kind;
    enum result_form form; /* matrix or hierarchy */
    bool verify;
    struct result *base;    /* counted: of the graph before the arcs; NULL = none */
    struct solve_arc *arcs; /* borrowed from the job */
    size_t arc_count;
    uint64_t order_seed;        /* of order_file_open */
    struct task_signal *signal; /* borrowed; worker_signal, where there is one */

    /* Between the sides of a worker. */
    int graph_descriptor; /* of the graph's file, while status is STATUS_OK */
    struct order_file order_file;

    /* Out. */
    bool is_updated;  /* it is solved, from its base */
    bool is_followed; /* of a hierarchy: by what its arcs reach alone */
    enum status status;
    bool is_passing;    /* it failed for want at one of its files: it may be tried again */
    bool graph_damaged; /* its file */
    struct problem problem;
    double write_s;
    double parse_s; /* reading the graph file, when it had to be */
    struct solve_outcome outcome;
    struct result_file *file;     /* on STATUS_OK, sealed */
    struct search_pool *searches; /* in the file, where its rows were computed to be proven */
    struct vertex_names *names;   /* on STATUS_OK, and with a cycle: of the graph */
    enum task_loss loss;          /* of the process that had it: status is STATUS_DEVICE_LOST */
    int loss_code;
};

/* Frees what the task owns. */
void task_finish(struct task *task);

struct task_folders {
    int graphs; /* open directories, borrowed */
    int results;
    int orders;
    uint64_t plan_budget_bytes; /* 0 = no plan is kept */
};

/* Reads the graph and makes the result file. Sets status, with words. A cancelled task is
 * STATUS_CANCELLED and has no files. Blocks on the disk. */
void task_open_files(const struct task_folders *folders, struct task *task);
/* Before a solve: opens the file of the kept order, where the graph may have one. */
void task_open_order_file(const struct task_folders *folders, struct task *task);

/* Reads the graph from its file. STATUS_CORRUPT also where it has another number of vertices than
 * the catalogue says; the problem is set. */
MUST_CHECK enum status task_read_graph(struct task *task);
/* Reads the order that an earlier plan for the pattern of its graph found; and after the solve:
 * writes one that is fresh, and frees the words. */
void task_read_record(const struct task *task, struct order_record *record);
void task_keep_record(const struct task *task, const struct order_record *record);
/* The status of a call for the file of its result, which it returns; the problem is set on failure,
 * and whether that may pass. */
MUST_CHECK enum status task_check_result(struct task *task, enum status status);
/* Writes the result into its file: a hierarchy of so many bytes, or NULL, the matrix. */
MUST_CHECK enum status task_write_result(struct task *task, const void *hierarchy, uint64_t size);
/* Posts the task home, then frees what it no longer needs: giving back the pages and blocks of a
 * large result takes longer than a cancel should. */
void task_send_home(struct mailbox *home, void (*finished)(struct message *message),
                    struct task *task);

/* In words, for people: "left with code 80". */
#define TASK_LOSS_TEXT_SIZE 64
void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE]);
