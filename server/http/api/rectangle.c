#include "server/http/api/rectangle.h"

#include <stdlib.h>
#include <string.h>

/* Cost of computing one pair: as much as computing this many distances of a row. */
#define PAIR_VERTICES 32
/* Size in bytes of a strip of gathered columns; each client that reads a narrow rectangle has
 * one. */
#define STRIP_BYTES ((size_t)4 << 20)
/* Columns of a matrix gathered in one pass over its rows: one cache line of i4 elements. */
#define STRIP_COLUMNS 16
/* Cells copied into a strip per call. */
#define CELLS_AT_ONCE 1024

static uint32_t strip_rows_of(const struct rectangle *rectangle)
{
    const size_t row_bytes = rectangle->columns.count * kind_size(result_kind(rectangle->result));
    const size_t most = STRIP_BYTES / row_bytes + 1;
    return rectangle->rows.count < most ? rectangle->rows.count : (uint32_t)most;
}

/* Returns whether computing pairs is faster than computing the rows or the columns. */
static bool is_small(const struct rectangle *rectangle)
{
    const uint32_t most = result_vertex_count(rectangle->result) / PAIR_VERTICES;
    return rectangle->columns.count > 0 && rectangle->columns.count <= most &&
           rectangle->rows.count <= most;
}

/* Returns whether all strips together compute fewer columns than the rectangle has rows. */
static bool is_narrow(const struct rectangle *rectangle)
{
    const uint64_t rows = rectangle->rows.count;
    if (rectangle->columns.count == 0 || rectangle->columns.count >= rows) {
        return false;
    }
    const uint64_t strip_rows = strip_rows_of(rectangle);
    return rectangle->columns.count * ((rows + strip_rows - 1) / strip_rows) < rows;
}

/* Allocates a strip, which is filled column by column. */
static enum status open_strip(struct rectangle *rectangle, uint32_t rows)
{
    const size_t row_bytes = rectangle->columns.count * kind_size(result_kind(rectangle->result));
    rectangle->strip_rows = rows;
    rectangle->strip_first = UINT32_MAX; /* no strip yet */
    rectangle->swept.axis = rectangle->columns;
    rectangle->cells = (struct axis){NULL, 0, rectangle->columns.count};
    rectangle->strip = malloc(rows * row_bytes + 1);
    return rectangle->strip != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status rectangle_open(struct rectangle *rectangle, const struct result *result,
                           const struct axis *rows, const struct axis *columns)
{
    *rectangle =
        (struct rectangle){.result = result, .rows = *rows, .columns = *columns, .cells = *columns};
    rectangle->swept.axis = *rows;
    if (result_form(result) != RESULT_FORM_HIERARCHY) {
        return STATUS_OK;
    }
    const bool by_pairs = is_small(rectangle);
    if (!by_pairs && !is_narrow(rectangle)) {
        return STATUS_OK;
    }
    rectangle->swept.is_reversed = true;
    rectangle->pairs = by_pairs ? malloc(columns->count * sizeof(uint32_t[2])) : NULL;
    STATUS_TRY(open_strip(rectangle, by_pairs ? 1 : strip_rows_of(rectangle)));
    return by_pairs == (rectangle->pairs != NULL) ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status rectangle_open_columns(struct rectangle *rectangle, const struct result *result,
                                   const struct axis *rows, const struct axis *columns)
{
    const bool is_matrix = result_form(result) == RESULT_FORM_MATRIX;
    *rectangle = (struct rectangle){.result = result,
                                    .rows = *columns,
                                    .columns = *rows,
                                    .cells = *rows,
                                    .swept = {.axis = *columns, .is_reversed = !is_matrix}};
    return is_matrix ? open_strip(rectangle,
                                  columns->count < STRIP_COLUMNS ? columns->count : STRIP_COLUMNS)
                     : STATUS_OK;
}

void rectangle_close(struct rectangle *rectangle)
{
    search_pool_finish_rows(&rectangle->swept);
    free(rectangle->strip);
    free(rectangle->pairs);
    *rectangle = (struct rectangle){0};
}

/* Writes the distances to one vertex into its column of the strip. */
static void fill_column(struct rectangle *rectangle, const char *distances)
{
    const size_t size = kind_size(result_kind(rectangle->result));
    const uint32_t left = rectangle->rows.count - rectangle->strip_first;
    const uint32_t count = left < rectangle->strip_rows ? left : rectangle->strip_rows;
    char *to = rectangle->strip + rectangle->strip_done * size;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, distances + axis_at(&rectangle->rows, rectangle->strip_first + i) * size, size);
        to += rectangle->columns.count * size;
    }
    rectangle->strip_done++;
}

static enum status fill_columns(struct rectangle *rectangle)
{
    for (uint32_t cells = 0;
         cells < CELLS_AT_ONCE && rectangle->strip_done < rectangle->columns.count;
         cells += rectangle->strip_rows) {
        const void *distances;
        STATUS_TRY(result_distances(rectangle->result, (uint32_t)rectangle->strip_done,
                                    &rectangle->swept, &distances));
        if (distances == NULL) {
            break;
        }
        fill_column(rectangle, distances);
    }
    return STATUS_OK;
}

static enum status ask_pairs(struct rectangle *rectangle, uint32_t index)
{
    const size_t size = kind_size(result_kind(rectangle->result));
    const uint32_t source = axis_at(&rectangle->rows, index);
    size_t count;
    for (uint32_t i = 0; i < rectangle->columns.count && rectangle->strip_done == 0; i++) {
        rectangle->pairs[2 * (size_t)i] = source;
        rectangle->pairs[2 * (size_t)i + 1] = axis_at(&rectangle->columns, i);
    }
    STATUS_TRY(result_pairs(rectangle->result, rectangle->pairs + 2 * rectangle->strip_done,
                            rectangle->columns.count - rectangle->strip_done,
                            rectangle->strip + rectangle->strip_done * size, &count));
    rectangle->strip_done += count;
    return STATUS_OK;
}

static enum status find_in_strip(struct rectangle *rectangle, uint32_t index,
                                 const void **ret_elements)
{
    const size_t row_bytes = rectangle->columns.count * kind_size(result_kind(rectangle->result));
    const uint32_t first = index / rectangle->strip_rows * rectangle->strip_rows;
    if (first != rectangle->strip_first) {
        rectangle->strip_first = first;
        rectangle->strip_done = 0;
    }
    if (rectangle->strip_done < rectangle->columns.count && rectangle->pairs != NULL) {
        STATUS_TRY(ask_pairs(rectangle, index));
    } else {
        STATUS_TRY(fill_columns(rectangle));
    }
    *ret_elements = rectangle->strip_done == rectangle->columns.count
                        ? rectangle->strip + (index - first) * row_bytes
                        : NULL;
    return STATUS_OK;
}

enum status rectangle_row(void *context, uint32_t index, const void **ret_elements)
{
    struct rectangle *rectangle = context;
    return rectangle->strip != NULL
               ? find_in_strip(rectangle, index, ret_elements)
               : result_distances(rectangle->result, index, &rectangle->swept, ret_elements);
}
