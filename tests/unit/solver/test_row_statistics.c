#include "server/solver/steps.h"

#include <math.h>
/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* Any numbers will do: nobody asks whether they are distances. One in three is unreachable. */
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

/* As the header words it, and in no other way. */
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

/* What one pass in the plainest way finds. */
struct expectation {
    double *values; /* the row in hand; +infinity for the diagonal */
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

static void check(const struct matrix *matrix, const struct statistics *statistics)
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

/* Filled on one thread and on three, which must not make a difference. */
static void run_and_check(const struct matrix *matrix, enum kind kind)
{
    const size_t size = statistics_size(matrix->vertex_count);
    void *storage[2] = {malloc(size), malloc(size)};
    assert_true(storage[0] != NULL && storage[1] != NULL);
    for (uint32_t i = 0; i < 2; ++i) {
        struct cpu_pool *pool;
        assert_int_equal(cpu_pool_create(1 + 2 * i, &pool), STATUS_OK);
        struct statistics statistics = statistics_init(storage[i], matrix->vertex_count, kind);
        row_statistics_run(pool, matrix, &statistics);
        check(matrix, &statistics);
        cpu_pool_destroy(pool);
    }
    assert_memory_equal(storage[0], storage[1], size);
    free(storage[0]);
    free(storage[1]);
}

static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F4, KIND_F8};

static void every_kind_and_size_is_as_the_plainest_way_finds(void **state)
{
    (void)state;
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

static void distances_below_zero_move_the_bins(void **state)
{
    (void)state;
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

static void a_matrix_on_its_way_to_u2_is_reduced_as_i4(void **state)
{
    (void)state;
    struct matrix matrix = make_random(50, KIND_I4, false);
    run_and_check(&matrix, KIND_U2);
    free(matrix.elements);
}

static void extremes_fit(void **state)
{
    (void)state;
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

/* Its entry is no distance, whatever it says. */
static void the_diagonal_is_not_read(void **state)
{
    (void)state;
    struct matrix matrix = make_random(3, KIND_I4, false);
    put(&matrix, 4, 1e6);
    run_and_check(&matrix, KIND_I4);
    free(matrix.elements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_size_is_as_the_plainest_way_finds),
        cmocka_unit_test(distances_below_zero_move_the_bins),
        cmocka_unit_test(a_matrix_on_its_way_to_u2_is_reduced_as_i4),
        cmocka_unit_test(extremes_fit),
        cmocka_unit_test(the_diagonal_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
