/* What a worker is given to do and what it makes of it: plain objects that move to the worker and
 * back, and the words that both sides share meanwhile. */
#pragma once

#include "proto/job_document.h"
#include "server/job/mailbox.h"
#include "server/solver/solve.h"
#include "server/store/result_file.h"

#include <stdatomic.h>

/* The most works of a load. */
#define WORK_LOAD_LIMIT 512

/* The words that worker and loop share while a job runs: in the job, or in the worker's board when
 * the worker is a process of its own. That process may be broken, so what it writes is looked at
 * with care. */
struct work_signal {
    atomic_bool cancelled;
    atomic_bool placed; /* the result file is there: its room on the disk is taken */
    atomic_uint rounds_done;
    atomic_uint rounds_total;
    /* The pace is judged from the first report on: reading, filling and first touches of the memory
     * come before. */
    atomic_uint first_round;
    _Atomic double first_round_at_s; /* monotonic; 0 = not yet */
    _Atomic double round_at_s;       /* of the last report */
    /* What the solver expects of the whole solve, and of what follows its last round. */
    _Atomic double expected_s;
    _Atomic double finish_s;
    _Atomic double begun_at_s; /* the solve; 0 = not yet, and the two above not set */
};

/* Before a solve: nothing is done yet. */
void work_signal_reset(struct work_signal *signal);
/* What it says, for whoever keeps it. */
void work_signal_copy(const struct work_signal *from, struct work_signal *to);

/* How the solver tells the signal. */
struct observer work_signal_observer(struct work_signal *signal);

/* What the process of a worker and the daemon share, in memory of both: signals, and the beats by
 * which the daemon knows that it lives. */
struct work_board {
    atomic_uint beats; /* a few each second */
    struct work_signal signals[WORK_LOAD_LIMIT];
};

/* A job as the worker sees it. */
struct work {
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct graph *graph;   /* NULL: read from its file; owned by the work */
    uint32_t vertex_count; /* of a graph that is read from its file */
    uint64_t edge_count;
    bool negative; /* some weight is below 0 */
    enum kind kind;
    bool verify;
    struct work_signal *signal; /* borrowed; of the worker's board where it has one */

    /* Between the sides of a worker. */
    int graph_descriptor; /* of the file, while graph is NULL and status is STATUS_OK */

    /* Out. */
    enum status status;
    bool is_passing;    /* what it failed for, before the solve: it may be tried again */
    bool graph_damaged; /* its file */
    struct problem problem;
    double write_s;
    double parse_s; /* reading the graph file, when it had to be */
    struct solve_outcome outcome;
    struct result_file *file;   /* on STATUS_OK, sealed */
    struct vertex_names *names; /* on STATUS_OK, and with a cycle: of the graph */
};

/* Frees what the work owns. */
void work_finish(struct work *work);

/* Why a worker's process ended while it had a load. */
enum work_loss {
    WORK_LOSS_NONE = 0,
    WORK_LOSS_EXIT,    /* left by itself, with the code */
    WORK_LOSS_SIGNAL,  /* killed by the signal */
    WORK_LOSS_STALLED, /* no progress in time: killed */
    WORK_LOSS_SILENT,  /* no heartbeat in time: killed */
    WORK_LOSS_BABBLE   /* said what no worker says: killed */
};

/* In words, for people: "left with code 80". */
#define WORK_LOSS_TEXT_SIZE 64
void work_loss_describe(enum work_loss loss, int code, char ret_text[WORK_LOSS_TEXT_SIZE]);

/* What a worker does at once; moved to the worker and back. More than one: each fits the batch of
 * its kind that the worker told of at its opening. */
struct work_load {
    struct message message;
    struct work *works; /* borrowed until it is home */
    uint32_t count;     /* at least 1, at most WORK_LOAD_LIMIT */
    void *context;      /* the desk's */

    /* Out: the works that had no end of their own have STATUS_DEVICE_LOST then. */
    enum work_loss loss;
    int loss_code;
};
