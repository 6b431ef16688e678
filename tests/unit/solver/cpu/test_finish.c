#include "proto/statistics_rows.h"
#include "server/solver/cpu/finish.h"
#include "server/solver/cpu/tiles.h"
#include "tests/lib/matrix_fixture.h"
#include "tests/lib/tiles_fixture.h"

#include <math.h>

/* Number of vertices of a matrix that has several tiles, the last of which is narrow. */
#define VERTICES 700

/* Returns an invented distance, or infinity for some pairs. If the matrix is symmetric, the
 * distance is the same in both directions. */
static double distance(uint32_t row, uint32_t column, bool symmetric)
{
    const uint32_t low = symmetric && column < row ? column : row;
    const uint32_t high = symmetric && column < row ? row : column;
    return (low + high) % 11 == 0 ? (double)INFINITY : (low * 31 + high * 17) % 9973;
}

static double stored_distance(enum arithmetic arithmetic, double value)
{
    if (isinf(value) && arithmetic == ARITHMETIC_I4) {
        return UNREACHABLE_I4;
    }
    return isinf(value) && arithmetic == ARITHMETIC_NARROW ? NARROW_UNREACHABLE : value;
}

/* Fills the tiles with what a solve would leave in them, in the plan's vertex order. In a symmetric
 * matrix, only the tiles of the lower half and of the diagonal are filled, and the halves of a
 * diagonal tile differ slightly. */
static void solve(const struct cpu_tiles *tiles, bool symmetric)
{
    for (uint32_t row = 0; row < tiles->vertex_count; ++row) {
        for (uint32_t column = 0; column < tiles->vertex_count; ++column) {
            const uint32_t *vertex_at = tiles->plan->vertex_at;
            const uint32_t row_tile = tiles->tile_of[row];
            const uint32_t column_tile = tiles->tile_of[column];
            const struct cpu_block block = cpu_tiles_block(tiles, row_tile, column_tile);
            const double value =
                distance(vertex_at != NULL ? vertex_at[row] : row,
                         vertex_at != NULL ? vertex_at[column] : column, symmetric);
            const bool missing = symmetric && row < column;
            cpu_tiles_store(tiles->arithmetic, block.elements,
                            (row - tiles->begin[row_tile]) * block.stride +
                                (column - tiles->begin[column_tile]),
                            missing ? 1 : stored_distance(tiles->arithmetic, value));
        }
    }
}

enum place { IN_PLACE, ORDERED, BESIDE };

static void check(uint32_t n, enum kind kind, enum arithmetic arithmetic, enum place place,
                  bool symmetric)
{
    const struct cpu_solve_options options = {.symmetric = symmetric};
    struct tiles_fixture fixture;
    tiles_fixture_open(n, kind, arithmetic, place != IN_PLACE, &fixture);
    void *beside = malloc((size_t)n * n * sizeof(double));
    assert_non_null(beside);
    if (place == BESIDE) {
        fixture.tiles.elements = beside;
    }
    solve(&fixture.tiles, symmetric);
    assert_int_equal(cpu_finish_run(pool, &fixture.tiles, &options, &fixture.matrix), STATUS_OK);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            double found = INFINITY;
            if (!matrix_distance(&fixture.matrix, row, column, &found)) {
                found = INFINITY;
            }
            assert_true(found == distance(row, column, symmetric));
        }
    }
    free(beside);
    tiles_fixture_close(&fixture);
}

static void check_kinds(enum place place, bool symmetric)
{
    static const uint32_t sizes[] = {1, 2, 128, 129, 257, VERTICES};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        check(sizes[index], KIND_I4, ARITHMETIC_I4, place, symmetric);
        check(sizes[index], KIND_I4, ARITHMETIC_NARROW, place, symmetric);
        check(sizes[index], KIND_U2, ARITHMETIC_NARROW, place, symmetric);
        if (place == BESIDE) {
            check(sizes[index], KIND_U2, ARITHMETIC_I4, place, symmetric);
        }
        check(sizes[index], KIND_F4, ARITHMETIC_F4, place, symmetric);
        check(sizes[index], KIND_F8, ARITHMETIC_F8, place, symmetric);
    }
}

TEST(tiles_are_converted_to_rows_in_place)
{
    check_kinds(IN_PLACE, false);
}

