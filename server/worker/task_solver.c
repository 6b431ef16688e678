#include "server/worker/task_solver.h"

#include "server/solver/solve_hierarchy.h"
#include "server/worker/estimate.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPU_SOLVER_NICENESS 10
/* GPU memory reserved for the context of another process, which solves on all GPUs together: this
 * many bytes, but at most 1/GROUP_CONTEXT_PARTS of the memory. */
#define GROUP_CONTEXT_BYTES (UINT64_C(768) << 20)
#define GROUP_CONTEXT_PARTS 8

/* Lowers this thread's priority relative to the service, so that HTTP requests are served even
 * while a solver uses every core. On Linux a thread has its own niceness, which threads that it
 * starts inherit. */
static void lower_priority(void)
{
    const id_t thread = (id_t)gettid();
    const int niceness = getpriority(PRIO_PROCESS, thread) + CPU_SOLVER_NICENESS;
    (void)setpriority(PRIO_PROCESS, thread, niceness);
}

static enum status open_cpu(const struct worker_setup *setup, const struct ranks *ranks,
                            struct solver **ret_solver, struct problem *reterr)
{
    lower_priority();
    return ranks != NULL ? solver_open(&setup->solver, ranks, ret_solver, reterr)
                         : solver_cpu_open(&setup->solver, ret_solver, reterr);
}

void task_solver_open(const struct worker_setup *setup, const struct ranks *ranks,
                      struct task_solver *ret_solver, struct worker_facts *ret_facts)
{
    struct worker_facts facts = {0};
    struct solver *solver = NULL;
    char reason[SOLVER_REASON_SIZE];
    if (!setup->gpu) {
        facts.status = open_cpu(setup, ranks, &solver, &facts.problem);
    } else if ((facts.gpu_count = solver_gpu_count(reason)) == 0) {
        facts.status = problem_set(&facts.problem, STATUS_NO_DEVICE, "%s", reason);
    } else {
        const uint32_t members = setup->gpu_members > 0 ? setup->gpu_members : facts.gpu_count;
        facts.status = solver_gpu_open(setup->gpu_index, members, &solver, &facts.problem);
    }
    if (facts.status == STATUS_OK) {
        solver_allow_plans(solver, &setup->solver);
        solver->class_->describe(solver, &facts.device);
        if (setup->gpu_members == 1 && facts.gpu_count > 1 && setup->sharing) {
            const uint64_t part = facts.device.memory_free_bytes / GROUP_CONTEXT_PARTS;
            facts.device.memory_free_bytes -=
                part < GROUP_CONTEXT_BYTES ? part : GROUP_CONTEXT_BYTES;
        }
        estimate_limits(solver, &facts);
    }
    *ret_solver = (struct task_solver){.setup = setup, .ranks = ranks, .solver = solver};
    *ret_facts = facts;
}

/* Computes a hierarchy on the CPU, even if the solver uses a GPU, because this takes few steps. */
static enum status solve_task_hierarchy(const struct task_solver *solver, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size = 0;
    struct order_record record = {0};
    const struct solve_request request = {.kind = task->kind,
                                          .threads = solver->setup->solver.cpu_threads,
                                          .record = &record,
                                          .shape = task->shape,
                                          .observer = &observer};
    task_read_record(&task->order_file, task->graph, &record);
    enum status status =
        solve_hierarchy(task->graph, &request, &bytes, &size, &task->outcome, &task->problem);
    task_keep_record(&task->order_file, &record);
    STATUS_THEN(status, task_write_result(task, bytes, size));
    free(bytes);
    return status;
}

/* Rank 0 sends the kind of each task to the other ranks. These two values ask the other ranks to
 * end, or to report before a task that they are ready. */
#define LEAVE KIND_AUTO
#define MEET KIND_COUNT
static void share_kind(const struct ranks *ranks, enum kind *kind)
{
    ranks->await(ranks->context, kind, sizeof(*kind));
}

void task_solver_meet(const struct ranks *ranks)
{
    enum kind kind = MEET;
    share_kind(ranks, &kind);
    (void)ranks_agree(ranks, STATUS_OK);
}

static enum status share_task(const struct ranks *ranks, struct task *task)
{
    enum kind kind = task->kind;
    share_kind(ranks, &kind);
    return problem_explain(&task->problem, ranks_share_graph(ranks, STATUS_OK, &task->graph),
                           "A rank does not have enough memory for the graph.");
}

static enum status solve_task(struct task_solver *solver, struct task *task)
{
    if (atomic_load(&task->signal->cancelled)) {
        return STATUS_CANCELLED;
    }
    if (task->graph == NULL) { /* only in a worker process */
        STATUS_TRY(task_read_graph(task));
    }
    if (task->form == RESULT_FORM_HIERARCHY) {
        return solve_task_hierarchy(solver, task);
    }
    if (solver->ranks != NULL) {
        STATUS_TRY(share_task(solver->ranks, task));
    }
    const struct observer observer = task_signal_observer(task->signal);
    struct order_record record = {.observer = &observer};
    /* The record is passed even without a cached order: a plan search polls record.observer. */
    const struct solve_request request = {
        .kind = task->kind, .verify = task->verify, .record = &record, .observer = &observer};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    task_read_record(&task->order_file, task->graph, &record);
    enum status status =
        solve_graph(solver->solver, task->graph, &request, &matrix, &task->outcome, &task->problem);
    task->outcome.account.statistics = NULL;
    STATUS_THEN(status, task_write_result(task, NULL, 0));
    task_keep_record(&task->order_file, &record);
    return status;
}

void task_solver_run(struct task_solver *solver, struct task *task)
{
    task->status = solve_task(solver, task);
    if (task->status == STATUS_NO_DEVICE) {
        task->status = STATUS_DEVICE_LOST; /* the device existed when the solver was opened */
    }
}

void task_solver_close(struct task_solver *solver)
{
    enum kind none = LEAVE;
    if (solver->ranks != NULL) {
        share_kind(solver->ranks, &none);
    }
    solver_close(solver->solver);
}

/* Solves one task on a rank other than rank 0. Failures need no report here: rank 0 reports them,
 * because all ranks get the same status. */
static enum status follow_task(struct solver *solver, enum kind kind)
{
    struct graph *graph = NULL;
    struct solve_outcome outcome = {0};
    struct problem problem;
    STATUS_TRY(ranks_share_graph(solver->ranks, STATUS_OK, &graph));
    const struct solve_request request = {.kind = kind};
    struct matrix matrix = {graph->vertex_count, kind, NULL};
    const enum status status = solve_graph(solver, graph, &request, &matrix, &outcome, &problem);
    solve_outcome_finish(&outcome);
    graph_destroy(graph);
    return status;
}

void task_solver_follow(const struct worker_setup *setup, const struct ranks *ranks)
{
    struct solver *solver = NULL;
    struct problem problem;
    enum kind kind = LEAVE;
    (void)open_cpu(setup, ranks, &solver, &problem);
    for (share_kind(ranks, &kind); kind != LEAVE; share_kind(ranks, &kind)) {
        (void)(kind == MEET ? ranks_agree(ranks, STATUS_OK) : follow_task(solver, kind));
    }
    solver_close(solver);
}
