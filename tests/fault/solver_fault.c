/* A CPU solver that fails by plan, in a daemon that is built for tests alone: it is put in the
 * place of solver_cpu_open by the linker (--wrap). The file that FAULT_PLAN names has a line per
 * fault:
 *
 *   VERTICES STAGE ACTION ARGUMENT TIMES
 *
 * for graphs of so many vertices (0: any), at most TIMES times over all processes (0: always).
 * STAGE: open, alloc, upload, round, download. ACTION: status CODE, exit N, signal N, hang 0, lie 0
 * (a wrong distance), babble 0 (nonsense on the worker's socket). Graphs are solved together only
 * where FAULT_BATCH is set. */
#include "server/job/worker_process.h"
#include "server/solver/solver.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct fault {
    unsigned vertices;
    char stage[16];
    char action[16];
    char argument[32];
    unsigned times;
};

/* A solve under a fault. */
struct trial {
    const struct observer *observer;
    uint32_t vertices;
    enum status forced; /* STATUS_OK = none */
    bool looked;
};

enum status __real_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr);
enum status __wrap_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr);

static struct solver_class real_class;
static struct solver_class faulty_class;

/* Each time leaves a byte behind, for all processes. */
static bool is_spent(const char *plan, unsigned line, unsigned times)
{
    char path[512];
    struct stat file;
    if (times == 0) {
        return false;
    }
    snprintf(path, sizeof(path), "%s.%u", plan, line);
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool spent = fstat(descriptor, &file) != 0 || file.st_size >= (off_t)times ||
                       write(descriptor, "x", 1) != 1;
    close(descriptor);
    return spent;
}

static bool find_fault(uint32_t vertices, const char *stage, struct fault *ret_fault)
{
    const char *plan = getenv("FAULT_PLAN");
    FILE *stream = plan != NULL ? fopen(plan, "re") : NULL;
    char line[128];
    bool found = false;
    for (unsigned number = 0; stream != NULL && !found && fgets(line, sizeof(line), stream) != NULL;
         number++) {
        struct fault fault;
        found = sscanf(line, "%u %15s %15s %31s %u", &fault.vertices, fault.stage, fault.action,
                       fault.argument, &fault.times) == 5 &&
                (fault.vertices == 0 || fault.vertices == vertices) &&
                strcmp(fault.stage, stage) == 0 && !is_spent(plan, number, fault.times);
        *ret_fault = fault;
    }
    if (stream != NULL) {
        fclose(stream);
    }
    return found;
}

static void babble(void)
{
    static const char nonsense[] = "nonsense";
    const ssize_t ignored = send(WORKER_PROCESS_SOCKET, nonsense, sizeof(nonsense), MSG_NOSIGNAL);
    (void)ignored;
}

/* What does not return, or says in which status the stage ends. */
static enum status strike(uint32_t vertices, const char *stage, bool *ret_lie)
{
    struct fault fault;
    if (!find_fault(vertices, stage, &fault)) {
        return STATUS_OK;
    }
    const int number = (int)strtol(fault.argument, NULL, 10);
    if (strcmp(fault.action, "exit") == 0) {
        _exit(number);
    } else if (strcmp(fault.action, "signal") == 0) {
        /* A sanitizer would make a report of its own of it. */
        (void)signal(number, SIG_DFL);
        raise(number);
    } else if (strcmp(fault.action, "hang") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(fault.action, "babble") == 0) {
        babble();
    } else if (strcmp(fault.action, "lie") == 0 && ret_lie != NULL) {
        *ret_lie = true;
    } else if (strcmp(fault.action, "status") == 0) {
        return status_from_code(fault.argument);
    }
    return STATUS_OK;
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

/* One entry that is not on the diagonal is longer than it should be. */
static void falsify(const struct matrix *matrix)
{
    if (matrix->kind == KIND_I4 && matrix->vertex_count > 1) {
        ((int32_t *)matrix->elements)[1] += 1;
    }
}

static enum status solve(struct solver *solver, const struct graph *graph, const struct plan *plan,
                         const struct solve_options *options, const struct observer *observer,
                         struct matrix *matrix, struct solve_account *account)
{
    struct trial trial = {.observer = observer, .vertices = graph->vertex_count};
    const struct observer watched = {&trial, progress, cancelled};
    bool lie = false;
    enum status status = strike(graph->vertex_count, "alloc", NULL);
    if (status == STATUS_OK) {
        status = real_class.solve(solver, graph, plan, options, &watched, matrix, account);
        status = trial.forced != STATUS_OK ? trial.forced : status;
    }
    const enum status after = strike(graph->vertex_count, "download", &lie);
    if (lie) {
        falsify(matrix);
    }
    return status == STATUS_OK ? after : status;
}

static void solve_batch(struct solver *solver, struct solve_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)strike(items[i].graph->vertex_count, "alloc", NULL);
    }
    real_class.solve_batch(solver, items, count);
    for (uint32_t i = 0; i < count; i++) {
        bool lie = false;
        const enum status after = strike(items[i].graph->vertex_count, "download", &lie);
        items[i].status = items[i].status == STATUS_OK ? after : items[i].status;
        if (lie) {
            falsify(items[i].matrix);
        }
    }
}

enum status __wrap_solver_cpu_open(const struct solver_config *config, struct solver **ret_solver,
                                   struct problem *reterr)
{
    const char *batched = getenv("FAULT_BATCH");
    enum status status = strike(0, "open", NULL);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "By plan.");
    }
    status = __real_solver_cpu_open(config, ret_solver, reterr);
    if (status == STATUS_OK) {
        real_class = *(*ret_solver)->class_;
        faulty_class = real_class;
        faulty_class.solve = solve;
        faulty_class.solve_batch = solve_batch;
        faulty_class.batch_vertices = batched != NULL && batched[0] != '\0' ? 512 : 0;
        (*ret_solver)->class_ = &faulty_class;
    }
    return status;
}