TEST(rows_return_to_the_original_vertex_order)
{
    check_kinds(ORDERED, false);
}

TEST(tiles_outside_the_matrix_are_copied_to_its_rows)
{
    check_kinds(BESIDE, false);
    check_kinds(BESIDE, true);
}

TEST(the_upper_triangle_is_filled_from_the_lower_triangle)
{
    check_kinds(IN_PLACE, true);
    check_kinds(ORDERED, true);
}

TEST(entries_that_drifted_below_the_unreachable_value_are_restored)
{
    static const int32_t before[] = {UNREACHABLE_I4_DRIFT, UNREACHABLE_I4_DRIFT + 1,
                                     UNREACHABLE_I4 - 1, -UNREACHABLE_I4_DRIFT};
    static const int32_t after[] = {UNREACHABLE_I4_DRIFT, UNREACHABLE_I4, UNREACHABLE_I4,
                                    -UNREACHABLE_I4_DRIFT};
    const struct cpu_solve_options drifted = {.negative = true};
    for (int ordered = 0; ordered < 2; ++ordered) {
        struct tiles_fixture fixture;
        tiles_fixture_open(300, KIND_I4, ARITHMETIC_I4, ordered != 0, &fixture);
        int32_t *elements = fixture.matrix.elements;
        for (size_t index = 0; index < (size_t)300 * 300; ++index) {
            elements[index] = before[index % 4];
        }
        assert_int_equal(cpu_finish_run(pool, &fixture.tiles, &drifted, &fixture.matrix),
                         STATUS_OK);
        size_t counts[4] = {0};
        for (size_t index = 0; index < (size_t)300 * 300; ++index) {
            for (size_t value = 0; value < 4; ++value) {
                counts[value] += elements[index] == after[value] ? 1 : 0;
            }
        }
        assert_true(counts[0] == 22500 && counts[1] == 45000 && counts[3] == 22500);
        tiles_fixture_close(&fixture);
    }
}

TEST(a_distance_beyond_the_range_of_u2_is_refused)
{
    static const struct cpu_solve_options options = {0};
    static const int32_t limits[] = {UNREACHABLE_U2 - 1, UNREACHABLE_U2, -1};
    int32_t wide[9] = {0};
    struct tiles_fixture fixture;
    tiles_fixture_open(3, KIND_U2, ARITHMETIC_I4, false, &fixture);
    fixture.tiles.elements = wide;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        wide[5] = limits[i];
        assert_int_equal(cpu_finish_run(pool, &fixture.tiles, &options, &fixture.matrix),
                         i == 0 ? STATUS_OK : STATUS_WEIGHT_RANGE);
    }
    tiles_fixture_close(&fixture);
}

TEST(a_negative_diagonal_is_detected)
{
    static const enum kind kinds[] = {KIND_F4, KIND_F8};
    for (size_t i = 0; i < 2; ++i) {
        struct tiles_fixture fixture;
        const enum arithmetic arithmetic = i == 0 ? ARITHMETIC_F4 : ARITHMETIC_F8;
        tiles_fixture_open(CPU_TILE + 9, kinds[i], arithmetic, i == 0, &fixture);
        const struct cpu_block block = cpu_tiles_block(&fixture.tiles, 1, 1);
        cpu_tiles_store(arithmetic, block.elements, block.stride, -5);
        assert_true(cpu_tiles_check_diagonal(&fixture.tiles));
        cpu_tiles_store(arithmetic, block.elements, block.stride + 1, -1e-6);
        assert_false(cpu_tiles_check_diagonal(&fixture.tiles));
        tiles_fixture_close(&fixture);
    }
}

TEST(each_thread_needs_memory_for_a_band_and_a_row)
{
    assert_int_equal(cpu_finish_bytes(2, 1000, ARITHMETIC_I4), 2 * 129 * 1000 * 4);
    assert_int_equal(cpu_finish_bytes(3, 100, ARITHMETIC_NARROW), 3 * 101 * 100 * 2);
}

static uint64_t random_state = 1;

