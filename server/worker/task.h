/* A task of a worker and its outcome: plain objects that move to the worker and back, the shared
 * memory through which both sides signal meanwhile, and the messages by which all of this goes to a
 * worker process.
 *
 * The files of a task are opened before a worker has it, and closed and judged after, on the side
 * of the daemon, whose folders these are: a worker in a process of its own opens nothing. */
#pragma once

#include "proto/job_document.h"
#include "server/sandbox.h"
#include "server/solver/cpu/pool.h"
#include "server/solver/progress.h"
#include "server/solver/solve.h"
#include "server/store/order_file.h"
#include "server/store/result.h"
#include "server/store/result_file.h"
#include "server/worker/mailbox.h"

#include <stdatomic.h>

/* The values that worker and loop share while a job runs: in the job, or in struct worker_shared
 * when the worker is a process of its own. That process may be broken, so its values are checked.
 */
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

/* Shared memory of the daemon and a worker process: the signal of the task in hand, and the
 * heartbeat by which the daemon knows that the process is scheduled. */
struct worker_shared {
    atomic_uint heartbeats; /* a few each second */
    struct task_signal signal;
};

/* Why a worker process ended. */
enum task_loss {
    TASK_LOSS_NONE = 0,
    TASK_LOSS_EXIT,    /* left by itself, with the code */
    TASK_LOSS_SIGNAL,  /* killed by the signal */
    TASK_LOSS_STALLED, /* no progress in time: killed */
    TASK_LOSS_SILENT,  /* no heartbeat in time: killed */
    TASK_LOSS_PROTOCOL /* broke the protocol: killed */
};

/* Smaller graphs are planned sooner than a kept plan is read. */
#define TASK_KEPT_VERTICES_MIN 1024

/* A job as the worker sees it; moved to the worker and back. */
struct task {
    struct message message;
    void *context; /* the scheduler's */
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct graph *graph;   /* NULL: read from its file; owned by the task */
    uint32_t vertex_count; /* of a graph that is read from its file */
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
    int graph_descriptor; /* of the file, while graph is NULL and status is STATUS_OK */
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
    bool graph_files; /* open the file also of a graph that the task has in memory */
    int orders;
    uint64_t plan_budget_bytes; /* 0 = no plan is kept */
};

/* Sets status, with words: the result file is made, and where the task has no graph the descriptor
 * of its file is there. A cancelled task is STATUS_CANCELLED and has none. Blocks on the disk. */
void task_open_files(const struct task_folders *folders, struct task *task);
/* Before a solve: a graph that may have a kept plan is read for it, and the file of that plan
 * opened. */
void task_open_order_file(const struct task_folders *folders, struct task *task);

/* ---- judge.c ---- */

/* After the solve: some rows, at most sample_rows, drawn at random, are proven by certificate, and
 * the result is sealed. Rows of a hierarchy are computed and proven by so many threads (0: one for
 * each core), of a pool that is made when it is needed, and is the caller's: a thread that is new
 * starts beside the one that has made it, and moves to a free core later. Sets status and problem;
 * moves the names out of the graph. */
void judge_task(uint32_t sample_rows, uint32_t threads, struct cpu_pool **pool, struct task *task);
/* How many rows of a matrix are proven: as many as cost little beside its solve, at least 1, at
 * most sample_rows. */
uint32_t judge_sample_rows(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count);
/* The same of a hierarchy, whose rows are held until they are proven: of some 256 MiB at most. A
 * hierarchy that followed arcs has one row proven, as that takes longer than the update. */
uint32_t judge_computed_rows(uint32_t sample_rows, bool verify, bool is_followed, size_t row_bytes);

/* ---- task.c ---- */

/* Reads the graph from its file, into the task if it has none. STATUS_CORRUPT also where it has
 * another number of vertices than the catalogue says; the problem is set. */
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

/* Whether a worker process still does its task: judged from the memory that it shares, tick by tick
 * of the daemon's own time, so that a daemon that was itself stopped blames nobody.
 *
 * A process must send heartbeats, and a task must make progress: within stall_s, and longer only
 * where rounds take longer. Among even rounds that is 20 times the longest so far. Where a plan has
 * few rounds, of which the last are by far the longest, it is also 4 times all that the task has
 * taken so far. Before the first round and after the last, where nothing tells, it is what the
 * daemon allows for the whole task. An opening, which has no task, may take what is allowed and no
 * longer. A plain value of the thread that watches. */
struct worker_watch {
    const struct task *task; /* has its signal in the shared memory; NULL = none */
    double stall_s;
    double allowance_s; /* outside the rounds */
    bool is_hurried;    /* waits no longer than five seconds for what comes often */
    /* All in seconds of ticks. */
    double elapsed_s;
    double silence_s;
    double gap_s;
    double longest_gap_s;
    uint32_t heartbeats;
    uint64_t progress;
};

/* Without a task only heartbeats are waited for, unless something is allowed. */
void worker_watch_begin(struct worker_watch *watch, const struct task *task, double stall_s,
                        double allowance_s);
