#include "server/worker/update.h"

#include "server/solver/solve_hierarchy.h"

#include <stdlib.h>

/* Updates the arcs that the change affects, in a copy of the base hierarchy. */
static enum update_result update_arcs(const struct hierarchy *base, const struct graph *graph,
                                      struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    enum update_result result = UPDATE_ALL_WEIGHTS;
    void *bytes;
    uint64_t *changed;
    if (task->arc_count > 0 &&
        result_file_copy(task->file, result_content(task->base), &bytes, &changed) == STATUS_OK) {
        result = solve_update_hierarchy(base, graph, task->arcs, task->arc_count, &observer, bytes,
                                        changed, &task->outcome);
    }
    if (result != UPDATE_DONE) {
        result_file_discard_bytes(task->file);
    }
    return result;
}

/* Computes all weights anew, in the shape of the base hierarchy. */
static enum update_result update_weights(const struct hierarchy *base, uint32_t threads,
                                         struct task *task)
{
    const struct observer observer = task_signal_observer(task->signal);
    const struct solve_request request = {
        .kind = task->kind, .threads = threads, .shape = &base->shape, .observer = &observer};
    struct problem problem = {0};
    void *bytes = NULL;
    uint64_t size = 0;
    const enum status status =
        solve_hierarchy(task->graph, &request, &bytes, &size, &task->outcome, &problem);
    if (status == STATUS_OK) {
        task->status = task_write_result(task, bytes, size);
        free(bytes);
        return UPDATE_DONE;
    }
    if (status == STATUS_NEGATIVE_CYCLE || status == STATUS_WEIGHT_RANGE) {
        task->problem = problem; /* final, because a full solve would fail too */
        task->status = status;
        return UPDATE_DONE;
    }
    solve_outcome_finish(&task->outcome);
    task->outcome = (struct solve_outcome){0};
    return status == STATUS_CANCELLED ? UPDATE_CANCELLED : UPDATE_SOLVE_ANEW;
}

/* Returns whether the changed graph and the base have the same scaling. Only then do the unchanged
 * arcs have the same weights. */
static bool has_numbers_of(const struct hierarchy *base, const struct task *task)
{
    const struct scaling scaling = graph_scaling(&task->graph->summary, task->kind);
    return scaling.kind == base->summary.kind && scaling.decimals == base->summary.decimals;
}

/* Updates the base hierarchy: only the changed arcs if they are few, else all weights. If a full
 * solve would be as fast, leaves the task to the solver and resets the task's progress to 0. */
void update_task(uint32_t threads, struct task *task)
{
    const struct hierarchy *base = NULL;
    if (task->base == NULL || task->status != STATUS_OK) {
        return;
    }
    enum update_result result = UPDATE_SOLVE_ANEW;
    struct graph *scaled = NULL;
    if (result_open_hierarchy(task->base, &base) == STATUS_OK && has_numbers_of(base, task) &&
        graph_scale(task->graph, base->summary.decimals, &scaled) == STATUS_OK) {
        const struct graph *graph = scaled != NULL ? scaled : task->graph;
        result = update_arcs(base, graph, task);
        task->is_followed = result == UPDATE_DONE;
        graph_destroy_copy(scaled);
        if (result == UPDATE_ALL_WEIGHTS && task->status == STATUS_OK) {
            result = update_weights(base, threads, task);
        }
    }
    task->is_updated = result == UPDATE_DONE || result == UPDATE_CANCELLED;
    if (result == UPDATE_CANCELLED) {
        task->status = STATUS_CANCELLED;
    } else if (result != UPDATE_DONE) {
        atomic_store(&task->signal->rounds_done, 0);
        atomic_store(&task->signal->rounds_total, 0);
    }
}
