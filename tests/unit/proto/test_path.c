#include "proto/path.h"

#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/verification.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#include <math.h>

#define MOST_VERTICES 24

/* A graph, and its distances, which the plain triple loop (Floyd-Warshall) computes. */
struct trial {
    struct graph *graph;
    struct adjacency *adjacency;
    struct path_finder *finder;
    double distance[MOST_VERTICES][MOST_VERTICES];
};

static void solve(struct trial *trial)
{
    const struct graph *graph = trial->graph;
    const uint32_t n = graph->vertex_count;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            trial->distance[i][j] = i == j ? 0 : INFINITY;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint64_t edge = graph->row_offset[i]; edge < graph->row_offset[i + 1]; edge++) {
            trial->distance[i][graph->target[edge]] = graph_weight(graph, edge);
            if (!graph->directed)
                trial->distance[graph->target[edge]][i] = graph_weight(graph, edge);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n; j++)
                trial->distance[i][j] =
                    fmin(trial->distance[i][j], trial->distance[i][k] + trial->distance[k][j]);
        }
    }
}

static void open_trial(struct trial *trial, const char *json)
{
    struct graph_options options = {.vertex_limit = 100, .edge_limit = 10000};

    assert_int_equal(read_graph(FORMAT_JSON, &options, json, strlen(json), 64, &trial->graph, NULL),
                     STATUS_OK);
    assert_true(trial->graph->vertex_count <= MOST_VERTICES);
    assert_int_equal(adjacency_create(trial->graph, &trial->adjacency), STATUS_OK);
    assert_int_equal(path_finder_create(trial->adjacency, &trial->finder), STATUS_OK);
    solve(trial);
}

static void close_trial(struct trial *trial)
{
    path_finder_destroy(trial->finder);
    adjacency_destroy(trial->adjacency);
    graph_destroy(trial->graph);
}

static bool has_edge(const struct trial *trial, uint32_t from, uint32_t to, double weight)
{
    const struct adjacency *adjacency = trial->adjacency;

    for (uint64_t edge = adjacency->offset[to]; edge < adjacency->offset[to + 1]; edge++) {
        if (adjacency->source[edge] == from)
            return adjacency_weight(adjacency, edge) == weight;
    }
    return false;
}

static void expect_path(const struct trial *trial, const struct path *path, uint32_t source,
                        uint32_t target, double tolerance)
{
    const double distance = trial->distance[source][target];
    bool seen[MOST_VERTICES] = {false};
    double scale = fabs(distance);
    double sum = 0;

    if (isinf(distance)) {
        assert_int_equal(path->count, 0);
        return;
    }
    assert_true(path->count > 0 && path->count <= trial->graph->vertex_count);
    assert_int_equal(path->vertices[0], source);
    assert_int_equal(path->vertices[path->count - 1], target);
    for (uint32_t i = 0; i < path->count; i++) {
        assert_false(seen[path->vertices[i]]);
        seen[path->vertices[i]] = true;
    }
    for (uint32_t i = 0; i + 1 < path->count; i++) {
        assert_true(has_edge(trial, path->vertices[i], path->vertices[i + 1], path->weights[i]));
        sum += path->weights[i];
        scale += fabs(path->weights[i]);
    }
    assert_true(fabs(sum - distance) <= tolerance * scale);
}

/* Finds the paths of all pairs from rows of distances of this kind, and checks the paths. */
static void expect_paths(const struct trial *trial, enum kind kind)
{
    const uint32_t n = trial->graph->vertex_count;

    for (uint32_t i = 0; i < n; i++) {
        int32_t integers[MOST_VERTICES];
        float singles[MOST_VERTICES];

        for (uint32_t j = 0; j < n; j++) {
            integers[j] =
                isinf(trial->distance[i][j]) ? UNREACHABLE_I4 : (int32_t)trial->distance[i][j];
            singles[j] = (float)trial->distance[i][j];
        }
        const void *row = kind == KIND_I4   ? (const void *)integers
                          : kind == KIND_F4 ? (const void *)singles
                                            : (const void *)trial->distance[i];
        for (uint32_t j = 0; j < n; j++) {
            struct path path;

            assert_int_equal(path_find(trial->finder, kind, row, i, j, &path), STATUS_OK);
            expect_path(trial, &path, i, j, verification_tolerance(kind));
        }
    }
}

/* Checks paths in random graphs. weight: maps a random number below 100 to the weight of i-j. */
static void expect_random_paths(enum kind kind,
                                double (*weight)(unsigned draw, unsigned i, unsigned j))
{
    uint64_t seed = 7;

    for (int round = 0; round < 60; round++) {
        struct trial trial;
        struct text json = {0};
        const unsigned n = 2 + (unsigned)round % (MOST_VERTICES - 2);

        text_printf(&json, "{\"n\":%u,\"directed\":%s,\"edges\":[[0,1,%.17g]", n,
                    round % 3 == 0 && weight(0, 0, 1) >= 0 && weight(0, 1, 0) >= 0 ? "false"
                                                                                   : "true",
                    weight(50, 0, 1));
        for (unsigned edge = 0; edge < n * 3; edge++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const unsigned i = (unsigned)(seed >> 33) % n;
            const unsigned j = (unsigned)(seed >> 43) % n;

            text_printf(&json, ",[%u,%u,%.17g]", i, j,
                        i == j ? 1.0 : weight((unsigned)(seed >> 53) % 100, i, j));
        }
        text_append_string(&json, "]}");
        open_trial(&trial, json.bytes);
        expect_paths(&trial, kind);
        close_trial(&trial);
        text_finish(&json);
    }
}

