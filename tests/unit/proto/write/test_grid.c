#include "proto/write/grid.h"
#include "tests/lib/test.h"

#define N 5

static uint16_t elements[N][N];

/* The rows of the grid that the test writes. */
static struct axis tested_rows;

static enum status find_row(void *context, uint32_t index, const void **ret_elements)
{
    (void)context;
    *ret_elements = elements[axis_at(&tested_rows, index)];
    return STATUS_OK;
}

static struct grid make(const struct axis *rows, const struct axis *columns)
{
    for (int i = 0; i < N * N; i++) {
        elements[i / N][i % N] = (uint16_t)(i % 7 == 3 ? UNREACHABLE_U2 : 1000 + i);
    }
    tested_rows = *rows;
    return (struct grid){KIND_U2, NULL, *rows, *columns, *columns, find_row, NULL};
}

/* Compares every range of the grid's bytes with elements that the test converts one at a time. */
static void expect_windows(const struct axis *rows, const struct axis *columns, enum kind as)
{
    const struct grid grid = make(rows, columns);
    unsigned char whole[4 * 64];
    unsigned char part[4 * 64];
    uint64_t size;

    for (uint32_t i = 0; i < (uint64_t)grid.rows.count * grid.columns.count; i++) {
        const uint16_t value =
            elements[axis_at(rows, i / columns->count)][axis_at(columns, i % columns->count)];
        const int32_t wide = value == UNREACHABLE_U2 ? UNREACHABLE_I4 : value;

        if (as == KIND_I4) {
            memcpy(whole + 4 * i, &wide, 4);
        } else {
            memcpy(whole + 2 * i, &value, 2);
        }
    }
    assert_int_equal(grid_size(&grid, as, &size), STATUS_OK);
    assert_int_equal(size, (uint64_t)grid.rows.count * grid.columns.count * kind_size(as));
    for (size_t first = 0; first < size; first++) {
        for (size_t count = 0; count <= size - first; count++) {
            for (size_t at = 0; at < count;) {
                size_t copied;

                assert_int_equal(grid_copy(&grid, as, first + at, count - at, part + at, &copied),
                                 STATUS_OK);
                assert_in_range(copied, 1, count - at);
                at += copied;
            }
            assert_memory_equal(part, whole + first, count);
        }
    }
}

TEST(any_rectangle_of_a_matrix_can_be_copied)
{
    static const uint32_t list[] = {4, 0, 0, 2};
    const struct axis all = {NULL, 0, N};
    const struct axis run = {NULL, 1, 3};
    const struct axis some = {list, 0, 4};
    const struct axis axes[] = {all, run, some};

    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            expect_windows(&axes[i], &axes[j], KIND_U2);
            expect_windows(&axes[i], &axes[j], KIND_I4);
        }
    }
}

TEST(large_grids_do_not_overflow_the_size)
{
    const struct axis huge = {NULL, 0, UINT32_MAX};
    const struct grid grid = {KIND_F8, NULL, huge, huge, huge, find_row, NULL};
    uint64_t size;

    assert_int_equal(grid_size(&grid, KIND_F8, &size), STATUS_TOO_LARGE);
}

#define U UNREACHABLE_I4

static const int32_t named_elements[3][3] = {{0, 5, 12}, {8, 0, U}, {U, -6, 0}};
/* Whether find_named_row reports that the requested row is not yet available. */
static bool is_late;

/* Returns a row. Every second call reports instead that the row is not yet available. */
static enum status find_named_row(void *context, uint32_t index, const void **ret_elements)
{
    (void)context;
    is_late = !is_late;
    *ret_elements = is_late ? NULL : named_elements[axis_at(&tested_rows, index)];
    return STATUS_OK;
}

/* Returns a column, because Matrix Market files are written column by column. */
static enum status find_named_column(void *context, uint32_t index, const void **ret_elements)
{
    static int32_t column[3];

    (void)context;
    for (uint32_t i = 0; i < 3; i++) {
        column[i] = named_elements[i][index];
    }
    is_late = !is_late;
    *ret_elements = is_late ? NULL : column;
    return STATUS_OK;
}

static struct vertex_names *names_of(const char *const *names, uint32_t count)
{
    struct name_table *table;
    struct vertex_names *made;
    uint32_t row;

    assert_int_equal(name_table_create(&table), STATUS_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(name_table_intern(table, names[i], strlen(names[i]), &row), STATUS_OK);
    }
    assert_int_equal(vertex_names_create(&table, true, &made), STATUS_OK);
    return made;
}

static void expect(enum grid_form form, const struct grid *grid, const char *wanted)
{
    struct grid_text writer = {.grid = *grid, .form = form, .has_unreachable = true};
    struct text text = {0};

    tested_rows = grid->rows;
    text_append_string(&text, "");
    while (grid_text_next(&writer, &text)) {
    }
    assert_int_equal(text_status(&text), STATUS_OK);
    assert_string_equal(text.bytes, wanted);
    text_finish(&text);
}

