/* The configuration that a worker is started with and the facts that it reports: both plain values,
 * which may cross to another process of the same program. */
#pragma once

#include "server/job/mailbox.h"
#include "server/sandbox.h"
#include "server/solver/solver.h"

/* The configuration of one worker. */
struct worker_setup {
    struct solver_config solver;
    bool gpu; /* which back end */
    uint32_t gpu_index;
    bool sandboxed; /* a process of its own gives up what it can do without */
};

/* The facts that a worker reports once it has opened its solver. */
struct worker_facts {
    enum status status;
    uint32_t gpu_count; /* with worker_setup.gpu: those that can be opened */
    struct solver_device device;
    uint32_t vertex_limit[KIND_COUNT]; /* the largest graph that fits its memory, per kind */
    double pace_s[KIND_COUNT];         /* a large solve's seconds per cubed vertex; 0 = unknown */
    struct problem problem;            /* when status is not STATUS_OK */
    struct sandbox_report sandbox;     /* what a process with a sandbox has given up */
};

/* Opens the solver and finds the facts about it; solver is NULL unless their status is STATUS_OK.
 */
void worker_setup_open(const struct worker_setup *setup, struct solver **ret_solver,
                       struct worker_facts *ret_facts);

/* Estimates time and memory of a large solve. solver: opened, or a model of one. Any thread. */
void worker_setup_estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                           enum kind kind, struct solver_estimate *ret_estimate);
/* Estimates the solve of this graph: makes the plan that the solve would use, and drops it again.
 * Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status worker_setup_estimate_graph(const struct solver *solver,
                                                   const struct graph *graph, enum kind kind,
                                                   struct solver_estimate *ret_estimate,
                                                   struct plan_summary *ret_plan);
