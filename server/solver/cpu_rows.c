#include "server/solver/cpu_rows.h"

#include "proto/check.h"
#include "proto/solve_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of one task: what a kernel makes ready at once. */
#define TASK_BYTES ((size_t)2 << 20)

struct writing {
    const struct cpu_tiles *tiles;
    bool drifted;
    struct matrix *matrix;
    size_t row_bytes; /* of the matrix */
    uint32_t rows;    /* of a task */
};

/* Pages of a file that nobody has touched come at the speed of page faults; many asked for at once
 * come three times as fast. A kernel that cannot leaves it to the faults. */
static void populate(unsigned char *begin, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t ahead = (uintptr_t)begin % page;
    (void)madvise(begin - ahead, size + ahead, MADV_POPULATE_WRITE);
}

static void write_4(const uint32_t *row, const uint32_t *position_of, uint32_t n, uint32_t *ret_to)
{
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        ret_to[vertex] = row[position_of[vertex]];
    }
}

static void write_8(const uint64_t *row, const uint32_t *position_of, uint32_t n, uint64_t *ret_to)
{
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        ret_to[vertex] = row[position_of[vertex]];
    }
}

static void write_canonical(const int32_t *row, const uint32_t *position_of, uint32_t n,
                            int32_t *ret_to)
{
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        const int32_t distance = row[position_of[vertex]];
        ret_to[vertex] = distance > UNREACHABLE_I4_DRIFT ? UNREACHABLE_I4 : distance;
    }
}

static void write_wide(const int16_t *row, const uint32_t *position_of, uint32_t n, int32_t *ret_to)
{
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        const int16_t distance = row[position_of[vertex]];
        ret_to[vertex] = distance == NARROW_UNREACHABLE ? UNREACHABLE_I4 : distance;
    }
}

static void write_row(const struct writing *writing, uint32_t vertex, void *ret_to)
{
    const struct cpu_tiles *tiles = writing->tiles;
    const uint32_t n = tiles->vertex_count;
    const uint32_t *position_of = tiles->position_of;
    const void *row = (const unsigned char *)tiles->elements +
                      (size_t)position_of[vertex] * n * tiles->element_bytes;
    if (tiles->arithmetic == ARITHMETIC_NARROW) {
        write_wide(row, position_of, n, ret_to);
    } else if (tiles->arithmetic == ARITHMETIC_I4 && writing->drifted) {
        write_canonical(row, position_of, n, ret_to);
    } else if (tiles->element_bytes == sizeof(uint64_t)) {
        write_8(row, position_of, n, ret_to);
    } else {
        write_4(row, position_of, n, ret_to);
    }
}

static void write_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct writing *writing = context;
    const uint32_t n = writing->tiles->vertex_count;
    const uint32_t begin = (uint32_t)task * writing->rows;
    const uint32_t end = n - begin < writing->rows ? n : begin + writing->rows;
    unsigned char *to = (unsigned char *)writing->matrix->elements + begin * writing->row_bytes;
    populate(to, (end - begin) * writing->row_bytes);
    for (uint32_t vertex = begin; vertex < end; ++vertex) {
        write_row(writing, vertex, to + (vertex - begin) * writing->row_bytes);
    }
}

void cpu_rows_write(struct cpu_pool *pool, const struct cpu_tiles *tiles, bool drifted,
                    struct matrix *matrix)
{
    CHECK(!tiles->banded && tiles->elements != matrix->elements &&
          tiles->vertex_count == matrix->vertex_count);
    const size_t row_bytes = (size_t)matrix->vertex_count * kind_size(matrix->kind);
    struct writing writing = {.tiles = tiles,
                              .drifted = drifted,
                              .matrix = matrix,
                              .row_bytes = row_bytes,
                              .rows = (uint32_t)(TASK_BYTES / (row_bytes + 1)) + 1};
    const uint64_t tasks = ((uint64_t)matrix->vertex_count + writing.rows - 1) / writing.rows;
    cpu_pool_run(pool, tasks, write_rows, &writing);
}
