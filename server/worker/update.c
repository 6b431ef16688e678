#include "server/worker/update.h"

#include <stdlib.h>

/* Works in a copy of the base, of whose pages only those that change are taken. */
static enum status update_arcs(const struct hierarchy *base, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    if (task->arc_count == 0) {
        return STATUS_TOO_LARGE;
    }
    enum status status = result_copy(task->base, task->file, &bytes);
    if (status == STATUS_OK) {
        status = solve_update_hierarchy(base, task->graph, task->arcs, task->arc_count, &observer,
                                        bytes, &task->outcome);
    }
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        task->status = task_check_result(task, result_file_discard_copy(task->file));
    }
    return status;
}

static enum status update_weights(const struct hierarchy *base, uint32_t threads, struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    void *bytes = NULL;
    uint64_t size;
    const enum status status =
        solve_customize(base, task->graph, threads, &observer, &bytes, &size, &task->outcome);
    if (status == STATUS_OK) {
        task->status = task_write_result(task, bytes, size);
    }
    free(bytes);
    return status;
}

/* Takes the changed arcs where there are few, else all weights, unless those would do no better.
 * What is left to the solver has no round behind it, as far as anybody who watches it knows. */
static void update_hierarchy(uint32_t threads, struct task *task)
{
    const struct hierarchy *base = NULL;
    enum status status = result_open_hierarchy(task->base, &base);
    if (status == STATUS_OK) {
        status = update_arcs(base, task);
        task->is_followed = status == STATUS_OK;
        if (status != STATUS_OK && status != STATUS_CANCELLED && status != STATUS_NOT_VERIFIED &&
            task->status == STATUS_OK) {
            status = update_weights(base, threads, task);
        }
    }
    task->is_updated = status == STATUS_OK || status == STATUS_CANCELLED;
    if (status == STATUS_CANCELLED) {
        task->status = status;
    } else if (status != STATUS_OK) {
        atomic_store(&task->signal->rounds_done, 0);
        atomic_store(&task->signal->rounds_total, 0);
    }
}

void update_task(uint32_t threads, struct task *task)
{
    if (task->base == NULL || task->status != STATUS_OK ||
        (task->graph == NULL && task_read_graph(task) != STATUS_OK)) {
        return; /* the solver tells what is wrong with the graph */
    }
    update_hierarchy(threads, task);
}
