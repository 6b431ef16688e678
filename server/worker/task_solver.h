/* The solver of a worker: opened once, and given one task after the other. It runs in the thread of
 * a worker, or in a worker process; both use this file. */
#pragma once

#include "server/sandbox.h"
#include "server/worker/task.h"

/* The configuration of one solver: plain values, which may be sent to another process of the same
 * program. */
struct worker_setup {
    struct solver_config solver;
    bool gpu;             /* which back end */
    uint32_t gpu_index;   /* of the first */
    uint32_t gpu_members; /* GPUs that solve together; 0 = all that there are */
    bool sharing;         /* the GPU is also one of a group, which another process opens */
    bool sandboxed;       /* a worker process gives up the rights that it does not need */
};

/* The report of a worker that has opened its solver: plain values too. */
struct worker_facts {
    enum status status;
    uint32_t gpu_count; /* with worker_setup.gpu: those that can be opened */
    struct solver_device device;
    /* By cost, see graph_cost: */
    uint32_t vertex_limit[COST_COUNT]; /* the largest graph that fits its memory */
    double pace_s[COST_COUNT];         /* a large solve's seconds per cubed vertex; 0 = unknown */
    struct problem problem;            /* when status is not STATUS_OK */
    struct sandbox_report sandbox;     /* the layers of a process with a sandbox */
};

struct task_solver {
    const struct worker_setup *setup; /* borrowed */
    const struct ranks *ranks;        /* NULL = it is alone */
    struct solver *solver;            /* NULL = it could not be opened */
};

void task_solver_open(const struct worker_setup *setup, const struct ranks *ranks,
                      struct task_solver *ret_solver, struct worker_facts *ret_facts);
/* A task with STATUS_OK, a result file, and a graph or the descriptor of its file. Sets its status
 * and outcome. */
void task_solver_run(struct task_solver *solver, struct task *task);
void task_solver_close(struct task_solver *solver);

/* The first rank waits here before a task until all ranks have come. */
void task_solver_meet(const struct ranks *ranks);
/* The loop of all ranks but the first, which tells them what to solve. */
void task_solver_follow(const struct worker_setup *setup, const struct ranks *ranks);