static double mostly_zero(unsigned draw, unsigned i, unsigned j)
{
    (void)i;
    (void)j;
    return draw < 80 ? 0 : draw;
}

/* Returns a weight that is a difference of potentials, plus a small amount in some cases. The
 * potentials cancel out along a cycle, so the length of a cycle is at least 0, and often exactly
 * 0. */
static double of_potentials(unsigned draw, unsigned i, unsigned j)
{
    return (i * 37 % 23) * 11.0 - (j * 37 % 23) * 11.0 + (draw < 70 ? 0 : draw);
}

static double small_decimals(unsigned draw, unsigned i, unsigned j)
{
    (void)i;
    (void)j;
    return draw < 30 ? 0 : draw < 60 ? draw * 1e-7 : draw * 0.1;
}

TEST(a_path_search_does_not_loop_in_cycles_of_length_zero)
{
    expect_random_paths(KIND_I4, mostly_zero);
}

TEST(paths_may_have_negative_weights)
{
    expect_random_paths(KIND_I4, of_potentials);
    expect_random_paths(KIND_F8, of_potentials);
}

TEST(paths_are_found_from_rounded_distances)
{
    expect_random_paths(KIND_F4, small_decimals);
    expect_random_paths(KIND_F8, small_decimals);
}

TEST(a_path_search_leaves_a_dead_end_of_zero_weight_edges)
{
    struct trial trial;
    struct path path;
    int32_t row[] = {0, 9, 9, 9};

    /* The search goes backwards from vertex 3 to 1 or 2, which form a cycle of length 0. Vertex 0
     * has an edge only to 2. */
    open_trial(&trial, "{\"n\":4,\"edges\":[[0,2,9],[2,1,0],[1,2,0],[1,3,0],[2,3,0]]}");
    assert_int_equal(path_find(trial.finder, KIND_I4, row, 0, 3, &path), STATUS_OK);
    expect_path(&trial, &path, 0, 3, 0);
    close_trial(&trial);
}

/* The graph is a star around vertex 0, in which the search enters one dead end after another. */
TEST(dead_ends_are_visited_once)
{
    enum { LEAVES = 2000 };
    struct graph_options options = {.vertex_limit = LEAVES + 2, .edge_limit = 3 * LEAVES};
    struct text json = {0};
    struct trial trial;
    struct path path;
    static int32_t row[LEAVES + 2];

    /* The only path from vertex LEAVES + 1 to vertex 0 leads through the last leaf. */
    text_printf(&json, "{\"n\":%d,\"edges\":[[%d,%d,0]", LEAVES + 2, LEAVES + 1, LEAVES);
    for (int leaf = 1; leaf <= LEAVES; leaf++) {
        text_printf(&json, ",[0,%d,0],[%d,0,0]", leaf, leaf);
    }
    text_append_string(&json, "]}");
    assert_int_equal(
        read_graph(FORMAT_JSON, &options, json.bytes, json.size, 64, &trial.graph, NULL),
        STATUS_OK);
    assert_int_equal(adjacency_create(trial.graph, &trial.adjacency), STATUS_OK);
    assert_int_equal(path_finder_create(trial.adjacency, &trial.finder), STATUS_OK);
    assert_int_equal(path_find(trial.finder, KIND_I4, row, LEAVES + 1, 0, &path), STATUS_OK);
    assert_int_equal(path.count, 3);
    assert_int_equal(path.vertices[1], LEAVES);
    assert_in_range(path.edges, LEAVES, 2 * trial.graph->edge_count);
    close_trial(&trial);
    text_finish(&json);
}

TEST(distances_from_a_different_graph_are_detected)
{
    struct trial trial;
    struct path path;
    int32_t row[] = {0, 4, 5};

    open_trial(&trial, "{\"n\":3,\"edges\":[[0,1,3],[1,2,1],[2,1,-1]]}");
    assert_int_equal(path_find(trial.finder, KIND_I4, row, 0, 2, &path), STATUS_CORRUPT);
    assert_int_equal(path_find(trial.finder, KIND_I4, row, 0, 0, &path), STATUS_OK);
    assert_true(path.count == 1 && path.vertices[0] == 0);
    close_trial(&trial);
}

TEST(a_path_whose_weights_do_not_sum_to_the_distance_is_an_error)
{
    struct trial trial;
    struct path path;
    /* The weights on the path sum to 4. far_rows deviate from this by more than rounding can
     * explain, the other rows by less. */
    const double far_rows[][3] = {{0, 3, 5}, {0, 3, 3}, {0, 2.9, 4}, {0, 3, 4.00001}, {0, 3, NAN}};
    const double near_row[] = {0, 3, 4 + 1e-14};
    const float single_row[] = {0, 3, 4.001F};

    open_trial(&trial, "{\"n\":3,\"edges\":[[0,1,3.0],[1,2,1.0],[2,1,-1.0]]}");
    for (size_t i = 0; i < sizeof far_rows / sizeof far_rows[0]; i++) {
        assert_int_equal(path_find(trial.finder, KIND_F8, far_rows[i], 0, 2, &path),
                         STATUS_CORRUPT);
    }
    assert_int_equal(path_find(trial.finder, KIND_F4, single_row, 0, 2, &path), STATUS_CORRUPT);
    assert_int_equal(path_find(trial.finder, KIND_F8, near_row, 0, 2, &path), STATUS_OK);
    assert_int_equal(path.count, 3);
    close_trial(&trial);
}
