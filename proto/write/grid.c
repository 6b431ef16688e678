#include "proto/write/grid.h"

#include <string.h>

uint64_t grid_cells(const struct grid *grid)
{
    return (uint64_t)grid->rows.count * grid->columns.count;
}

enum status grid_size(const struct grid *grid, enum kind as, uint64_t *ret_bytes)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(grid_cells(grid), kind_size(as), &bytes) || bytes > INT64_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}

/* One element as it is answered. */
static void take_element(const struct grid *grid, enum kind as, const void *row, uint32_t column,
                         void *to)
{
    const size_t size = kind_size(grid->kind);

    if (as == grid->kind) {
        memcpy(to, (const char *)row + column * size, size);
        return;
    }
    const uint16_t narrow = ((const uint16_t *)row)[column];
    const int32_t wide = narrow == UNREACHABLE_U2 ? UNREACHABLE_I4 : narrow;

    memcpy(to, &wide, sizeof(wide));
}

/* Whole elements of one row. */
static void copy_elements(const struct grid *grid, enum kind as, const void *row, uint32_t first,
                          uint32_t count, char *to)
{
    const size_t size = kind_size(as);

    if (as == grid->kind && grid->columns.list == NULL) {
        memcpy(to, (const char *)row + (size_t)(grid->columns.first + first) * size, count * size);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        take_element(grid, as, row, axis_at(&grid->columns, first + i), to + i * size);
    }
}

/* At most size bytes from within the element at offset; returns how many. */
static size_t copy_part(const struct grid *grid, enum kind as, const void *row, uint32_t column,
                        size_t within, size_t size, char *to)
{
    char element[8];
    const size_t left = kind_size(as) - within;
    const size_t count = left < size ? left : size;

    take_element(grid, as, row, axis_at(&grid->columns, column), element);
    memcpy(to, element + within, count);
    return count;
}

enum status grid_copy(const struct grid *grid, enum kind as, uint64_t offset, size_t size, void *to)
{
    const size_t element = kind_size(as);
    char *at = to;

    CHECK(as == grid->kind || (as == KIND_I4 && grid->kind == KIND_U2));
    while (size > 0) {
        const uint64_t index = offset / element;
        const size_t within = offset % element;
        const uint32_t column = (uint32_t)(index % grid->columns.count);
        const void *row =
            grid->row(grid->context, axis_at(&grid->rows, (uint32_t)(index / grid->columns.count)));
        size_t done;

        if (row == NULL) {
            return STATUS_CORRUPT;
        }
        if (within > 0 || size < element) {
            done = copy_part(grid, as, row, column, within, size, at);
        } else {
            const uint32_t left = grid->columns.count - column;
            const uint32_t count = size / element < left ? (uint32_t)(size / element) : left;

            copy_elements(grid, as, row, column, count, at);
            done = count * element;
        }
        at += done;
        offset += done;
        size -= done;
    }
    return STATUS_OK;
}
