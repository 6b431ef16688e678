/* The interface between jobs and back ends: one operations table per back end.
 *
 * A solver is opened once per device, belongs to one thread, and solves one graph at a time. The
 * back ends are solver_cpu.c, which is always built, and solver_gpu.c on top of gpu/gpu.h, which
 * solver_gpu_absent.c replaces in builds without CUDA. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/problem.h"
#include "proto/solve.h"
#include "server/solver/plan/planner.h"
#include "server/solver/ranks.h"

enum solver_choice { SOLVER_AUTO = 0, SOLVER_GPU, SOLVER_CPU };

/* Whether a solve may use a plan other than the dense plan: if it is faster, or never. */
enum solver_plans { SOLVER_PLANS_AUTO = 0, SOLVER_PLANS_NONE };

/* Whether the GPUs of the host solve graphs together: large graphs only, never, or all graphs. */
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
    uint32_t index;   /* index of the first device */
    uint32_t members; /* devices that solve together; memory and units are totals over them */
    uint64_t memory_bytes;
    uint64_t memory_free_bytes;
    uint32_t units;  /* number of multiprocessors or threads */
    char detail[64]; /* "compute capability 9.0", "avx512" */
};

struct solver_estimate {
    uint64_t device_bytes; /* device memory (0 for the CPU solver) */
    uint64_t host_bytes;   /* host memory besides the result */
    double seconds;        /* estimated from the measured or assumed rate of the device */
    double finish_s;       /* part of `seconds` after the last round */
    /* Seconds of the host's work before or after the rounds, in addition to `seconds`: */
    double fill_s;
    double write_s; /* seconds to write rows of the result */
    double check_s; /* seconds to compute statistics */
};

struct solver;

/* Rates of a solver, assumed when it is opened and then measured: relaxations per second in each
 * arithmetic, and bytes per second of copying a result from the device. */
enum { RATE_DOWNLOAD = ARITHMETIC_COUNT, RATE_COUNT };

/* The data from which a solver computes its estimates. They may be sent to another process of the
 * same program. `bytes` is the back end's own struct, whose pointers are invalid in the other
 * process. */
#define SOLVER_FIGURES_SIZE 1024
struct solver_figures {
    bool gpu;
    _Alignas(double) unsigned char bytes[SOLVER_FIGURES_SIZE];
};

struct solver_class {
    const char *name;
    size_t size;   /* bytes of the back end's own struct; 0 in a build without the back end */
    uint32_t tile; /* vertices per tile edge of the plans that the solver executes */
    /* Any thread may call `describe` and `estimate`, also during a solve. Describes the device as
     * it was when the solver was opened, without calls to driver or kernel. */
    void (*describe)(const struct solver *solver, struct solver_device *ret_device);
    void (*estimate)(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, const struct solve_options *options,
                     struct solver_estimate *ret_estimate);
    /* Sets the cost model for choosing the plan of a solve of this graph and kind. */
    void (*plan_cost)(const struct solver *solver, const struct graph *graph, enum kind kind,
                      const struct solve_options *options, struct plan_cost *ret_cost);
    /* Returns whether the memory suffices for a plan other than the dense plan. */
    bool (*fits)(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                 enum kind kind);
    enum status (*solve)(struct solver *solver, const struct graph *graph, const struct plan *plan,
                         const struct solve_options *options, const struct observer *observer,
                         struct matrix *matrix, struct solve_account *account);
    /* Joins the solver to the other ranks. Its rates become the totals of all ranks. */
    void (*join)(struct solver *solver, const struct ranks *ranks);
    void (*close)(struct solver *solver);
};

/* The first member of each back end's own struct. */
struct solver {
    const struct solver_class *class_;
    /* Smallest number of vertices for which proving solve_options.narrow saves time; 0 = never. */
    uint32_t narrow_vertices;
    /* Additional threads that fault in the pages of a result during a solve. */
    uint32_t warm_threads;
    bool dense_only;                  /* use only the dense plan; set by solver_allow_plans */
    _Atomic double rates[RATE_COUNT]; /* written by the solver's thread, or by solver_set_figures */
    const struct ranks *ranks;        /* borrowed; NULL = no other ranks. Set by solver_open */
};

extern const struct solver_class solver_cpu_class;
extern const struct solver_class solver_gpu_class;

/* Opens the CPU solver. STATUS_NO_MEMORY; STATUS_CONFIG for an unsupported instruction set. */
MUST_CHECK enum status solver_cpu_open(const struct solver_config *config,
                                       struct solver **ret_solver, struct problem *reterr);

/* Sets dense_only from the configuration. */
void solver_allow_plans(struct solver *solver, const struct solver_config *config);

static inline enum arithmetic solver_arithmetic(enum kind kind, const struct solve_options *options)
{
    return kind == KIND_F4   ? ARITHMETIC_F4
           : kind == KIND_F8 ? ARITHMETIC_F8
           : options->narrow ? ARITHMETIC_NARROW
                             : ARITHMETIC_I4;
}

/* Sets the rates of all arithmetics from the rate of i4. One instruction does two 16-bit
 * relaxations; doubles have at best half the rate of floats. */
static inline void solver_assume_rates(struct solver *solver, double rate_per_s)
{
    solver->rates[ARITHMETIC_I4] = rate_per_s;
    solver->rates[ARITHMETIC_NARROW] = 2 * rate_per_s;
    solver->rates[ARITHMETIC_F4] = rate_per_s;
    solver->rates[ARITHMETIC_F8] = rate_per_s / 2;
}

/* Returns the number of relaxations of a dense solve: n^3, or half of that if symmetric. */
static inline double solver_relaxations(uint32_t vertex_count, const struct solve_options *options)
{
    const double n = vertex_count;
    return n * n * n * (options->symmetric ? 0.5 : 1);
}

/* Returns the number of GPUs that can be opened. If it is 0, ret_reason gives the reason. */
#define SOLVER_REASON_SIZE 160
uint32_t solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE]);
/* Opens at most SOLVE_DEVICES_MAX of the GPUs [first, first + count), which solve together. */
MUST_CHECK enum status solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                                       struct problem *reterr);

/* Opens the solver that config->choice names. SOLVER_AUTO opens the first GPU, or else the CPU;
 * SOLVER_GPU without a device is STATUS_NO_DEVICE with the reason. ranks: not NULL if the solver
 * joins other ranks. If every rank has a GPU, each rank opens the GPU of its number on the host,
 * modulo the number of GPUs; otherwise all ranks use their CPUs, and the first rank reports this on
 * standard error if some have a GPU. All ranks call this function, and get the same status. */
MUST_CHECK enum status solver_open(const struct solver_config *config, const struct ranks *ranks,
                                   struct solver **ret_solver, struct problem *reterr);
void solver_close(struct solver *solver);

/* Creates a model of a solver that another process has opened. Only `estimate` accepts a
 * model; free() destroys it. solver_set_figures may update a model while other threads estimate.
 * STATUS_NO_MEMORY, also in a build without the back end. */
MUST_CHECK enum status solver_model_create(const struct solver_figures *figures,
                                           struct solver **ret_model);
void solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures);
void solver_set_figures(struct solver *model, const struct solver_figures *figures);
