/* The messages between the daemon and a worker process: of fixed size, over a Unix socket that
 * preserves message boundaries (SOCK_SEQPACKET), with descriptors passed along. Both ends are the
 * same program, so numbers are sent in their memory representation.
 *
 *   daemon                       worker process
 *   SETUP (shared memory)    ->
 *                            <-  OPENED
 *   TASK (graph, result, plan) ->
 *                            <-  DONE           how the task ended; ready for the next
 *   end of stream: the worker closes its solver and exits */
#pragma once

#include "server/worker/task.h"
#include "server/worker/task_solver.h"

enum wire_type { WIRE_SETUP = 1, WIRE_OPENED, WIRE_TASK, WIRE_DONE, WIRE_TYPE_COUNT };
/* TASK: the files of the graph, the result and the cached order. SETUP: the shared memory. */
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
    uint32_t has_order_file; /* 0 = none; the third descriptor is then the graph's file again */
    char graph_id[GRAPH_ID_SIZE];
};

struct wire_done {
    uint32_t status;
    bool is_passing;
    struct problem problem;
    double write_s;
    double parse_s;
    struct solve_outcome outcome;  /* without the memory to which its pointers refer */
    struct solver_figures figures; /* measured by the solver */
};

struct wire_message {
    uint32_t type;
    union {
        struct worker_setup setup;
        struct wire_opened opened;
        struct wire_task task;
        struct wire_done done;
    } body;
};

/* Sends a message with as many descriptors as its type has; they are borrowed. Each end sends one
 * message and waits for the reply, so the socket always has space. STATUS_IO if the other end is
 * closed. */
MUST_CHECK enum status wire_send(int socket, const struct wire_message *message,
                                 const int *descriptors);
/* Receives one message; its descriptors belong to the caller. If ret_descriptors is NULL, a message
 * with descriptors is refused. STATUS_IO at the end of the stream, STATUS_CORRUPT for an invalid
 * message. */
MUST_CHECK enum status wire_receive(int socket, struct wire_message *ret_message,
                                    int *ret_descriptors);

/* Writes the outcome of a task as a message, without the solver's figures. */
void wire_write_done(const struct task *task, struct wire_done *ret_done);
/* Both functions below copy data that a worker process has sent. STATUS_CORRUPT for a length or an
 * index out of range; other values are not checked. */
MUST_CHECK enum status wire_read_done(const struct wire_done *done, struct task *task);
MUST_CHECK enum status wire_read_facts(const struct worker_facts *facts,
                                       struct worker_facts *ret_facts);
