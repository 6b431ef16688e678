/* A CPU solver that fails according to a plan (fault_plan.h), in a daemon that is built only for
 * tests. The linker replaces solver_cpu_open with the function in this file (--wrap).
 *
 * STAGE is open, alloc, upload, round, sync, download, figures (before OPENED and DONE), close,
 * fits or memory (after alloc). At the stage `fits`, any action except `has` means that there is no
 * memory for the plan.
 *
 * ACTION is one of these:
 *
 *   status CODE   the stage ends with this status
 *   cuda ERROR    the stage ends with the status to which the GPU solver maps this CUDA error
 *   exit N        the process exits
 *   signal N      the process gets a signal
 *   hang 0        the solver does not continue
 *   stuck 0       the solver makes a call that does not return
 *   lie ENTRY     one entry of the row-major matrix is wrong (-1: any; each: one of every row);
 *                 ENTRY:BIT chooses the bit to flip
 *   send WHAT     the process sends a forbidden message (fault_protocol.c)
 *   attempts 0    the process tries forbidden operations (fault_attempts.c)
 *   has BYTES     at the stages fits and memory: this many bytes are free (memory: contiguous)
 *
 * FAULT_GPUS is the number of solvers that pose as GPUs, and FAULT_MEMORY lists the bytes of each.
 * The memory of a group is its number of members times the smallest of these sizes. */
#include "gpu/gpu.h"
#include "server/solver/solver.h"
#include "tests/fault/fault_attempts.h"
#include "tests/fault/fault_plan.h"
#include "tests/fault/fault_protocol.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define LIE_IN_EACH_ROW (-2)

/* An error to put into a result: the index of an entry, and the bit of this entry to flip. */
struct lie {
    long entry;
    unsigned bit;
};

struct trial {
    const struct observer *observer;
    uint32_t vertices;
    enum status forced; /* status of the fault that occurred; STATUS_OK: no fault */
    bool looked;
};

enum status __real_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr);
enum status __wrap_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr);

enum status __real_solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                                   struct problem *reterr);
enum status __wrap_solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                                   struct problem *reterr);
uint32_t __real_solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE]);
uint32_t __wrap_solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE]);

void __real_solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures);
void __wrap_solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures);

static struct solver_class real_class;
static struct solver_class faulty_class;

/* Memory size in bytes of this process's device or group of devices; 0 = unlimited. */
static uint64_t memory_bytes;
static uint32_t members = 1;
static uint32_t first_index;