static uint32_t draw(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

static void put(struct matrix *matrix, size_t index, double distance)
{
    switch (matrix->kind) {
    case KIND_I4:
        ((int32_t *)matrix->elements)[index] = isinf(distance) ? UNREACHABLE_I4 : (int32_t)distance;
        break;
    case KIND_U2:
        ((uint16_t *)matrix->elements)[index] =
            isinf(distance) ? UNREACHABLE_U2 : (uint16_t)distance;
        break;
    case KIND_F4:
        ((float *)matrix->elements)[index] = (float)distance;
        break;
    case KIND_F8:
        ((double *)matrix->elements)[index] = distance;
        break;
    case KIND_AUTO:
    case KIND_COUNT:
        fail();
    }
}

static struct matrix make_matrix(uint32_t n, enum kind kind)
{
    size_t bytes;
    assert_int_equal(matrix_size(n, kind, &bytes), STATUS_OK);
    struct matrix matrix = {n, kind, malloc(bytes + 1)};
    assert_non_null(matrix.elements);
    return matrix;
}

/* Makes a matrix of random numbers, a third of which are unreachable. The numbers need not be
 * distances of a graph. */
static struct matrix make_random(uint32_t n, enum kind kind, bool negative)
{
    struct matrix matrix = make_matrix(n, kind);
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        double distance = draw(3) == 0 ? (double)INFINITY : draw(60000);
        if (negative) {
            distance -= 20000;
        }
        put(&matrix, i, kind_is_float(kind) ? distance * 0.1 : distance);
    }
    for (size_t i = 0; i < n; ++i) {
        put(&matrix, i * (n + 1), 0);
    }
    return matrix;
}

/* Returns the sum of the values, added in the order that proto/statistics_rows.h defines. */
static double sum_in_order(const double *values, uint32_t n)
{
    double partial[STATISTICS_LANES] = {0};
    for (uint32_t j = 0; j < n; ++j) {
        partial[j % STATISTICS_LANES] += isinf(values[j]) ? 0 : values[j];
    }
    double sum = 0;
    for (const double *group = partial; group < partial + STATISTICS_LANES; group += 128) {
        double quad[32];
        for (int q = 0; q < 32; ++q) {
            quad[q] = (group[4 * q] + group[4 * q + 1]) + (group[4 * q + 2] + group[4 * q + 3]);
        }
        for (int half = 16; half >= 1; half /= 2) {
            for (int q = 0; q < half; ++q) {
                quad[q] += quad[q + half];
            }
        }
        sum += quad[0];
    }
    return sum;
}

struct expectation {
    double *values; /* the current row; +infinity on the diagonal */
    double diameter;
    double radius;
    double lowest;
    uint64_t pairs;
    uint64_t bins[STATISTICS_BINS];
};

static void read_row(const struct matrix *matrix, uint32_t row, double *values)
{
    for (uint32_t j = 0; j < matrix->vertex_count; ++j) {
        values[j] = INFINITY;
        if (j != row && !matrix_distance(matrix, row, j, &values[j])) {
            values[j] = INFINITY;
        }
    }
}

static void check_row(const struct statistics *statistics, uint32_t row,
                      struct expectation *expected)
{
    double most = -INFINITY;
    uint32_t count = 0;
    int64_t sum = 0;
    for (uint32_t j = 0; j < statistics->vertex_count; ++j) {
        const double value = expected->values[j];
        if (!isinf(value)) {
            most = fmax(most, value);
            expected->lowest = fmin(expected->lowest, value);
            sum += kind_is_float(statistics->kind) ? 0 : (int64_t)value;
            ++count;
        }
    }
    assert_int_equal(statistics->reachable[row], count);
    assert_true(statistics->eccentricity[row] == (count > 0 ? most : 0));
    assert_false(signbit(statistics->eccentricity[row]) && statistics->eccentricity[row] == 0);
    if (kind_is_float(statistics->kind)) {
        assert_true(statistics->distance_sum[row].real ==
                    sum_in_order(expected->values, statistics->vertex_count));
    } else {
        assert_int_equal(statistics->distance_sum[row].integer, sum);
    }
    if (count > 0) {
        expected->pairs += count;
        expected->diameter = fmax(expected->diameter, most);
        expected->radius = fmin(expected->radius, most);
    }
}

static void count_row(const struct statistics *statistics, struct expectation *expected)
{
    const struct statistics_summary *summary = statistics->summary;
    for (uint32_t j = 0; j < statistics->vertex_count; ++j) {
        const double value = expected->values[j];
        if (!isinf(value)) {
            const double place = floor((value - summary->bin_begin) / summary->bin_width);
            ++expected->bins[place > 63 ? 63 : (size_t)place];
        }
    }
}

