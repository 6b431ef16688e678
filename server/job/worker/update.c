#include "server/job/worker/task.h"

static const void *row_of(void *context, uint32_t row)
{
    struct result_rows unused = {0}; /* a matrix has its rows in its file */
    const void *distances;
    return result_distances(context, row, &unused, &distances) == STATUS_OK ? distances : NULL;
}

void update_task(uint32_t threads, struct task *task)
{
    if (task->base == NULL || task->status != STATUS_OK ||
        (task->graph == NULL && task_read_graph(task) != STATUS_OK)) {
        return; /* the solver tells what is wrong with the graph */
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
