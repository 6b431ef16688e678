/* The protocol between the daemon and a worker process: messages of fixed size over a Unix socket
 * that keeps their bounds (SOCK_SEQPACKET), with descriptors passed along. Both ends are the same
 * program, so numbers are sent as they lie in memory; the daemon checks every one of them.
 *
 *   daemon                       worker process
 *   SETUP (shared memory)    ->
 *                            <-  OPENED
 *   TASK (graph, result)     ->
 *                            <-  CYCLE...       the vertices of a negative cycle
 *                            <-  DONE           how the task ended; ready for the next
 *   end of stream: the worker closes its solver and leaves */
#pragma once

#include "server/job/worker/task.h"
#include "server/job/worker/worker.h"

/* How the program is told that it is a worker: `apspd --worker-fd 3`. No part of the interface. */
#define WORKER_FLAG "--worker-fd"
#define WORKER_SOCKET 3

/* Exit codes of a worker process beside 0, told to leave: what came over the socket made no sense;
 * from WORKER_EXIT_DEVICE on, the device failed, by class. */
#define WORKER_EXIT_PROTOCOL 79
#define WORKER_EXIT_DEVICE 80

/* The process of a worker, as main calls it. It has the socket, standard error and no other file,
 * and leaves when the daemon does. Returns the exit code. */
int worker_child_run(int socket);

enum wire_type { WIRE_SETUP = 1, WIRE_OPENED, WIRE_TASK, WIRE_CYCLE, WIRE_DONE, WIRE_TYPE_COUNT };

#define WIRE_CYCLE_VERTICES 256
/* TASK: the graph's file and the result's. SETUP: the shared memory. */
#define WIRE_DESCRIPTOR_LIMIT 2

struct wire_opened {
    struct worker_facts facts;
    struct solver_figures figures;
};

struct wire_task {
    uint32_t vertex_count;
    uint32_t kind;
    uint32_t verify;
    char graph_id[GRAPH_ID_SIZE];
};

struct wire_cycle {
    uint32_t count; /* of vertices, which follow those sent before */
    uint32_t vertices[WIRE_CYCLE_VERTICES];
};

struct wire_done {
    uint32_t status;
    uint32_t cycle_length;
    struct problem problem;
    double write_s;
    double parse_s;
    struct timings timings;
    struct plan_summary plan;
    struct verification verification;
    double cycle_weight;
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