/* After tick_s. */
enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s);

/* The configuration of one solver: plain values, which may be sent to another process of the same
 * program. */
struct worker_setup {
    struct solver_config solver;
    bool gpu;             /* which back end */
    uint32_t gpu_index;   /* of the first */
    uint32_t gpu_members; /* GPUs that solve together; 0 = all that there are */
    bool sharing;         /* the GPU is also one of a group, which another process opens */
    bool sandboxed;       /* a process of its own gives up what it can do without */
};

/* The report of a worker that has opened its solver: plain values too. */
struct worker_facts {
    enum status status;
    uint32_t gpu_count; /* with worker_setup.gpu: those that can be opened */
    struct solver_device device;
    uint32_t vertex_limit[KIND_COUNT]; /* the largest graph that fits its memory, per kind */
    double pace_s[KIND_COUNT];         /* a large solve's seconds per cubed vertex; 0 = unknown */
    struct problem problem;            /* when status is not STATUS_OK */
    struct sandbox_report sandbox;     /* what a process with a sandbox has given up */
};

/* The protocol between the daemon and a worker process: messages of fixed size over a Unix socket
 * that keeps their bounds (SOCK_SEQPACKET), with descriptors passed along. Both ends are the same
 * program, so numbers are sent as they lie in memory; the daemon checks every one of them.
 *
 *   daemon                       worker process
 *   SETUP (shared memory)    ->
 *                            <-  OPENED
 *   TASK (graph, result, plan) ->
 *                            <-  CYCLE...       the vertices of a negative cycle
 *                            <-  DONE           how the task ended; ready for the next
 *   end of stream: the worker closes its solver and leaves
 *
 * Where ranks are the worker, the process that starts them (process.c) hears LAUNCH, with the
 * worker's end of such a socket and a pipe, and KILL; it passes the socket on to the first rank. */
enum wire_type {
    WIRE_SETUP = 1,
    WIRE_OPENED,
    WIRE_TASK,
    WIRE_CYCLE,
    WIRE_DONE,
    WIRE_LAUNCH,
    WIRE_KILL,
    WIRE_SOCKET,
    WIRE_TYPE_COUNT
};

#define WIRE_CYCLE_VERTICES 256
/* TASK: the files of the graph, the result and the plan. SETUP: the shared memory. */
#define WIRE_DESCRIPTOR_LIMIT 3

struct wire_opened {
    struct worker_facts facts;
    struct solver_figures figures;
};

struct wire_task {
    uint32_t vertex_count;
    uint32_t kind;
    uint32_t form;
    uint32_t verify;
    uint32_t has_order_file; /* else the graph's file stands in its place */
    char graph_id[GRAPH_ID_SIZE];
};

struct wire_cycle {
    uint32_t count; /* of vertices, which follow those sent before */
    uint32_t vertices[WIRE_CYCLE_VERTICES];
};

struct wire_done {
    uint32_t status;
    uint32_t cycle_length;
    bool is_passing;
    struct problem problem;
    double write_s;
    double parse_s;
    struct timings timings;
    uint32_t device_count;
    struct device_share devices[SOLVE_DEVICES_MAX];
    struct plan_summary plan;
    struct verification verification;
    double cycle_weight;
    uint64_t arc_count; /* of a hierarchy */
    struct solver_device device;
    struct solver_figures figures; /* the solver has learned from the task */
};

struct wire_message {
    uint32_t type;
    union {
        struct worker_setup setup;
        struct wire_opened opened;
        struct wire_task task;
        struct wire_cycle cycle;
        struct wire_done done;
    } body;
};

/* Sends as many descriptors as the type has; they are borrowed. STATUS_IO when the other end is
 * gone; STATUS_NOT_READY when the socket does not block and is full. */
MUST_CHECK enum status worker_protocol_send(int socket, const struct wire_message *message,
                                            const int *descriptors);
/* One message with its descriptors, as many as its type has; they are the caller's. With NULL a
 * message that has some is refused. STATUS_IO at the end of the stream, STATUS_CORRUPT for what is
 * no message, STATUS_NOT_READY as above. */
MUST_CHECK enum status worker_protocol_receive(int socket, struct wire_message *ret_message,
                                               int *ret_descriptors);

/* A task's end as a message, without the figures, and back: STATUS_CORRUPT for values that no
 * worker sends. The cycle goes apart. */
void worker_protocol_fill_done(const struct task *task, struct wire_done *ret_done);
MUST_CHECK enum status worker_protocol_take_done(const struct wire_done *done, struct task *task);
/* The next vertices of the cycle of a task. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_protocol_take_cycle(const struct wire_cycle *cycle,
                                                  struct task *task);
/* The report of a worker for this setup. STATUS_CORRUPT for values that no worker sends. */
MUST_CHECK enum status worker_protocol_take_opened(const struct wire_opened *opened,
                                                   const struct worker_setup *setup,
                                                   struct worker_facts *ret_facts);
