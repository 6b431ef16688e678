#include "proto/nearest.h"

#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(const struct nearest_query *query, const uint32_t *rows, size_t count)
{
    uint32_t *found;
    size_t size;

    assert_int_equal(nearest_find(query, &found, &size), STATUS_OK);
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

        assert_int_equal(nearest_find(&query, &found, &size), STATUS_OK);
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
        cmocka_unit_test(the_nearest_come_in_order),
        cmocka_unit_test(a_random_row_is_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
