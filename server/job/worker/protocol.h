/* The protocol between the daemon and a worker's process: messages of fixed size over a Unix socket
 * that keeps their bounds (SOCK_SEQPACKET), with descriptors passed along. Both ends are the same
 * program, so numbers are sent as they lie in memory; the daemon checks every one of them.
 *
 *   daemon                       worker
 *   SETUP (board)            ->
 *                            <-  OPENED
 *   WORK (graph, result)     ->
 *                            <-  CYCLE...       the vertices of a negative cycle
 *                            <-  DONE           how the task ended
 *                            <-  HOME           the solver's figures; ready for the next
 *   end of stream: the worker closes its solver and leaves */
#pragma once

#include "server/job/worker/setup.h"
#include "server/job/worker/task.h"

enum wire_type {
    WIRE_SETUP = 1,
    WIRE_OPENED,
    WIRE_TASK,
    WIRE_CYCLE,
    WIRE_DONE,
    WIRE_HOME,
    WIRE_TYPE_COUNT
};

#define WIRE_CYCLE_VERTICES 256
/* WORK: the graph's file and the result's. SETUP: the board. */
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
    struct problem problem;
    double write_s;
    double parse_s;
    struct timings timings;
    uint32_t plan_kind;
    uint32_t plan_parts;
    uint32_t plan_largest_separator;
    uint32_t verified;
    uint32_t verified_on_device;
    uint32_t cycle_length;
    double plan_work_fraction;
    double plan_planning_s;
    uint64_t verified_rows;
    uint64_t verified_of;
    uint64_t verified_edges;
    double verified_tolerance;
    double verified_seconds;
    double cycle_weight;
    struct solver_device device;
};

struct wire_message {
    uint32_t type;
    union {
        struct worker_setup setup;
        struct wire_opened opened;
        struct wire_task task;
        struct wire_cycle cycle;
        struct wire_done done;
        struct solver_figures home;
    } body;
};

/* One socket for each end, of the next program started nothing. STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_protocol_pair(int ret_sockets[2]);
/* descriptors: count of them go along; borrowed. STATUS_IO when the other end is gone;
 * STATUS_NOT_READY when it does not listen now and the socket does not block. */
MUST_CHECK enum status worker_protocol_send(int socket, const struct wire_message *message,
                                            const int *descriptors, uint32_t count);
/* One message with its descriptors, as many as its type has; they are the caller's. STATUS_IO at
 * the end of the stream, STATUS_CORRUPT for what is no message, STATUS_NOT_READY as above. */
MUST_CHECK enum status worker_protocol_receive(int socket, struct wire_message *ret_message,
                                               int ret_descriptors[WIRE_DESCRIPTOR_LIMIT]);

/* A task's end as a message, and back: STATUS_CORRUPT for values that no worker sends. The cycle
 * goes apart. */
void worker_protocol_fill_done(const struct task *task, struct wire_done *ret_done);
MUST_CHECK enum status worker_protocol_take_done(const struct wire_done *done, struct task *task);
/* The next vertices of the cycle of a task. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_protocol_take_cycle(const struct wire_cycle *cycle,
                                                  struct task *task);
/* Whether the facts are what a worker may say; ends their texts. */
bool worker_protocol_check_facts(struct worker_facts *facts);
