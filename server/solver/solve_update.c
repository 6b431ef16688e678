#include "server/solver/cpu/pool.h"
#include "server/solver/solve.h"
#include "server/solver/steps.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the base takes memory, and a fault for each page, where rows change: worth it up to
 * this part of the rows, and of the memory that is there. */
#define COPY_ROWS_SHARE 2
#define COPY_MEMORY_SHARE 4

struct update {
    const struct solve_base *base;
    struct matrix *matrix;
    size_t row_bytes;
    char *heads;   /* of each arc: the row of its target, as the arcs before it left it */
    bool *changes; /* by row: whether it differs from the base's */
    atomic_uint_least32_t change_count;
    bool is_copy;  /* the matrix is the base's but for the rows that change, */
    char *scratch; /* which are computed here, a row for each thread */
    const struct observer *observer;
    struct cpu_reduction reduction;
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

static void relax(const struct matrix *matrix, const struct solve_arc *arc, const void *head,
                  void *row)
{
    const double base = step_element(matrix->kind, row, arc->source) + arc->weight;
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
        if (step_element(update->matrix->kind, head, arc->source) + arc->weight < 0) {
            return STATUS_NOT_VERIFIED;
        }
    }
    return STATUS_OK;
}

/* A row differs only where an arc shortens the way to its own target: before the first arc of a
 * shorter way lies a way of the base. */
static void find_changes(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    struct update *update = context;
    const struct solve_base *base = update->base;
    const struct observer *observer = update->observer;
    const enum kind kind = update->matrix->kind;
    const uint32_t end = cpu_row_task_end(update->matrix, task);
    uint32_t count = 0;
    if (observer != NULL && observer->cancelled(observer->context)) {
        atomic_store(&update->is_stopped, true);
    }
    for (uint32_t i = (uint32_t)(task * CPU_TASK_ROWS);
         i < end && !atomic_load(&update->is_stopped); i++) {
        const void *row = base->row(base->context, i);
        if (row == NULL) {
            atomic_store(&update->is_damaged, true);
            atomic_store(&update->is_stopped, true);
            return;
        }
        for (size_t k = 0; k < base->arc_count && !update->changes[i]; k++) {
            const struct solve_arc *arc = &base->arcs[k];
            update->changes[i] = step_element(kind, row, arc->source) + arc->weight <
                                 step_element(kind, row, arc->target);
        }
        count += update->changes[i];
    }
    atomic_fetch_add(&update->change_count, count);
}

static void update_row(struct update *update, uint32_t thread, uint32_t i, const void *before)
{
    const struct solve_base *base = update->base;
    char *row = (char *)update->matrix->elements + i * update->row_bytes;
    /* The first access to a page of a copy is to write it, which is one fault in place of two. */
    char *work = update->is_copy ? update->scratch + thread * update->row_bytes : row;
    memcpy(work, before, update->row_bytes);
    for (size_t k = 0; k < base->arc_count && update->changes[i]; k++) {
        relax(update->matrix, &base->arcs[k], update->heads + k * update->row_bytes, work);
    }
    if (update->is_copy) {
        memcpy(row, work, update->row_bytes);
    }
}

static void update_rows(void *context, uint32_t thread, uint64_t task)
{
    struct update *update = context;
    const struct solve_base *base = update->base;
    const struct observer *observer = update->observer;
    const uint32_t end = cpu_row_task_end(update->matrix, task);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    uint32_t gone[STATISTICS_BINS + 1] = {0};
    struct statistics before_statistics = *update->reduction.statistics;
    struct statistics_summary before_summary;
    if (update->is_copy) {
        before_summary = *base->summary;
        before_statistics.summary = &before_summary;
    }
    if (observer_is_cancelled(observer)) {
        atomic_store(&update->is_stopped, true);
    }
    for (uint32_t i = (uint32_t)(task * CPU_TASK_ROWS);
         i < end && !atomic_load(&update->is_stopped); i++) {
        if (update->is_copy && !update->changes[i]) {
            continue;
        }
        const void *before = base->row(base->context, i);
        if (before == NULL) {
            atomic_store(&update->is_damaged, true);
            atomic_store(&update->is_stopped, true);
            return;
        }
        update_row(update, thread, i, before);
        if (update->is_copy) {
            statistics_count_row(&before_statistics, i, update->matrix->kind, before, gone);
        }
        cpu_reduce_row(&update->reduction, i, bins);
    }
    cpu_add_bins(&update->reduction, bins, gone);
}

