#include "proto/nearest.h"
#include "tests/lib/test.h"

#include <math.h>

static void expect(const struct nearest_query *query, const uint32_t *rows, size_t count)
{
    struct nearest nearest;

    assert_int_equal(nearest_begin(&nearest, query), STATUS_OK);
    while (!nearest_step(&nearest)) {
    }
    assert_int_equal(nearest.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(nearest.rows[i], rows[i]);
    }
    nearest_finish(&nearest);
}

TEST(the_nearest_vertices_are_listed_in_order_of_distance)
{
    const int32_t distances[] = {7, 0, UNREACHABLE_I4, 3, -2, 3};
    const uint32_t rows[] = {4, 3, 5, 0};
    struct nearest_query query = {KIND_I4, distances, 6, 1, 1, INFINITY};

    for (query.count = 0; query.count <= 4; query.count++) {
        expect(&query, rows, query.count);
    }
    query.count = UINT32_MAX;
    expect(&query, rows, 4);
    query.within = 3;
    expect(&query, rows, 3);
    query.within = -2.5;
    expect(&query, rows, 0);
    query.vertex_count = 0;
    expect(&query, rows, 0);
}

TEST(the_nearest_vertices_of_a_random_row_are_found)
{
    float distances[500];
    uint64_t seed = 1;

    for (int i = 0; i < 500; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        distances[i] = seed >> 60 == 0 ? INFINITY : (float)(seed >> 33 & 63) / 4;
    }
    for (uint32_t count = 1; count <= 500; count += 37) {
        const struct nearest_query query = {KIND_F4, distances, 500, 77, count, 12};
        struct nearest nearest;
        size_t nearer = 0;

        assert_int_equal(nearest_begin(&nearest, &query), STATUS_OK);
        while (!nearest_step(&nearest)) {
        }
        const size_t size = nearest.count;
        const uint32_t *found = nearest.rows;
        for (size_t i = 0; i < size; i++) {
            const float distance = distances[found[i]];
            const float before = i == 0 ? -1 : distances[found[i - 1]];

            assert_true(found[i] != 77 && distance <= 12);
            assert_true(before < distance || (before == distance && found[i - 1] < found[i]));
        }
        /* Every vertex nearer than the last vertex of the list must be in the list. */
        for (uint32_t v = 0; v < 500; v++) {
            nearer +=
                v != 77 && size > 0 && (double)distances[v] < (double)distances[found[size - 1]];
        }
        assert_true(size > 0 && size <= count && nearer < size);
        nearest_finish(&nearest);
    }
}

/* One step sorts at most a few thousand rows of a graph of any size. */
TEST(sorting_many_rows_takes_many_steps)
{
    enum { N = 300000 };
    int32_t *distances = calloc(N, sizeof(*distances));
    struct nearest nearest;
    size_t steps = 1;

    assert_non_null(distances);
    for (uint32_t i = 0; i < N; i++) {
        distances[i] = (int32_t)(i * 2654435761u >> 8);
    }
    const struct nearest_query query = {KIND_I4, distances, N, 0, UINT32_MAX, INFINITY};

    assert_int_equal(nearest_begin(&nearest, &query), STATUS_OK);
    while (!nearest_step(&nearest)) {
        steps++;
    }
    assert_int_equal(nearest.count, N - 1);
    assert_in_range(steps, 50, 150);
    for (size_t i = 1; i < nearest.count; i++) {
        assert_true(distances[nearest.rows[i - 1]] <= distances[nearest.rows[i]]);
    }
    nearest_finish(&nearest);
    free(distances);
}
