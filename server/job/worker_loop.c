#include "server/job/worker_loop.h"

#include "server/clock.h"
#include "server/store/graph_file.h"

#include <stdlib.h>
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

static enum status read_graph(struct work *work)
{
    if (work->graph != NULL) {
        return STATUS_OK;
    }
    const double began_s = clock_monotonic_s();
    enum status status = graph_file_read_open(work->graph_descriptor, &work->graph);
    work->parse_s += clock_monotonic_s() - began_s;
    if (status == STATUS_OK && work->graph->vertex_count != work->vertex_count) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        return problem_set(&work->problem, status, "The stored graph %s cannot be read.",
                           work->graph_id);
    }
    return STATUS_OK;
}

/* All that comes before the solver. */
static enum status prepare(struct loop *loop, struct work *work)
{
    if (work->status != STATUS_OK) {
        return work->status;
    }
    if (atomic_load(&work->signal->cancelled)) {
        return STATUS_CANCELLED;
    }
    const enum status status = open_fallback(loop, work->kind, &work->problem);
    return status == STATUS_OK ? read_graph(work) : status;
}

static void announce(const struct loop *loop, const struct work *work)
{
    struct work_signal *signal = work->signal;
    struct solver_estimate estimate;
    solve_estimate(loop->solver, loop->fallback, work->graph, work->kind, &estimate);
    atomic_store(&signal->expected_s, estimate.seconds);
    atomic_store(&signal->finish_s, estimate.finish_s);
    atomic_store(&signal->begun_at_s, clock_monotonic_s());
}

static void do_work(struct loop *loop, struct work *work)
{
    work->status = prepare(loop, work);
    if (work->status != STATUS_OK) {
        return;
    }
    const struct observer observer = work_signal_observer(work->signal);
    const struct solve_request request = {.kind = work->kind, .verify = work->verify};
    struct matrix matrix = result_file_matrix(work->file);
    struct statistics statistics = *result_file_statistics(work->file);
    work->outcome.account.statistics = &statistics;
    announce(loop, work);
    work->status = solve_graph(loop->solver, loop->fallback, work->graph, &request, &observer,
                               &matrix, &work->outcome, &work->problem);
    work->outcome.account.statistics = NULL;
}

/* ---- Many at once ---- */

/* A work among others on its way through the solver. */
struct passage {
    struct observer observer;
    struct statistics statistics; /* its storage is the file's */
    struct work *work;
};

static struct solve_task task_of(struct work *work, struct passage *passage)
{
    *passage = (struct passage){work_signal_observer(work->signal),
                                *result_file_statistics(work->file), work};
    return (struct solve_task){
        .graph = work->graph,
        .request = {.kind = work->kind, .verify = work->verify},
        .observer = &passage->observer,
        .matrix = result_file_matrix(work->file),
        .outcome.account.statistics = &passage->statistics,
    };
}

static void do_works_at_once(struct loop *loop, const struct work_load *load,
                             struct solve_task *tasks, struct passage *passages)
{
    uint32_t task_count = 0;
    for (uint32_t i = 0; i < load->count; i++) {
        struct work *work = &load->works[i];
        work->status = prepare(loop, work);
        if (work->status == STATUS_OK) {
            tasks[task_count] = task_of(work, &passages[task_count]);
            task_count++;
        }
    }
    solve_graphs(loop->solver, loop->fallback, tasks, task_count);
    for (uint32_t i = 0; i < task_count; i++) {
        struct work *work = passages[i].work;
        work->status = tasks[i].status;
        work->outcome = tasks[i].outcome;
        work->outcome.account.statistics = NULL;
        work->problem = tasks[i].problem;
    }
}

/* One by one when there is but one, or no memory for more. */
static void do_load(struct loop *loop, const struct work_load *load)
{
    struct solve_task *tasks = NULL;
    struct passage *passages = NULL;
    if (load->count > 1) {
        tasks = calloc(load->count, sizeof(*tasks));
        passages = calloc(load->count, sizeof(*passages));
    }
    if (tasks != NULL && passages != NULL) {
        do_works_at_once(loop, load, tasks, passages);
    } else {
        for (uint32_t i = 0; i < load->count; i++) {
            do_work(loop, &load->works[i]);
        }
    }
    free(passages);
    free(tasks);
}

/* A CPU solver keeps every core busy: answers go first. On Linux a thread has a niceness of its
 * own, and those that the solver starts inherit it. Down from where the service was started. */
static void give_way(void)
{
    const id_t thread = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, thread,
                      getpriority(PRIO_PROCESS, thread) + CPU_SOLVER_NICENESS);
}

/* It was there when the solver was opened. */
static void miss_device(const struct work_load *load)
{
    for (uint32_t i = 0; i < load->count; i++) {
        if (load->works[i].status == STATUS_NO_DEVICE) {
            load->works[i].status = STATUS_DEVICE_LOST;
        }
    }
}

void worker_loop_run(const struct worker_setup *setup, const struct worker_line *line)
{
    struct loop loop = {.setup = setup};
    struct worker_facts facts;
    struct work_load *load;
    if (!setup->gpu) {
        give_way();
    }
    worker_setup_open(setup, &loop.solver, &facts);
    line->opened(line->context, &facts, loop.solver);
    while ((load = line->next(line->context)) != NULL) {
        do_load(&loop, load);
        miss_device(load);
        line->done(line->context, load, loop.solver);
    }
    solver_close(loop.fallback);
    solver_close(loop.solver);
}
