#include "proto/write/overview.h"

#include <math.h>

static uint32_t divide_up(uint32_t count, uint32_t parts)
{
    return parts == 0 ? 0 : (uint32_t)(((uint64_t)count + parts - 1) / parts);
}

struct overview overview_plan(enum kind kind, struct overview_axis rows,
                              struct overview_axis columns, uint32_t cells)
{
    struct overview overview = {.kind = kind, .rows = rows, .columns = columns};
    overview.rows.cells = rows.count < cells ? rows.count : cells;
    overview.columns.cells = columns.count < cells ? columns.count : cells;
    overview.row_limit = divide_up(rows.count, overview.rows.cells);
    const uint64_t elements = (uint64_t)columns.count * overview.rows.cells;
    const uint64_t bytes = elements * kind_size(kind);
    if (bytes > 0) {
        const uint64_t affordable = OVERVIEW_ELEMENTS / elements < OVERVIEW_SPAN_BYTES / bytes
                                        ? OVERVIEW_ELEMENTS / elements
                                        : OVERVIEW_SPAN_BYTES / bytes;
        if (affordable < overview.row_limit) {
            overview.row_limit = affordable > 0 ? (uint32_t)affordable : 1;
        }
    }
    return overview;
}

bool overview_is_sample(const struct overview *overview)
{
    return overview->row_limit < divide_up(overview->rows.count, overview->rows.cells);
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
    /* The cell's rows are divided into equal shares. The middle row of each is sampled. */
    const uint64_t middle = (2 * (uint64_t)look + 1) * count / (2 * looks);
    return overview_begin(&overview->rows, cell_row) + (looks == count ? look : (uint32_t)middle);
}

void overview_add(const struct overview *overview, const void *distances,
                  struct overview_cell *cells)
{
    const enum kind kind = overview->kind;
    for (uint32_t column = 0; column < overview->columns.cells; column++) {
        const uint32_t end = overview_begin(&overview->columns, column + 1);
        struct overview_cell cell = cells[column];
        for (uint32_t i = overview_begin(&overview->columns, column); i < end; i++) {
            const double distance = kind_element(kind, distances, i);
            cell.elements++;
            if (distance < (double)INFINITY) {
                cell.least = cell.finite == 0 || distance < cell.least ? distance : cell.least;
                cell.largest =
                    cell.finite == 0 || distance > cell.largest ? distance : cell.largest;
                cell.sum += distance;
                cell.finite++;
            }
        }
        cells[column] = cell;
    }
}