static uint32_t count_false_gpus(void)
{
    const char *text = getenv("FAULT_GPUS");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static uint64_t memory_of_gpu(uint32_t index)
{
    const char *text = getenv("FAULT_MEMORY");
    char *end = NULL;
    uint64_t bytes = text != NULL ? strtoull(text, &end, 10) : 0;
    for (; index > 0 && end != NULL && *end == ','; index--) {
        bytes = strtoull(end + 1, &end, 10);
    }
    return bytes;
}

/* Returns the bytes that a solve needs: those of the matrix for the dense plan, and twice as many
 * for other plans, which need more memory than the dense plan on a GPU too. */
static uint64_t bytes_of_plan(const struct plan *plan, enum kind kind)
{
    const uint64_t bytes = (uint64_t)plan->vertex_count * plan->vertex_count * kind_size(kind);
    return plan->summary.kind == PLAN_DENSE ? bytes : 2 * bytes;
}

static struct lie lie_of(const char *argument)
{
    char *end;
    struct lie lie = {.entry = strtol(argument, &end, 10)};
    if (strcmp(argument, "each") == 0) {
        return (struct lie){.entry = LIE_IN_EACH_ROW};
    }
    if (*end == ':') {
        lie.bit = (unsigned)strtoul(end + 1, NULL, 10);
    }
    return lie;
}

static void end_process(const struct fault *fault)
{
    const int number = (int)strtol(fault->argument, NULL, 10);
    if (strcmp(fault->action, "exit") == 0) {
        _exit(number);
    } else if (strcmp(fault->action, "signal") == 0) {
        /* Restores the default action, because a sanitizer would otherwise print a report. */
        (void)signal(number, SIG_DFL);
        raise(number);
    } else if (strcmp(fault->action, "hang") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(fault->action, "stuck") == 0) {
        fault_plan_call();
    }
}

static void flip(const struct matrix *matrix, size_t bit)
{
    ((unsigned char *)matrix->elements)[bit / 8] ^= (unsigned char)(1U << bit % 8);
}

static void falsify(const struct matrix *matrix, struct lie lie)
{
    const size_t count = (size_t)matrix->vertex_count * matrix->vertex_count;
    const size_t bits = 8 * kind_size(matrix->kind);
    size_t random[2];
    if (count == 0) {
        return;
    }
    if (lie.entry == LIE_IN_EACH_ROW) {
        for (size_t row = 0; row < matrix->vertex_count; row++) {
            flip(matrix, row * (matrix->vertex_count + (size_t)1) * bits);
        }
        return;
    }
    if (lie.entry < 0 && getrandom(random, sizeof(random), 0) == (ssize_t)sizeof(random)) {
        lie = (struct lie){(long)(random[0] % count), (unsigned)(random[1] % bits)};
    }
    flip(matrix, (size_t)lie.entry % count * bits + lie.bit % bits);
}

/* Executes the planned fault of the stage, if any; returns the status with which the stage ends. */
static enum status strike(uint32_t vertices, const char *stage, const struct matrix *matrix)
{
    struct fault fault;
    if (!fault_plan_find(vertices, stage, &fault)) {
        return STATUS_OK;
    }
    end_process(&fault);
    if (strcmp(fault.action, "send") == 0 && !fault_protocol_send(fault.argument, vertices)) {
        abort();
    } else if (strcmp(fault.action, "attempts") == 0) {
        fault_attempts_make();
    } else if (strcmp(fault.action, "lie") == 0 && matrix != NULL) {
        falsify(matrix, lie_of(fault.argument));
    } else if (strcmp(fault.action, "cuda") == 0) {
        return gpu_fault_status((int)strtol(fault.argument, NULL, 10));
    } else if (strcmp(fault.action, "status") == 0) {
        enum status status = STATUS_OK;
        while (status < STATUS_COUNT - 1 &&
               strcmp(status_info(status)->code, fault.argument) != 0) {
            status++;
        }
        CHECK(strcmp(status_info(status)->code, fault.argument) == 0);
        return status;
    }
    return STATUS_OK;
}

/* Simulates the allocation of contiguous device memory: fails if the plan needs more bytes than the
 * device has, or more than the fault plan declares as free. */
static enum status allocate(const struct plan *plan, enum kind kind)
{
    struct fault fault;
    const uint64_t bytes = bytes_of_plan(plan, kind);
    uint64_t has = memory_bytes > 0 ? memory_bytes : UINT64_MAX;
    if (fault_plan_find(plan->vertex_count, "memory", &fault)) {
        const uint64_t left = strtoull(fault.argument, NULL, 10);
        has = left < has ? left : has;
    }
    return bytes <= has ? STATUS_OK : gpu_fault_status(2);
}

static void note(struct trial *trial, enum status status)
{
    if (trial->forced == STATUS_OK) {
        trial->forced = status;
    }
}

static void progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct trial *trial = context;
    note(trial, strike(trial->vertices, "round", NULL));
    trial->observer->progress(trial->observer->context, rounds_done, rounds_total);
}

static bool cancelled(void *context)
{
    struct trial *trial = context;
    if (!trial->looked) {
        trial->looked = true;
        note(trial, strike(trial->vertices, "upload", NULL));
    }
    return trial->forced != STATUS_OK || trial->observer->cancelled(trial->observer->context);
}

