/* The solver of a worker: opened once, then given one task after another. Runs in the worker's
 * thread or in a worker process. */
#pragma once

#include "server/sandbox.h"
#include "server/worker/task.h"

/* The configuration of a solver: plain values, which can be sent to a process of this program. */
struct worker_setup {
    struct solver_config solver;
    bool gpu;             /* use the GPU back end, else the CPU back end */
    uint32_t gpu_index;   /* index of the first GPU */
    uint32_t gpu_members; /* GPUs that solve together; 0 = all */
    bool sharing;         /* the GPU also belongs to a group that another process opens */
    bool sandboxed;       /* whether a worker process enters the sandbox */
};

/* The report of a worker after opening its solver: plain values, like worker_setup. */
struct worker_facts {
    enum status status;
    uint32_t gpu_count; /* number of usable GPUs; set only with worker_setup.gpu */
    struct solver_device device;
    /* The next two arrays are indexed by graph_cost. */
    uint32_t vertex_limit[COST_COUNT]; /* maximum number of vertices in the device's memory */
    double pace_s[COST_COUNT];         /* seconds of a large solve divided by n^3; 0 = unknown */
    struct problem problem;            /* set if status is not STATUS_OK */
    struct sandbox_report sandbox;     /* sandbox of a worker process */
};

struct task_solver {
    const struct worker_setup *setup; /* borrowed */
    const struct ranks *ranks;        /* NULL = not an MPI rank */
    struct solver *solver;            /* NULL = opening failed */
};

void task_solver_open(const struct worker_setup *setup, const struct ranks *ranks,
                      struct task_solver *ret_solver, struct worker_facts *ret_facts);
/* Solves a task that has STATUS_OK, a result file, and a graph or the descriptor of its file. Sets
 * its status and outcome. */
void task_solver_run(struct task_solver *solver, struct task *task);
void task_solver_close(struct task_solver *solver);

/* Called on rank 0: waits before a task until all other ranks are ready. */
void task_solver_meet(const struct ranks *ranks);
/* Runs the loop of the other ranks, which solve the tasks that rank 0 sends them. */
void task_solver_follow(const struct worker_setup *setup, const struct ranks *ranks);
