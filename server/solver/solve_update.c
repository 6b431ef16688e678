#include "server/solver/cpu/pool.h"
#include "server/solver/solve.h"
#include "server/solver/steps.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PER_TASK 16

struct update {
    const struct solve_base *base;
    struct matrix *matrix;
    size_t row_bytes;
    char *heads; /* of each arc: the row of its target, as the arcs before it left it */
    const struct observer *observer;
    atomic_bool is_stopped;
    atomic_bool is_damaged;
};

/* ---- One arc on one row ---- */

/* An unreachable end stays so, whatever is added: base may be below 0. Base plus a distance is
 * below 2^31. */
static void relax_i4(int32_t *restrict row, const int32_t *restrict head, int32_t base, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        const int32_t by_arc = head[j] == UNREACHABLE_I4 ? UNREACHABLE_I4 : head[j] + base;
        row[j] = by_arc < row[j] ? by_arc : row[j];
    }
}

static void relax_f4(float *restrict row, const float *restrict head, float base, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        const float by_arc = base + head[j];
        row[j] = by_arc < row[j] ? by_arc : row[j];
    }
}

static void relax_f8(double *restrict row, const double *restrict head, double base, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        const double by_arc = base + head[j];
        row[j] = by_arc < row[j] ? by_arc : row[j];
    }
}

static double element(enum kind kind, const void *row, uint32_t column)
{
    if (kind == KIND_I4) {
        const int32_t distance = ((const int32_t *)row)[column];
        return distance == UNREACHABLE_I4 ? (double)INFINITY : (double)distance;
    }
    return kind == KIND_F4 ? (double)((const float *)row)[column] : ((const double *)row)[column];
}

static void relax(const struct matrix *matrix, const struct solve_arc *arc, const void *head,
                  void *row)
{
    const double base = element(matrix->kind, row, arc->source) + arc->weight;
    if (matrix->kind == KIND_I4 && base < UNREACHABLE_I4) {
        relax_i4(row, head, (int32_t)base, matrix->vertex_count);
    } else if (matrix->kind == KIND_F4 && base < INFINITY) {
        relax_f4(row, head, (float)base, matrix->vertex_count);
    } else if (matrix->kind == KIND_F8 && base < INFINITY) {
        relax_f8(row, head, base, matrix->vertex_count);
    }
}

/* ---- All arcs on all rows ---- */

/* Each arc closes no negative cycle with the distances that the ones before it left. */
static enum status make_heads(struct update *update)
{
    const struct solve_base *base = update->base;
    for (size_t k = 0; k < base->arc_count; k++) {
        const struct solve_arc *arc = &base->arcs[k];
        char *head = update->heads + k * update->row_bytes;
        const void *before = base->row(base->context, arc->target);
        if (before == NULL) {
            return STATUS_NOT_VERIFIED;
        }
        memcpy(head, before, update->row_bytes);
        for (size_t earlier = 0; earlier < k; earlier++) {
            relax(update->matrix, &base->arcs[earlier], update->heads + earlier * update->row_bytes,
                  head);
        }
        if (element(update->matrix->kind, head, arc->source) + arc->weight < 0) {
            return STATUS_NOT_VERIFIED;
        }
    }
    return STATUS_OK;
}

static void update_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    struct update *update = context;
    const struct solve_base *base = update->base;
    const struct observer *observer = update->observer;
    const uint64_t n = update->matrix->vertex_count;
    const uint64_t end = (task + 1) * ROWS_PER_TASK < n ? (task + 1) * ROWS_PER_TASK : n;
    if (observer != NULL && observer->cancelled(observer->context)) {
        atomic_store(&update->is_stopped, true);
    }
    for (uint64_t i = task * ROWS_PER_TASK; i < end && !atomic_load(&update->is_stopped); i++) {
        char *row = (char *)update->matrix->elements + i * update->row_bytes;
        const void *before = base->row(base->context, (uint32_t)i);
        if (before == NULL) {
            atomic_store(&update->is_damaged, true);
            atomic_store(&update->is_stopped, true);
            return;
        }
        memcpy(row, before, update->row_bytes);
        for (size_t k = 0; k < base->arc_count; k++) {
            relax(update->matrix, &base->arcs[k], update->heads + k * update->row_bytes, row);
        }
    }
}

enum status solve_update(const struct solve_base *base, uint32_t threads,
                         const struct observer *observer, struct matrix *matrix,
                         struct solve_outcome *outcome)
{
    const double begin_s = stopwatch_now_s();
    const uint64_t n = matrix->vertex_count;
    struct update update = {.base = base,
                            .matrix = matrix,
                            .row_bytes = n * kind_size(matrix->kind),
                            .observer = observer};
    struct cpu_pool *pool = NULL;
    struct host_memory_warmer *pages = NULL;
    CHECK(matrix->kind != KIND_U2 && base->arc_count <= SOLVE_UPDATE_ARCS);
    update.heads = malloc(base->arc_count * update.row_bytes + 1);
    enum status status = update.heads != NULL ? make_heads(&update) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = cpu_pool_create(threads > 0 ? threads : cpu_pool_cores(), &pool);
    }
    if (status == STATUS_OK) {
        /* The threads of the pool write the pages for the first time, each its own: of the warmer
         * large pages alone are wanted. */
        pages = host_memory_warm(matrix->elements, n * update.row_bytes, 0);
        cpu_pool_watch(pool, observer, PHASE_SOLVING, 0, 1);
        cpu_pool_run(pool, (n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, update_rows, &update);
        status = update.is_damaged   ? STATUS_NOT_VERIFIED
                 : update.is_stopped ? STATUS_CANCELLED
                                     : STATUS_OK;
    }
    if (status == STATUS_OK) {
        cpu_finish_statistics(pool, matrix, observer, outcome->account.statistics);
        outcome->account.statistics_filled = true;
        outcome->plan = (struct plan_summary){
            .parts = 1, .work_fraction = n > 0 ? (double)base->arc_count / (double)n : 0};
        snprintf(outcome->device.solver, sizeof(outcome->device.solver), "cpu");
        snprintf(outcome->device.name, sizeof(outcome->device.name), "%u threads",
                 (unsigned)cpu_pool_threads(pool));
        outcome->account.timings.compute_s = stopwatch_now_s() - begin_s;
        observer_tell(observer, PHASE_PUBLISHING, 0);
    }
    host_memory_stop_warming(pages);
    cpu_pool_destroy(pool);
    free(update.heads);
    return status;
}
