#include "server/job/worker/task.h"

static const void *row_of(void *context, uint32_t row)
{
    struct result_rows unused = {0}; /* a matrix has its rows in its file */
    const void *distances;
    return result_distances(context, row, &unused, &distances) == STATUS_OK ? distances : NULL;
}

static void update_hierarchy(struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    const struct hierarchy *base = NULL;
    void *bytes = NULL;
    enum status status = result_open_hierarchy(task->base, &base);
    if (status == STATUS_OK) {
        status = result_copy_hierarchy(task->base, task->file, &bytes);
    }
    if (status == STATUS_OK) {
        status = solve_update_hierarchy(base, task->graph, task->arcs, task->arc_count, &observer,
                                        bytes, &task->outcome);
    }
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    if (status == STATUS_CANCELLED) {
        task->status = status;
    } else if (status != STATUS_OK) {
        task->status = result_file_discard_copy(task->file);
    }
}

void update_task(uint32_t threads, struct task *task)
{
    if (task->base == NULL || task->status != STATUS_OK ||
        (task->graph == NULL && task_read_graph(task) != STATUS_OK)) {
        return; /* the solver tells what is wrong with the graph */
    }
    if (task->form == RESULT_FORM_HIERARCHY) {
        update_hierarchy(task);
        return;
    }
    const struct observer observer = task_signal_observer(task->signal);
    const struct solve_base base = {row_of, task->base, task->arcs, task->arc_count};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    const enum status status = solve_update(&base, threads, &observer, &matrix, &task->outcome);
    task->outcome.account.statistics = NULL;
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    task->status = status == STATUS_CANCELLED ? status : STATUS_OK;
}
