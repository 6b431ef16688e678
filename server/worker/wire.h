/* The messages between the daemon and a worker process: of fixed size, over a Unix socket that
 * keeps their bounds (SOCK_SEQPACKET), with descriptors passed along. Both ends are the same
 * program, so numbers are sent as they lie in memory.
 *
 *   daemon                       worker process
 *   SETUP (shared memory)    ->
 *                            <-  OPENED
 *   TASK (graph, result, plan) ->
 *                            <-  CYCLE...       the vertices of a negative cycle
 *                            <-  DONE           how the task ended; ready for the next
 *   end of stream: the worker closes its solver and leaves */
#pragma once

#include "server/worker/task.h"
#include "server/worker/task_solver.h"

enum wire_type { WIRE_SETUP = 1, WIRE_OPENED, WIRE_TASK, WIRE_CYCLE, WIRE_DONE, WIRE_TYPE_COUNT };

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
    bool is_passing;
    struct problem problem;
    double write_s;
    double parse_s;
    struct solve_outcome outcome;  /* without the objects that it points to */
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
MUST_CHECK enum status wire_send(int socket, const struct wire_message *message,
                                 const int *descriptors);
/* Receives one message with its descriptors, as many as its type has; they are the caller's. With
 * NULL a message that has some is refused. STATUS_IO at the end of the stream, STATUS_CORRUPT for
 * bytes that are no message, STATUS_NOT_READY as above. */
MUST_CHECK enum status wire_receive(int socket, struct wire_message *ret_message,
                                    int *ret_descriptors);

/* The end of a task as a message, without the figures; the cycle is sent before it. */
void wire_write_done(const struct task *task, struct wire_done *ret_done);
/* The three calls below copy what a worker process has sent. STATUS_CORRUPT for a length or an
 * index beyond its limit; other values are the process's word. */
MUST_CHECK enum status wire_read_done(const struct wire_done *done, struct task *task);
/* The next vertices of the cycle of a task. STATUS_NO_MEMORY. */
MUST_CHECK enum status wire_read_cycle(const struct wire_cycle *cycle, struct task *task);
MUST_CHECK enum status wire_read_facts(const struct worker_facts *facts,
                                       struct worker_facts *ret_facts);