TEST(mtx_lists_columns_and_the_other_formats_list_rows)
{
    struct vertex_names *names;
    const struct axis all = {NULL, 0, 3};

    assert_int_equal(vertex_names_create_range(3, 1, &names), STATUS_OK);
    const struct grid grid = {KIND_I4, names, all, all, all, find_named_row, NULL};
    expect(GRID_JSON, &grid,
           "{\"sources\":[1,2,3],\"destinations\":[1,2,3],"
           "\"distances\":[[0,5,12],[8,0,null],[null,-6,0]]}\n");
    expect(GRID_TABLE, &grid,
           "{\"code\":\"Ok\",\"sources\":[1,2,3],\"destinations\":[1,2,3],"
           "\"distances\":[[0,5,12],[8,0,null],[null,-6,0]]}\n");
    expect(GRID_NDJSON, &grid, "[0,5,12]\n[8,0,null]\n[null,-6,0]\n");
    expect(GRID_CSV, &grid, "+0,5,12\n8,0,\n,-6,0\n");
    const struct grid columns = {KIND_I4, names, all, all, all, find_named_column, NULL};
    expect(GRID_MTX, &columns,
           "%%MatrixMarket matrix array real general\n% inf: unreachable\n3 3\n"
           "0\n8\ninf\n5\n0\n-6\n12\ninf\n0\n");
    vertex_names_destroy(names);
}

TEST(quotes_in_names_are_doubled_in_csv_and_escaped_in_json)
{
    static const char *const list[] = {"a,b", "the \"x\"", "K\xC3\xB6ln"};
    struct vertex_names *names = names_of(list, 3);
    const uint32_t rows[] = {2, 0};
    const struct axis two = {NULL, 0, 2};
    const struct axis second = {NULL, 1, 1};
    const struct grid grid = {KIND_I4, names, {rows, 0, 2}, two, two, find_named_row, NULL};

    expect(GRID_CSV_NAMED, &grid, ",\"a,b\",\"the \"\"x\"\"\"\nK\xC3\xB6ln,,-6\n\"a,b\",0,5\n");
    expect(GRID_JSON, &grid,
           "{\"sources\":[\"K\xC3\xB6ln\",\"a,b\"],\"destinations\":[\"a,b\",\"the \\\"x\\\"\"],"
           "\"distances\":[[null,-6],[0,5]]}\n");
    const struct grid one = {KIND_I4, names, {rows, 0, 1}, second, second, find_named_row, NULL};
    expect(GRID_ROW, &one,
           "{\"source\":\"K\xC3\xB6ln\",\"destinations\":[\"the \\\"x\\\"\"],"
           "\"distances\":[-6]}\n");
    vertex_names_destroy(names);
}

TEST(a_grid_may_have_no_rows_or_columns)
{
    struct vertex_names *names;

    assert_int_equal(vertex_names_create_range(3, 0, &names), STATUS_OK);
    const struct axis all = {NULL, 0, 3};
    const struct axis no = {NULL, 0, 0};
    const struct grid rows = {KIND_I4, names, no, all, all, find_named_row, NULL};
    const struct grid columns = {KIND_I4, names, all, no, no, find_named_row, NULL};
    expect(GRID_JSON, &rows, "{\"sources\":[],\"destinations\":[0,1,2],\"distances\":[]}\n");
    expect(GRID_JSON, &columns,
           "{\"sources\":[0,1,2],\"destinations\":[],\"distances\":[[],[],[]]}\n");
    expect(GRID_CSV, &rows, "");
    expect(GRID_MTX, &columns,
           "%%MatrixMarket matrix array real general\n% inf: unreachable\n3 0\n");
    vertex_names_destroy(names);
}

#define WIDE 3000

static enum status find_wide_row(void *context, uint32_t index, const void **ret_elements)
{
    (void)index;
    *ret_elements = context;
    return STATUS_OK;
}

/* The text of the grid's cells and names is longer than one piece of the text. */
TEST(a_text_longer_than_one_piece_is_complete)
{
    int32_t *row = calloc(WIDE, sizeof *row);
    struct vertex_names *names;
    struct text text = {0};

    assert_non_null(row);
    for (int32_t i = 0; i < WIDE; i++) {
        row[i] = i;
    }
    assert_int_equal(vertex_names_create_range(WIDE, 0, &names), STATUS_OK);
    const struct axis wide = {NULL, 0, WIDE};
    const struct grid grid = {KIND_I4, names, {NULL, 0, 2}, wide, wide, find_wide_row, row};
    text_append_string(&text, "{\"sources\":[0,1],\"destinations\":[");
    for (int i = 0; i < WIDE; i++) {
        text_printf(&text, "%s%d", i > 0 ? "," : "", i);
    }
    text_append_string(&text, "],\"distances\":[[");
    for (int i = 0; i < 2 * WIDE; i++) {
        text_printf(&text, "%s%d", i == WIDE ? "],[" : i > 0 ? "," : "", i % WIDE);
    }
    text_append_string(&text, "]]}\n");
    expect(GRID_JSON, &grid, text.bytes);
    text_clear(&text);
    text_append_string(&text, "%%MatrixMarket matrix array real general\n% inf: unreachable\n");
    text_printf(&text, "%d 2\n", WIDE);
    for (int i = 0; i < 2 * WIDE; i++) {
        text_printf(&text, "%d\n", i % WIDE);
    }
    const struct grid columns = {KIND_I4, names, wide, {NULL, 0, 2}, wide, find_wide_row, row};
    expect(GRID_MTX, &columns, text.bytes);
    vertex_names_destroy(names);
    text_finish(&text);
    free(row);
}
