#include "server/solver/cpu_fill.h"

#include "proto/check.h"

#include <math.h>

/* Rows per task: a matrix of one tile stays on the calling thread. */
#define FILL_ROWS 128

struct fill {
    const struct graph *graph;
    struct matrix *matrix;
};

struct row_range {
    uint32_t begin;
    uint32_t end;
};

static struct row_range rows_of_task(const struct matrix *matrix, uint64_t task)
{
    const uint32_t begin = (uint32_t)task * FILL_ROWS;
    const uint32_t rest = matrix->vertex_count - begin;
    return (struct row_range){begin, begin + (rest < FILL_ROWS ? rest : FILL_ROWS)};
}

static void set_entry(struct matrix *matrix, uint32_t row, uint32_t column, double value)
{
    const size_t index = (size_t)row * matrix->vertex_count + column;
    if (matrix->kind == KIND_I4) {
        ((int32_t *)matrix->elements)[index] = (int32_t)value;
    } else if (matrix->kind == KIND_F4) {
        ((float *)matrix->elements)[index] = (float)value;
    } else {
        ((double *)matrix->elements)[index] = value;
    }
}

static void clear_rows(struct matrix *matrix, struct row_range rows)
{
    const size_t begin = (size_t)rows.begin * matrix->vertex_count;
    const size_t end = (size_t)rows.end * matrix->vertex_count;
    if (matrix->kind == KIND_I4) {
        for (size_t index = begin; index < end; ++index) {
            ((int32_t *)matrix->elements)[index] = UNREACHABLE_I4;
        }
    } else if (matrix->kind == KIND_F4) {
        for (size_t index = begin; index < end; ++index) {
            ((float *)matrix->elements)[index] = INFINITY;
        }
    } else {
        for (size_t index = begin; index < end; ++index) {
            ((double *)matrix->elements)[index] = INFINITY;
        }
    }
}

static void fill_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct fill *fill = context;
    const struct graph *graph = fill->graph;
    const struct row_range rows = rows_of_task(fill->matrix, task);
    clear_rows(fill->matrix, rows);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        set_entry(fill->matrix, row, row, 0);
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; ++edge) {
            set_entry(fill->matrix, row, graph->target[edge], graph_weight(graph, edge));
        }
    }
}

/* The way back of each undirected edge. Its own pass: it writes into the rows of other tasks. */
static void fill_columns(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct fill *fill = context;
    const struct graph *graph = fill->graph;
    const struct row_range rows = rows_of_task(fill->matrix, task);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; ++edge) {
            set_entry(fill->matrix, graph->target[edge], row, graph_weight(graph, edge));
        }
    }
}

static uint64_t count_tasks(const struct matrix *matrix)
{
    return ((uint64_t)matrix->vertex_count + FILL_ROWS - 1) / FILL_ROWS;
}

void cpu_fill_edges(struct cpu_pool *pool, const struct graph *graph, struct matrix *matrix)
{
    struct fill fill = {graph, matrix};
    cpu_pool_run(pool, count_tasks(matrix), fill_rows, &fill);
    if (!graph->directed) {
        cpu_pool_run(pool, count_tasks(matrix), fill_columns, &fill);
    }
}

static void make_canonical(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    struct matrix *matrix = context;
    const struct row_range rows = rows_of_task(matrix, task);
    int32_t *elements = matrix->elements;
    const size_t end = (size_t)rows.end * matrix->vertex_count;
    for (size_t index = (size_t)rows.begin * matrix->vertex_count; index < end; ++index) {
        elements[index] = elements[index] > UNREACHABLE_I4_DRIFT ? UNREACHABLE_I4 : elements[index];
    }
}

void cpu_fill_canonical(struct cpu_pool *pool, struct matrix *matrix)
{
    CHECK(matrix->kind == KIND_I4);
    cpu_pool_run(pool, count_tasks(matrix), make_canonical, matrix);
}

bool cpu_fill_check_diagonal(struct matrix *matrix, bool clamp)
{
    for (uint32_t row = 0; row < matrix->vertex_count; ++row) {
        const size_t index = (size_t)row * matrix->vertex_count + row;
        const double value = matrix->kind == KIND_F4 ? (double)((float *)matrix->elements)[index]
                                                     : ((double *)matrix->elements)[index];
        if (value < 0) {
            if (!clamp) {
                return false;
            }
            set_entry(matrix, row, row, 0);
        }
    }
    return true;
}
