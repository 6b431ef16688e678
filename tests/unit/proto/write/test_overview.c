#include "proto/write/overview.h"
#include "tests/lib/test.h"

#include <math.h>

struct source {
    const void *elements;
    size_t row_bytes;
    uint32_t looked_at; /* number of rows read */
    uint32_t last;
};

static void look(const struct overview *overview, uint32_t cell_row, struct source *source,
                 struct overview_cell *ret_cells)
{
    memset(ret_cells, 0, overview->columns.cells * sizeof(*ret_cells));
    for (uint32_t i = 0; i < overview_looks(overview, cell_row); i++) {
        source->looked_at++;
        source->last = overview_vertex(overview, cell_row, i);
        overview_add(overview, (const char *)source->elements + source->last * source->row_bytes,
                     ret_cells);
    }
}

static struct overview_axis all(uint32_t count)
{
    return (struct overview_axis){.count = count};
}

TEST(every_cell_summarizes_its_block)
{
    static const int32_t d[5][5] = {{0, 1, 2, 3, UNREACHABLE_I4},
                                    {5, 0, 7, 8, UNREACHABLE_I4},
                                    {9, 1, 0, 2, UNREACHABLE_I4},
                                    {-4, 5, 6, 0, UNREACHABLE_I4},
                                    {UNREACHABLE_I4, 1, 1, 1, 0}};
    struct source source = {d, sizeof d[0], 0, 0};
    struct overview overview = overview_plan(KIND_I4, all(5), all(5), 2);
    struct overview_cell cells[2];

    assert_false(overview_is_sample(&overview));
    assert_int_equal(overview_begin(&overview.rows, 1), 2);
    assert_int_equal(overview_begin(&overview.rows, 2), 5);
    look(&overview, 0, &source, cells);
    assert_int_equal(source.looked_at, 2);
    assert_true(cells[0].elements == 4 && cells[0].finite == 4 && cells[0].sum == 6);
    assert_true(cells[0].least == 0 && cells[0].largest == 5);
    assert_true(cells[1].elements == 6 && cells[1].finite == 4 && cells[1].sum == 20);
    assert_true(cells[1].least == 2 && cells[1].largest == 8);
    look(&overview, 1, &source, cells);
    assert_true(cells[0].elements == 6 && cells[0].finite == 5 && cells[0].sum == 12);
    assert_true(cells[0].least == -4 && cells[0].largest == 9);
}

TEST(only_the_chosen_block_is_summarized)
{
    double d[30][30];
    struct source source = {d, sizeof d[0], 0, 0};
    const struct overview_axis rows = {.first = 10, .count = 3};
    const struct overview_axis columns = {.first = 20, .count = 4};
    struct overview overview = overview_plan(KIND_F8, rows, columns, 256);
    struct overview_cell cells[4];

    for (int i = 0; i < 900; i++) {
        d[i / 30][i % 30] = i % 30 == 22 ? (double)INFINITY : i;
    }
    assert_int_equal(overview.rows.cells, 3);
    assert_int_equal(overview.columns.cells, 4);
    for (uint32_t row = 0; row < 3; row++) {
        look(&overview, row, &source, cells);
        assert_int_equal(source.last, 10 + row);
        for (uint32_t column = 0; column < 4; column++) {
            assert_int_equal(cells[column].elements, 1);
            assert_int_equal(cells[column].finite, column != 2);
            assert_true(column == 2 || cells[column].sum == (10 + row) * 30 + 20 + column);
        }
    }
}

TEST(floats_and_16_bit_integers_are_summarized)
{
    static const float f[2][2] = {{0.5f, INFINITY}, {-1.5f, 2}};
    static const uint16_t u[2][2] = {{0, UNREACHABLE_U2}, {65534, 2}};
    struct source floats = {f, sizeof f[0], 0, 0};
    struct source shorts = {u, sizeof u[0], 0, 0};
    struct overview of_floats = overview_plan(KIND_F4, all(2), all(2), 1);
    struct overview of_shorts = overview_plan(KIND_U2, all(2), all(2), 1);
    struct overview_cell cell;

    look(&of_floats, 0, &floats, &cell);
    assert_true(cell.finite == 3 && cell.sum == 1 && cell.least == -1.5 && cell.largest == 2);
    look(&of_shorts, 0, &shorts, &cell);
    assert_true(cell.finite == 3 && cell.sum == 65536 && cell.least == 0 && cell.largest == 65534);
}

TEST(an_empty_matrix_has_no_cells)
{
    struct overview overview = overview_plan(KIND_I4, all(0), all(0), 64);

    assert_int_equal(overview.rows.cells, 0);
    assert_int_equal(overview.columns.cells, 0);
    assert_false(overview_is_sample(&overview));
}

/* Checks an overview of a matrix whose rows all equal `row`, which contains its column numbers. */
static void expect_bounded(uint32_t n, enum kind kind, uint32_t cells, const void *row)
{
    struct overview overview = overview_plan(kind, all(n), all(n), cells);
    struct overview_cell *made = calloc(cells, sizeof *made);
    struct source source = {row, 0, 0, 0};

    assert_non_null(made);
    assert_true(overview_is_sample(&overview));
    const uint64_t elements = overview_rows(&overview) * n;
    assert_true(
        (elements <= OVERVIEW_ELEMENTS && elements * kind_size(kind) <= OVERVIEW_SPAN_BYTES) ||
        overview.row_limit == 1);
    look(&overview, cells - 1, &source, made);
    assert_int_equal(source.looked_at, overview.row_limit);
    for (uint32_t column = 0; column < cells; column++) {
        const double begin = overview_begin(&overview.columns, column);
        const double end = overview_begin(&overview.columns, column + 1);
        const double mean = made[column].sum / (double)made[column].finite;

        assert_true(made[column].least >= begin && made[column].largest < end);
        assert_true(mean == (begin + end - 1) / 2);
    }
    free(made);
}

TEST(samples_are_bounded_and_evenly_spread)
{
    const uint32_t most = 400000;
    int32_t *row = malloc(most * sizeof *row);
    double *wide = malloc(most * sizeof *wide);

    assert_true(row != NULL && wide != NULL);
    for (uint32_t i = 0; i < most; i++) {
        row[i] = (int32_t)i;
        wide[i] = i;
    }
    expect_bounded(4097, KIND_I4, 64, row);
    expect_bounded(5000, KIND_I4, 256, row);
    expect_bounded(6001, KIND_F8, 7, wide);
    expect_bounded(50000, KIND_I4, 256, row);
    expect_bounded(192000, KIND_I4, 128, row);
    expect_bounded(most, KIND_F8, 256, wide);
    expect_bounded(most, KIND_F8, 1, wide);
    free(row);
    free(wide);
}
