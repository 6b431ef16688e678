/* The seam between jobs and the machinery that solves them: one operations table per back end.
 *
 * A solver is opened once per device, belongs to one thread, and solves one graph at a time. The
 * back ends: solver_cpu.c, always there; solver_gpu.c over gpu/gpu.h,
 * replaced at build time by solver_gpu_absent.c. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/problem.h"
#include "proto/solve.h"
#include "server/solver/plan/planner.h"
#include "server/solver/ranks.h"

enum solver_choice { SOLVER_AUTO = 0, SOLVER_GPU, SOLVER_CPU };

/* Whether graphs get another plan than the dense one: where it pays, or never. */
enum solver_plans { SOLVER_PLANS_AUTO = 0, SOLVER_PLANS_NONE };

/* Whether the GPUs of the host solve large graphs together: beside working alone, never, or as the
 * only way. */
enum solver_group { SOLVER_GROUP_AUTO = 0, SOLVER_GROUP_NONE, SOLVER_GROUP_ALL };

/* The solver section of the configuration. */
struct solver_config {
    enum solver_choice choice;
    uint32_t cpu_threads; /* 0 = one per core this process may use */
    char cpu_isa[16];     /* "auto", "portable", "avx2", "avx512" */
    enum solver_plans plans;
    enum solver_group group;
};

struct solver_device {
    char solver[8];   /* "gpu" or "cpu" */
    char name[64];    /* "NVIDIA H200", or the processor's model name */
    uint32_t index;   /* of the first */
    uint32_t members; /* devices that solve together, the memory and the units being of all; or 1 */
    uint64_t memory_bytes;
    uint64_t memory_free_bytes;
    uint32_t units;  /* multiprocessors or threads */
    char detail[64]; /* "compute capability 9.0", "avx512" */
};

struct solver_estimate {
    uint64_t device_bytes; /* on the device (0 for the CPU solver) */
    uint64_t host_bytes;   /* beside the result's own storage */
    double seconds;        /* from the measured or assumed rate of this device */
    double finish_s;       /* of these, what comes after the last round */
    /* Beside them, where the host does it before the first round and after the last: */
    double fill_s;
    double write_s; /* rows of the result */
    double check_s; /* statistics */
};

struct solver;

/* Figures from which the estimates of an opened solver are made, as plain bytes of its back end:
 * they may be sent to another process of the same program. */
#define SOLVER_FIGURES_SIZE 1024
struct solver_figures {
    bool gpu;
    _Alignas(8) unsigned char bytes[SOLVER_FIGURES_SIZE];
};

struct solver_class {
    const char *name;
    uint32_t tile;    /* vertices per tile edge of the plans that it executes */
    bool computes_u2; /* false: a u2 result is computed as i4 and narrowed on the host */
    void (*describe)(const struct solver *solver, struct solver_device *ret_device);
    void (*estimate)(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, const struct solve_options *options,
                     struct solver_estimate *ret_estimate);
    /* The figures by which a plan is chosen for a solve of this graph and kind. NULL where no plan
     * but the dense one is executed. */
    void (*plan_cost)(const struct solver *solver, const struct graph *graph, enum kind kind,
                      const struct solve_options *options, struct plan_cost *ret_cost);
    /* Whether there is memory for a plan other than the dense one. NULL = for any. */
    bool (*fits)(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                 enum kind kind);
    enum status (*solve)(struct solver *solver, const struct graph *graph, const struct plan *plan,
                         const struct solve_options *options, const struct observer *observer,
                         struct matrix *matrix, struct solve_account *account);
    /* Its figures as of now, and later ones for a model of it. */
    void (*get_figures)(const struct solver *solver, struct solver_figures *ret_figures);
    void (*set_figures)(struct solver *model, const struct solver_figures *figures);
    /* It solves with the other ranks from here on: its memory and its pace are those of all. */
    void (*join)(struct solver *solver, const struct ranks *ranks);
    void (*close)(struct solver *solver);
};

/* Embedded first in each back end's own struct. */
struct solver {
    const struct solver_class *class_;
    /* From this many vertices up, solve_options.narrow is worth a proof; 0 = it changes nothing. */
    uint32_t narrow_vertices;
    /* Threads beside those of a solve that fault in the pages of its result meanwhile. */
    uint32_t warm_threads;
    bool dense_only;   /* gets the dense plan, whatever the class executes; set by who opens it */
    bool is_gpu_model; /* of the figures of a GPU; set by solver_model_create */
    const struct ranks *ranks; /* borrowed; NULL = it is alone. Set by solver_open_rank */
};

/* The CPU solver. STATUS_NO_MEMORY; STATUS_CONFIG for an instruction set this machine lacks. */
MUST_CHECK enum status solver_cpu_open(const struct solver_config *config,
                                       struct solver **ret_solver, struct problem *reterr);

/* Sets dense_only by the configuration. */
void solver_allow_plans(struct solver *solver, const struct solver_config *config);

/* How many GPUs can be opened; reason says why when it is 0. */
#define SOLVER_REASON_SIZE 160
uint32_t solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE]);
/* The GPUs [first, first + count), of which no more than SOLVE_DEVICES_MAX are taken: several solve
 * large graphs together. */
MUST_CHECK enum status solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                                       struct problem *reterr);

/* Opens by choice. AUTO takes the first GPU, else the CPU; GPU without a device is
 * STATUS_NO_DEVICE with the reason. */
MUST_CHECK enum status solver_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr);
/* The same for a rank, which then has joined the others: a GPU each where all of them have one,
 * those of a host taking turns, else their processors, which the first says on standard error where
 * some have a GPU. All call it, and get the same status. */
MUST_CHECK enum status solver_open_rank(const struct solver_config *config,
                                        const struct ranks *ranks, struct solver **ret_solver,
                                        struct problem *reterr);
void solver_close(struct solver *solver);

/* A model of a solver that another process has opened: it estimates, and solves nothing. Only
 * solver_estimate, solver_close and solve_estimate_planned take one. Its figures
 * may be replaced by later ones while other threads estimate. STATUS_NO_MEMORY. */
MUST_CHECK enum status solver_model_create(const struct solver_figures *figures,
                                           struct solver **ret_model);
void solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures);
void solver_set_figures(struct solver *model, const struct solver_figures *figures);
/* The back ends' own. STATUS_NO_DEVICE in a build without it. */
MUST_CHECK enum status solver_cpu_model(struct solver **ret_model);
MUST_CHECK enum status solver_gpu_model(struct solver **ret_model);

/* By which sort of failure this process lost a device, as a small number; 0 = it did not, or it is
 * not known. */
unsigned solver_fault_class(void);

/* These and solver_estimate may be called by any thread, also while the solver solves. */
/* As the device was when the solver was opened: neither driver nor kernel is asked. */
void solver_describe(const struct solver *solver, struct solver_device *ret_device);
void solver_estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, const struct solve_options *options,
                     struct solver_estimate *ret_estimate);
