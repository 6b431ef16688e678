#include "server/http/api/rectangle.h"

#include <stdlib.h>
#include <string.h>

/* Memory of a strip, for each client that reads a narrow rectangle. */
#define STRIP_BYTES ((size_t)4 << 20)

static uint32_t strip_rows_of(const struct rectangle *rectangle)
{
    const size_t row_bytes = rectangle->columns.count * kind_size(result_kind(rectangle->result));
    const size_t most = STRIP_BYTES / row_bytes + 1;

    return rectangle->rows.count < most ? rectangle->rows.count : (uint32_t)most;
}

/* Whether fewer columns are computed for all strips together than there are rows. */
static bool is_narrow(const struct rectangle *rectangle)
{
    const uint64_t rows = rectangle->rows.count;

    if (result_form(rectangle->result) != RESULT_FORM_HIERARCHY || rectangle->columns.count == 0 ||
        rectangle->columns.count >= rows) {
        return false;
    }
    const uint64_t strip_rows = strip_rows_of(rectangle);

    return rectangle->columns.count * ((rows + strip_rows - 1) / strip_rows) < rows;
}

enum status rectangle_open(struct rectangle *rectangle, const struct result *result,
                           const struct axis *rows, const struct axis *columns)
{
    *rectangle =
        (struct rectangle){.result = result, .rows = *rows, .columns = *columns, .cells = *columns};
    if (!is_narrow(rectangle)) {
        return STATUS_OK;
    }
    const size_t row_bytes = columns->count * kind_size(result_kind(result));

    rectangle->strip_rows = strip_rows_of(rectangle);
    rectangle->strip_first = UINT32_MAX; /* none yet */
    rectangle->swept.is_reversed = true;
    rectangle->cells = (struct axis){NULL, 0, columns->count};
    rectangle->strip = malloc(rectangle->strip_rows * row_bytes);
    return rectangle->strip != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void rectangle_close(struct rectangle *rectangle)
{
    search_pool_finish_rows(&rectangle->swept);
    free(rectangle->strip);
    *rectangle = (struct rectangle){0};
}

/* Writes the distances to one vertex into its column of the strip. */
static void fill_column(struct rectangle *rectangle, const char *distances)
{
    const size_t size = kind_size(result_kind(rectangle->result));
    const uint32_t left = rectangle->rows.count - rectangle->strip_first;
    const uint32_t count = left < rectangle->strip_rows ? left : rectangle->strip_rows;
    char *to = rectangle->strip + rectangle->strip_columns * size;

    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, distances + axis_at(&rectangle->rows, rectangle->strip_first + i) * size, size);
        to += rectangle->columns.count * size;
    }
    rectangle->strip_columns++;
}

static enum status find_in_strip(struct rectangle *rectangle, uint32_t index,
                                 const void **ret_elements)
{
    const size_t row_bytes = rectangle->columns.count * kind_size(result_kind(rectangle->result));
    const uint32_t first = index / rectangle->strip_rows * rectangle->strip_rows;

    if (first != rectangle->strip_first) {
        rectangle->strip_first = first;
        rectangle->strip_columns = 0;
    }
    if (rectangle->strip_columns < rectangle->columns.count) {
        const uint32_t column = axis_at(&rectangle->columns, rectangle->strip_columns);
        const void *distances;

        STATUS_TRY(result_distances(rectangle->result, column, &rectangle->swept, &distances));
        if (distances != NULL) {
            fill_column(rectangle, distances);
        }
    }
    *ret_elements = rectangle->strip_columns == rectangle->columns.count
                        ? rectangle->strip + (index - first) * row_bytes
                        : NULL;
    return STATUS_OK;
}

enum status rectangle_row(struct rectangle *rectangle, uint32_t index, const void **ret_elements)
{
    return rectangle->strip != NULL
               ? find_in_strip(rectangle, index, ret_elements)
               : result_distances(rectangle->result, axis_at(&rectangle->rows, index),
                                  &rectangle->swept, ret_elements);
}