static void check_statistics(const struct matrix *matrix, const struct statistics *statistics)
{
    const uint32_t n = matrix->vertex_count;
    struct expectation expected = {.diameter = -INFINITY, .radius = INFINITY};
    expected.values = malloc((n + 1) * sizeof(double));
    assert_non_null(expected.values);
    for (uint32_t row = 0; row < n; ++row) {
        read_row(matrix, row, expected.values);
        check_row(statistics, row, &expected);
    }
    for (uint32_t row = 0; row < n; ++row) {
        read_row(matrix, row, expected.values);
        count_row(statistics, &expected);
    }
    const struct statistics_summary *summary = statistics->summary;
    assert_int_equal(summary->reachable_pairs, expected.pairs);
    if (expected.pairs > 0) {
        assert_true(summary->diameter == expected.diameter);
        assert_true(summary->radius == expected.radius);
        assert_true(summary->bin_begin == expected.lowest);
        assert_memory_equal(summary->bins, expected.bins, sizeof(expected.bins));
    }
    free(expected.values);
}

/* Computes the statistics with one thread and with three threads. Both must equal the expected
 * statistics. */
static void run_and_check(const struct matrix *matrix, enum kind kind)
{
    const size_t size = statistics_size(matrix->vertex_count);
    void *storage[2] = {malloc(size), malloc(size)};
    assert_true(storage[0] != NULL && storage[1] != NULL);
    for (uint32_t i = 0; i < 2; ++i) {
        struct cpu_pool *threads;
        assert_int_equal(cpu_pool_create(1 + 2 * i, &threads), STATUS_OK);
        struct statistics statistics = statistics_init(storage[i], matrix->vertex_count, kind);
        cpu_finish_statistics(threads, matrix, NULL, &statistics);
        check_statistics(matrix, &statistics);
        cpu_pool_destroy(threads);
    }
    assert_memory_equal(storage[0], storage[1], size);
    free(storage[0]);
    free(storage[1]);
}

static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F4, KIND_F8};

TEST(statistics_of_every_kind_and_size_match_the_naive_result)
{
    static const uint32_t sizes[] = {0,   1,   2,   3,   15,  16,   17,   31,  33,
                                     127, 128, 129, 255, 257, 1023, 1025, 1153};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
            struct matrix matrix = make_random(sizes[i], kinds[k], false);
            run_and_check(&matrix, kinds[k]);
            free(matrix.elements);
        }
    }
}

TEST(statistics_of_negative_distances_are_correct)
{
    for (uint32_t n = 2; n < 70; n += 7) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
            if (kinds[k] != KIND_U2) {
                struct matrix matrix = make_random(n, kinds[k], true);
                run_and_check(&matrix, kinds[k]);
                free(matrix.elements);
            }
        }
    }
}

TEST(extreme_distances_have_correct_statistics)
{
    static const struct {
        enum kind kind;
        double distance;
    } extremes[] = {{KIND_I4, UNREACHABLE_I4_DRIFT},
                    {KIND_I4, -UNREACHABLE_I4_DRIFT},
                    {KIND_U2, UNREACHABLE_U2 - 1},
                    {KIND_F4, 3.4e38},
                    {KIND_F4, -0.0},
                    {KIND_F8, 1e308},
                    {KIND_F8, -1e308},
                    {KIND_F8, 5e-324}};
    for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); ++i) {
        struct matrix matrix = make_matrix(2, extremes[i].kind);
        put(&matrix, 0, 0);
        put(&matrix, 1, extremes[i].distance);
        put(&matrix, 2, INFINITY);
        put(&matrix, 3, 0);
        run_and_check(&matrix, extremes[i].kind);
        put(&matrix, 2, 0);
        run_and_check(&matrix, extremes[i].kind);
        free(matrix.elements);
    }
}

/* The diagonal entries are not distances between two vertices, so any value is allowed there. */
TEST(the_diagonal_is_not_read)
{
    struct matrix matrix = make_random(3, KIND_I4, false);
    put(&matrix, 4, 1e6);
    run_and_check(&matrix, KIND_I4);
    free(matrix.elements);
}

TEST_GROUP(create_pool, destroy_pool)
