#include "server/command/bench_batch.h"

#include "server/command/bench_graph.h"
#include "server/solver/solve.h"

#include <stdlib.h>
#include <string.h>

struct bench_batch {
    struct bench_batch_shape shape;
    struct solve_task *tasks; /* graphs and matrices are the batch's */
    uint32_t made;            /* tasks that have both */
};

static size_t matrix_bytes(const struct bench_batch_shape *shape)
{
    return (size_t)shape->vertex_count * shape->vertex_count * kind_size(shape->kind);
}

size_t bench_batch_bytes(const struct bench_batch_shape *shape)
{
    return shape->graph_count * matrix_bytes(shape);
}

static enum status make_task(struct bench_batch *batch, uint32_t index, struct problem *reterr)
{
    const struct bench_batch_shape *shape = &batch->shape;
    struct solve_task *task = &batch->tasks[index];
    struct graph *graph = NULL;
    void *elements = malloc(matrix_bytes(shape));
    if (elements == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for %u matrices.",
                           shape->graph_count);
    }
    const enum status status =
        bench_graph_make(shape->vertex_count, shape->directed, kind_is_float(shape->kind),
                         (uint64_t)index + 1, &graph, reterr);
    if (status != STATUS_OK) {
        free(elements);
        return status;
    }
    task->graph = graph;
    task->request.kind = shape->kind;
    task->matrix = (struct matrix){shape->vertex_count, shape->kind, elements};
    return STATUS_OK;
}

enum status bench_batch_create(const struct bench_batch_shape *shape,
                               struct bench_batch **ret_batch, struct problem *reterr)
{
    struct bench_batch *batch = calloc(1, sizeof *batch);
    if (batch != NULL) {
        batch->shape = *shape;
        batch->tasks = calloc(shape->graph_count, sizeof *batch->tasks);
    }
    if (batch == NULL || batch->tasks == NULL) {
        bench_batch_destroy(batch);
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for a batch.");
    }
    enum status status = STATUS_OK;
    while (status == STATUS_OK && batch->made < shape->graph_count) {
        status = make_task(batch, batch->made, reterr);
        batch->made += status == STATUS_OK ? 1 : 0;
    }
    if (status != STATUS_OK) {
        bench_batch_destroy(batch);
        return status;
    }
    *ret_batch = batch;
    return STATUS_OK;
}

void bench_batch_destroy(struct bench_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    for (uint32_t index = 0; index < batch->made; ++index) {
        graph_destroy((struct graph *)batch->tasks[index].graph);
        free(batch->tasks[index].matrix.elements);
        solve_outcome_finish(&batch->tasks[index].outcome);
    }
    free(batch->tasks);
    free(batch);
}

uint64_t bench_batch_edges(const struct bench_batch *batch)
{
    uint64_t edges = 0;
    for (uint32_t index = 0; index < batch->made; ++index) {
        edges += batch->tasks[index].graph->edge_count;
    }
    return batch->made > 0 ? edges / batch->made : 0;
}

/* What one thread's part of a time is. */
static double share_of(const struct solver *solver)
{
    struct solver_device device;
    solver_describe(solver, &device);
    const bool threads = strcmp(device.solver, "cpu") == 0 && device.units > 0;
    return threads ? 1.0 / device.units : 1.0;
}

static void add_up(const struct bench_batch *batch, double share, struct timings *ret_timings)
{
    *ret_timings = (struct timings){0};
    for (uint32_t index = 0; index < batch->made; ++index) {
        const struct timings *timings = &batch->tasks[index].outcome.account.timings;
        ret_timings->fill_s += share * timings->fill_s;
        ret_timings->h2d_s += share * timings->h2d_s;
        ret_timings->compute_s += share * timings->compute_s;
        ret_timings->d2h_s += share * timings->d2h_s;
    }
}

enum status bench_batch_solve(struct bench_batch *batch, struct solver *solver,
                              const struct observer *observer, struct timings *ret_timings)
{
    for (uint32_t index = 0; index < batch->made; ++index) {
        solve_outcome_finish(&batch->tasks[index].outcome);
        batch->tasks[index].outcome = (struct solve_outcome){0};
        batch->tasks[index].observer = observer;
    }
    solve_graphs(solver, NULL, batch->tasks, batch->made);
    for (uint32_t index = 0; index < batch->made; ++index) {
        if (batch->tasks[index].status != STATUS_OK) {
            return batch->tasks[index].status;
        }
    }
    add_up(batch, share_of(solver), ret_timings);
    return STATUS_OK;
}
