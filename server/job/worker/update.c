#include "server/job/worker/task.h"

#include <stdlib.h>

static const void *row_of(void *context, uint32_t row)
{
    struct result_rows unused = {0}; /* a matrix has its rows in its file */
    const void *distances;
    return result_distances(context, row, &unused, &distances) == STATUS_OK ? distances : NULL;
}

/* Works in a copy of the base, of whose pages only those that change are taken. */
static enum status update_arcs(const struct hierarchy *base, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    if (task->arc_count == 0) {
        return STATUS_NOT_VERIFIED;
    }
    enum status status = result_copy_hierarchy(task->base, task->file, &bytes);
    if (status == STATUS_OK) {
        status = solve_update_hierarchy(base, task->graph, task->arcs, task->arc_count, &observer,
                                        bytes, &task->outcome);
    }
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        task->status = result_file_discard_copy(task->file);
    }
    return status;
}

static enum status customize(const struct hierarchy *base, uint32_t threads, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size;
    const enum status status =
        solve_customize(base, task->graph, threads, &observer, &bytes, &size, &task->outcome);
    if (status == STATUS_OK) {
        task->status = task_write_hierarchy(task, bytes, size);
    }
    free(bytes);
    return status;
}

/* Takes the changed arcs where there are few, else all weights. */
static void update_hierarchy(uint32_t threads, struct task *task)
{
    const struct hierarchy *base = NULL;
    enum status status = result_open_hierarchy(task->base, &base);
    if (status == STATUS_OK) {
        status = update_arcs(base, task);
        if (status != STATUS_OK && status != STATUS_CANCELLED && task->status == STATUS_OK) {
            status = customize(base, threads, task);
        }
    }
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    if (status == STATUS_CANCELLED) {
        task->status = status;
    }
}

void update_task(uint32_t threads, struct task *task)
{
    if (task->base == NULL || task->status != STATUS_OK ||
        (task->graph == NULL && task_read_graph(task) != STATUS_OK)) {
        return; /* the solver tells what is wrong with the graph */
    }
    if (task->form == RESULT_FORM_HIERARCHY) {
        update_hierarchy(threads, task);
        return;
    }
    const struct observer observer = task_signal_observer(task->signal);
    const struct statistics *known = result_statistics(task->base);
    const struct solve_base base = {row_of, task->base, task->arcs, task->arc_count,
                                    known != NULL ? known->summary : NULL};
    struct matrix matrix = result_file_matrix(task->file);
    struct statistics statistics = *result_file_statistics(task->file);
    task->outcome.account.statistics = &statistics;
    const enum status status = solve_update(&base, threads, &observer, &matrix, &task->outcome);
    task->outcome.account.statistics = NULL;
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    task->status = status == STATUS_CANCELLED ? status : STATUS_OK;
    if (status == STATUS_OK) {
        task->status = result_file_write_matrix(task->file);
    }
}