/* Whether the matrix is a copy of the base's from now on, as few rows change. */
static bool copy_base(struct update *update, uint32_t threads)
{
    const struct solve_base *base = update->base;
    const uint64_t count = atomic_load(&update->change_count);
    const uint64_t most = update->matrix->vertex_count / COPY_ROWS_SHARE;
    struct cpu_reduction *reduction = &update->reduction;
    if (base->copy == NULL || base->summary == NULL || count > most ||
        count * update->row_bytes > host_memory_available() / COPY_MEMORY_SHARE) {
        return false;
    }
    update->scratch = malloc(threads * update->row_bytes + 1);
    if (update->scratch == NULL ||
        !base->copy(base->context, update->matrix, reduction->statistics)) {
        return false;
    }
    /* No distance of an update is longer than before. */
    reduction->lowest = base->summary->bin_begin;
    for (uint32_t bin = 0; bin < STATISTICS_BINS; bin++) {
        reduction->bins[bin] = base->summary->bins[bin];
    }
    return true;
}

static enum status run_update(struct update *update, struct cpu_pool *pool)
{
    const uint64_t n = update->matrix->vertex_count;
    const uint64_t tasks = cpu_row_tasks(update->matrix);
    struct host_memory_warmer *pages = NULL;
    update->changes = calloc(n + 1, sizeof(*update->changes));
    if (update->changes == NULL) {
        return STATUS_NO_MEMORY;
    }
    cpu_pool_watch(pool, update->observer, PHASE_SOLVING, 0, 0);
    cpu_pool_run(pool, tasks, find_changes, update);
    if (atomic_load(&update->is_stopped)) {
        return atomic_load(&update->is_damaged) ? STATUS_NOT_VERIFIED : STATUS_CANCELLED;
    }
    update->is_copy = copy_base(update, cpu_pool_threads(pool));
    if (!update->is_copy) {
        /* The threads of the pool write the pages for the first time, each its own: of the warmer
         * large pages alone are wanted. */
        pages = host_memory_warm(update->matrix->elements, n * update->row_bytes, 0);
    }
    cpu_pool_watch(pool, update->observer, PHASE_SOLVING, 0, 1);
    cpu_pool_run(pool, tasks, update_rows, update);
    host_memory_stop_warming(pages);
    if (atomic_load(&update->is_damaged)) {
        CHECK(!update->is_copy); /* all rows were found sound before */
        return STATUS_NOT_VERIFIED;
    }
    if (atomic_load(&update->is_stopped)) {
        return STATUS_CANCELLED;
    }
    cpu_finish_reduction(pool, update->observer, &update->reduction);
    return STATUS_OK;
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
                            .observer = observer,
                            .reduction = {.matrix = matrix,
                                          .statistics = outcome->account.statistics,
                                          .guess = base->summary}};
    struct cpu_pool *pool = NULL;
    CHECK(matrix->kind != KIND_U2 && base->arc_count <= SOLVE_UPDATE_ARCS);
    update.heads = malloc(base->arc_count * update.row_bytes + 1);
    enum status status = update.heads != NULL ? make_heads(&update) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = cpu_pool_create(threads > 0 ? threads : cpu_pool_cores(), &pool);
    }
    if (status == STATUS_OK) {
        status = run_update(&update, pool);
    }
    if (status == STATUS_OK) {
        outcome->account.statistics_filled = true;
        outcome->plan = (struct plan_summary){
            .parts = 1, .work_fraction = n > 0 ? (double)base->arc_count / (double)n : 0};
        snprintf(outcome->device.solver, sizeof(outcome->device.solver), "cpu");
        snprintf(outcome->device.name, sizeof(outcome->device.name), "%u threads",
                 (unsigned)cpu_pool_threads(pool));
        outcome->account.timings.compute_s = stopwatch_now_s() - begin_s;
        observer_tell(observer, PHASE_PUBLISHING, 0);
    }
    cpu_pool_destroy(pool);
    free(update.heads);
    free(update.changes);
    free(update.scratch);
    return status;
}
