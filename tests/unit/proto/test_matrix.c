#include "proto/matrix.h"

#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void sizes_overflow_into_a_status(void **state)
{
    size_t bytes;

    (void)state;
    assert_int_equal(matrix_size(3, KIND_F8, &bytes), STATUS_OK);
    assert_int_equal(bytes, 72);
    assert_int_equal(matrix_size(UINT32_MAX, KIND_I4, &bytes), STATUS_TOO_LARGE);
}

static void unreachable_is_no_distance(void **state)
{
    int32_t i4[] = {0, UNREACHABLE_I4, -5, 0};
    float f4[] = {0, INFINITY, 2.5F, 0};
    struct matrix integers = {2, KIND_I4, i4};
    struct matrix floats = {2, KIND_F4, f4};
    double distance = 1;

    (void)state;
    assert_false(matrix_distance(&integers, 0, 1, &distance));
    assert_true(matrix_distance(&integers, 1, 0, &distance) && distance == -5);
    assert_false(matrix_distance(&floats, 0, 1, &distance));
    assert_true(matrix_distance(&floats, 1, 0, &distance) && distance == 2.5);
}

static void narrowing_never_loses(void **state)
{
    int32_t i4[] = {0, UNREACHABLE_I4, 65534, 0};
    uint16_t u2[4];
    struct matrix from = {2, KIND_I4, i4};
    struct matrix to = {2, KIND_U2, u2};

    (void)state;
    assert_int_equal(matrix_narrow(&from, &to), STATUS_OK);
    assert_int_equal(u2[1], UNREACHABLE_U2);
    assert_int_equal(u2[2], 65534);
    i4[2] = 65535;
    assert_int_equal(matrix_narrow(&from, &to), STATUS_WEIGHT_RANGE);
    i4[2] = -1;
    assert_int_equal(matrix_narrow(&from, &to), STATUS_WEIGHT_RANGE);
}

static void expect(const struct nearest_query *query, const uint32_t *rows, size_t count)
{
    uint32_t *found;
    size_t size;

    assert_int_equal(matrix_nearest(query, &found, &size), STATUS_OK);
    assert_int_equal(size, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i], rows[i]);
    }
    free(found);
}

static void the_nearest_come_in_order(void **state)
{
    const int32_t distances[] = {7, 0, UNREACHABLE_I4, 3, -2, 3};
    const uint32_t rows[] = {4, 3, 5, 0};
    struct nearest_query query = {KIND_I4, distances, 6, 1, 1, INFINITY};

    (void)state;
    for (query.count = 0; query.count <= 4; query.count++) {
        expect(&query, rows, query.count);
    }
    query.count = UINT32_MAX;
    expect(&query, rows, 4);
    query.within = 3;
    expect(&query, rows, 3);
    query.within = -2.5;
    expect(&query, rows, 0);
}

static void a_random_row_is_sorted(void **state)
{
    float distances[500];
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 500; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        distances[i] = seed >> 60 == 0 ? INFINITY : (float)(seed >> 33 & 63) / 4;
    }
    for (uint32_t count = 1; count <= 500; count += 37) {
        const struct nearest_query query = {KIND_F4, distances, 500, 77, count, 12};
        uint32_t *found;
        size_t size;
        size_t nearer = 0;

        assert_int_equal(matrix_nearest(&query, &found, &size), STATUS_OK);
        for (size_t i = 0; i < size; i++) {
            const float distance = distances[found[i]];
            const float before = i == 0 ? -1 : distances[found[i - 1]];

            assert_true(found[i] != 77 && distance <= 12);
            assert_true(before < distance || (before == distance && found[i - 1] < found[i]));
        }
        /* None that was left out is nearer than the last. */
        for (uint32_t v = 0; v < 500; v++) {
            nearer +=
                v != 77 && size > 0 && (double)distances[v] < (double)distances[found[size - 1]];
        }
        assert_true(size > 0 && size <= count && nearer < size);
        free(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_overflow_into_a_status),
        cmocka_unit_test(unreachable_is_no_distance),
        cmocka_unit_test(narrowing_never_loses),
        cmocka_unit_test(the_nearest_come_in_order),
        cmocka_unit_test(a_random_row_is_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
