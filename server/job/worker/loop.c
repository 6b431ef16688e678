#include "server/job/worker/loop.h"

#include "server/clock.h"
#include "server/store/graph_file.h"

#include <sys/resource.h>
#include <unistd.h>

#define CPU_SOLVER_NICENESS 10

struct loop {
    const struct worker_setup *setup;
    struct solver *solver;
    struct solver *fallback; /* a CPU solver for kinds that the GPU lacks, opened when needed */
};

static enum status open_fallback(struct loop *loop, enum kind kind, struct problem *reterr)
{
    if (kind == KIND_U2 || solver_supports(loop->solver, kind) || loop->fallback != NULL) {
        return STATUS_OK;
    }
    const enum status status = solver_cpu_open(&loop->setup->solver, &loop->fallback, reterr);
    if (status == STATUS_OK) {
        solver_allow_plans(loop->fallback, &loop->setup->solver);
    }
    return status;
}

static enum status read_graph(struct task *task)
{
    if (task->graph != NULL) {
        return STATUS_OK;
    }
    const double began_s = clock_monotonic_s();
    enum status status = graph_file_read_open(task->graph_descriptor, &task->graph);
    task->parse_s += clock_monotonic_s() - began_s;
    if (status == STATUS_OK && task->graph->vertex_count != task->vertex_count) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        return problem_set(&task->problem, status, "The stored graph %s cannot be read.",
                           task->graph_id);
    }
    return STATUS_OK;
}

/* All that comes before the solver. */
static enum status prepare(struct loop *loop, struct task *task)
{
    if (task->status != STATUS_OK) {
        return task->status;
    }
    if (atomic_load(&task->signal->cancelled)) {
        return STATUS_CANCELLED;
    }
    const enum status status = open_fallback(loop, task->kind, &task->problem);
    return status == STATUS_OK ? read_graph(task) : status;
}

static void announce(const struct loop *loop, const struct task *task)
{
    struct task_signal *signal = task->signal;
    struct solver_estimate estimate;
    solve_estimate(loop->solver, loop->fallback, task->graph, task->kind, &estimate);
    atomic_store(&signal->expected_s, estimate.seconds);
    atomic_store(&signal->finish_s, estimate.finish_s);
    atomic_store(&signal->begun_at_s, clock_monotonic_s());
}

static void do_task(struct loop *loop, struct task *task)
{
    task->status = prepare(loop, task);
    if (task->status != STATUS_OK) {
        return;
    }
    const struct observer observer = task_signal_observer(task->signal);
    const struct solve_request request = {.kind = task->kind, .verify = task->verify};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    announce(loop, task);
    task->status = solve_graph(loop->solver, loop->fallback, task->graph, &request, &observer,
                               &matrix, &task->outcome, &task->problem);
    task->outcome.account.statistics = NULL;
}

/* A CPU solver keeps every core busy: answers go first. On Linux a thread has a niceness of its
 * own, and those that the solver starts inherit it. Down from where the service was started. */
static void give_way(void)
{
    const id_t thread = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, thread,
                      getpriority(PRIO_PROCESS, thread) + CPU_SOLVER_NICENESS);
}

void worker_loop_run(const struct worker_setup *setup, const struct worker_line *line)
{
    struct loop loop = {.setup = setup};
    struct worker_facts facts;
    struct task *task;
    if (!setup->gpu) {
        give_way();
    }
    worker_setup_open(setup, &loop.solver, &facts);
    line->opened(line->context, &facts, loop.solver);
    while ((task = line->next(line->context)) != NULL) {
        do_task(&loop, task);
        if (task->status == STATUS_NO_DEVICE) {
            task->status = STATUS_DEVICE_LOST; /* it was there when the solver was opened */
        }
        line->done(line->context, task, loop.solver);
    }
    solver_close(loop.fallback);
    solver_close(loop.solver);
}