static enum status solve(struct solver *solver, const struct graph *graph, const struct plan *plan,
                         const struct solve_options *options, const struct observer *observer,
                         struct matrix *matrix, struct solve_account *account)
{
    struct trial trial = {.observer = observer, .vertices = graph->vertex_count};
    const struct observer watched = {
        .context = &trial, .progress = progress, .cancelled = cancelled};
    enum status status = strike(graph->vertex_count, "alloc", NULL);
    if (status == STATUS_OK) {
        status = allocate(plan, matrix->kind);
    }
    if (status == STATUS_OK) {
        status = real_class.solve(solver, graph, plan, options, &watched, matrix, account);
        account->device_count = members > 1 ? members : 0;
        note(&trial, strike(graph->vertex_count, "sync", NULL));
        status = trial.forced != STATUS_OK ? trial.forced : status;
    }
    const enum status after = strike(graph->vertex_count, "download", matrix);
    return status == STATUS_OK ? after : status;
}

static bool fits(const struct solver *solver, const struct plan *plan, uint64_t edge_count,
                 enum kind kind)
{
    struct fault fault;
    if (memory_bytes > 0 && bytes_of_plan(plan, kind) > memory_bytes) {
        return false;
    }
    if (fault_plan_find(plan->vertex_count, "fits", &fault) &&
        (strcmp(fault.action, "has") != 0 ||
         bytes_of_plan(plan, kind) > strtoull(fault.argument, NULL, 10))) {
        return false;
    }
    return real_class.fits(solver, plan, edge_count, kind);
}

void __wrap_solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures)
{
    (void)strike(0, "figures", NULL);
    __real_solver_get_figures(solver, ret_figures);
}

static void describe(const struct solver *solver, struct solver_device *ret_device)
{
    real_class.describe(solver, ret_device);
    ret_device->members = members;
    if (members > 1) {
        snprintf(ret_device->name, sizeof(ret_device->name), "%u false GPUs", members);
    }
    ret_device->index = first_index;
    if (memory_bytes > 0) {
        snprintf(ret_device->solver, sizeof(ret_device->solver), "gpu");
        ret_device->memory_bytes = memory_bytes;
        ret_device->memory_free_bytes = memory_bytes;
    }
}

static void estimate(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                     enum kind kind, const struct solve_options *options,
                     struct solver_estimate *ret_estimate)
{
    real_class.estimate(solver, vertex_count, edge_count, kind, options, ret_estimate);
    ret_estimate->device_bytes = (uint64_t)vertex_count * vertex_count * kind_size(kind);
}

static void close_solver(struct solver *solver)
{
    (void)strike(0, "close", NULL);
    real_class.close(solver);
}

enum status __wrap_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr)
{
    enum status status = strike(0, "open", NULL);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "By plan.");
    }
    status = __real_solver_cpu_open(config, ret_solver, reterr);
    if (status == STATUS_OK) {
        real_class = *(*ret_solver)->class_;
        faulty_class = real_class;
        faulty_class.solve = solve;
        faulty_class.fits = fits;
        faulty_class.close = close_solver;
        faulty_class.describe = describe;
        faulty_class.estimate = memory_bytes > 0 ? estimate : real_class.estimate;
        (*ret_solver)->class_ = &faulty_class;
    }
    return status;
}

uint32_t __wrap_solver_gpu_count(char ret_reason[SOLVER_REASON_SIZE])
{
    const uint32_t count = count_false_gpus();
    return count > 0 ? count : __real_solver_gpu_count(ret_reason);
}

enum status __wrap_solver_gpu_open(uint32_t first, uint32_t count, struct solver **ret_solver,
                                   struct problem *reterr)
{
    const struct solver_config config = {.choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "auto"};
    if (count_false_gpus() == 0) {
        return __real_solver_gpu_open(first, count, ret_solver, reterr);
    }
    memory_bytes = memory_of_gpu(first);
    for (uint32_t i = first + 1; i < first + count; i++) {
        const uint64_t other = memory_of_gpu(i);
        memory_bytes = other < memory_bytes ? other : memory_bytes;
    }
    memory_bytes *= count;
    members = count;
    first_index = first;
    return __wrap_solver_cpu_open(&config, ret_solver, reterr);
}
