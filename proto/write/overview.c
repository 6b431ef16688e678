#include "proto/write/overview.h"

#include "proto/status.h"

#include <math.h>
#include <stdbool.h>

static uint32_t divide_up(uint32_t count, uint32_t parts)
{
    return parts == 0 ? 0 : (uint32_t)(((uint64_t)count + parts - 1) / parts);
}

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

struct overview overview_plan(enum kind kind, struct overview_axis rows,
                              struct overview_axis columns, uint32_t cells)
{
    struct overview overview = {.kind = kind, .rows = rows, .columns = columns};
    const uint64_t span = (uint64_t)columns.count * kind_size(kind);
    overview.rows.cells = rows.count < cells ? rows.count : cells;
    overview.columns.cells = columns.count < cells ? columns.count : cells;
    overview.row_limit = divide_up(rows.count, overview.rows.cells);
    overview.column_limit = divide_up(columns.count, overview.columns.cells);
    const uint64_t all = (uint64_t)rows.count * columns.count;
    if (all <= OVERVIEW_ELEMENTS && rows.count * span <= OVERVIEW_SPAN_BYTES) {
        return overview;
    }
    /* As many rows as columns of each cell, unless the rows span too many bytes. */
    const uint64_t each =
        OVERVIEW_ELEMENTS / ((uint64_t)overview.rows.cells * overview.columns.cells);
    const uint64_t spanned = OVERVIEW_SPAN_BYTES / (span * overview.rows.cells);
    uint64_t wanted = (uint64_t)sqrt((double)each);
    if (wanted * overview.column_limit < each) {
        wanted = each / overview.column_limit;
    }
    overview.row_limit = clamp(wanted < spanned ? wanted : spanned, 1, overview.row_limit);
    overview.column_limit =
        clamp(each / overview.row_limit / OVERVIEW_RUN * OVERVIEW_RUN,
              overview.column_limit < OVERVIEW_RUN ? overview.column_limit : OVERVIEW_RUN,
              overview.column_limit);
    return overview;
}

bool overview_is_sample(const struct overview *overview)
{
    return overview->row_limit < divide_up(overview->rows.count, overview->rows.cells) ||
           overview->column_limit < divide_up(overview->columns.count, overview->columns.cells);
}

uint32_t overview_begin(const struct overview_axis *axis, uint32_t cell)
{
    return axis->first +
           (axis->cells == 0 ? 0 : (uint32_t)((uint64_t)cell * axis->count / axis->cells));
}

uint64_t overview_rows(const struct overview *overview)
{
    const uint64_t rows = (uint64_t)overview->row_limit * overview->rows.cells;
    return rows < overview->rows.count ? rows : overview->rows.count;
}

static void note_finite(struct overview_cell *cell, double least, double largest, double sum,
                        uint64_t finite)
{
    cell->least = cell->finite == 0 || least < cell->least ? least : cell->least;
    cell->largest = cell->finite == 0 || largest > cell->largest ? largest : cell->largest;
    cell->sum += sum;
    cell->finite += finite;
}

/* Reduces a run without branches, so that it can be vectorized. In every kind unreachable is the
 * largest value. */
#define ADD(name, type, wide, far, lowest)                                                         \
    static void name(struct overview_cell *cell, const type *from, uint32_t count)                 \
    {                                                                                              \
        type least = far;                                                                          \
        type largest = lowest;                                                                     \
        wide sum = 0;                                                                              \
        uint32_t finite = 0;                                                                       \
                                                                                                   \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const bool reached = from[i] < far;                                                    \
            least = (type)(from[i] < least ? from[i] : least);                                     \
            largest = (type)(reached && from[i] > largest ? from[i] : largest);                    \
            sum += reached ? (wide)from[i] : 0;                                                    \
            finite += reached;                                                                     \
        }                                                                                          \
        if (finite > 0) {                                                                          \
            note_finite(cell, (double)least, (double)largest, (double)sum, finite);                \
        }                                                                                          \
        cell->elements += count;                                                                   \
    }

ADD(add_i4, int32_t, int64_t, UNREACHABLE_I4, INT32_MIN)
ADD(add_u2, uint16_t, int64_t, UNREACHABLE_U2, 0)
ADD(add_f4, float, double, INFINITY, -INFINITY)
ADD(add_f8, double, double, (double)INFINITY, (double)-INFINITY)

static void add_elements(enum kind kind, const void *row, uint32_t first, uint32_t count,
                         struct overview_cell *cell)
{
    switch (kind) {
    case KIND_I4:
        add_i4(cell, (const int32_t *)row + first, count);
        break;
    case KIND_U2:
        add_u2(cell, (const uint16_t *)row + first, count);
        break;
    case KIND_F4:
        add_f4(cell, (const float *)row + first, count);
        break;
    case KIND_F8:
        add_f8(cell, (const double *)row + first, count);
        break;
    case KIND_AUTO:
    case KIND_COUNT:
        CHECK(false);
    }
}

/* Examines the columns of one cell on one row. */
static void look_at(const struct overview *overview, const void *row, uint32_t begin, uint32_t end,
                    struct overview_cell *cell)
{
    const uint32_t count = end - begin;
    const uint32_t runs = overview->column_limit / OVERVIEW_RUN;
    if (count <= overview->column_limit) {
        add_elements(overview->kind, row, begin, count, cell);
        return;
    }
    /* All runs together are shorter than the cell, so a share is at least as long as a run. */
    for (uint32_t i = 0; i < runs; i++) {
        const uint32_t share = (uint32_t)((uint64_t)i * count / runs);
        const uint32_t next = (uint32_t)(((uint64_t)i + 1) * count / runs);
        add_elements(overview->kind, row, begin + share + (next - share - OVERVIEW_RUN) / 2,
                     OVERVIEW_RUN, cell);
    }
}

static uint32_t count_rows(const struct overview *overview, uint32_t cell_row)
{
    return overview_begin(&overview->rows, cell_row + 1) -
           overview_begin(&overview->rows, cell_row);
}

uint32_t overview_looks(const struct overview *overview, uint32_t cell_row)
{
    const uint32_t count = count_rows(overview, cell_row);
    return count < overview->row_limit ? count : overview->row_limit;
}

uint32_t overview_vertex(const struct overview *overview, uint32_t cell_row, uint32_t look)
{
    const uint64_t count = count_rows(overview, cell_row);
    const uint64_t looks = overview_looks(overview, cell_row);
    /* Each sampled row is in the middle of its share. */
    const uint64_t middle = (2 * (uint64_t)look + 1) * count / (2 * looks);
    return overview_begin(&overview->rows, cell_row) + (looks == count ? look : (uint32_t)middle);
}

void overview_add(const struct overview *overview, const void *distances,
                  struct overview_cell *cells)
{
    for (uint32_t column = 0; column < overview->columns.cells; column++) {
        look_at(overview, distances, overview_begin(&overview->columns, column),
                overview_begin(&overview->columns, column + 1), &cells[column]);
    }
}
