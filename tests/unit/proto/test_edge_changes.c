#include "proto/edge_changes.h"
#include "proto/read/graph_rows.h"

#include <math.h>

#include "tests/lib/range_fixture.h"
#include "tests/lib/test.h"

#define N 9

/* Weights indexed by source and target; NAN means that there is no edge. */
struct table {
    double weight[N][N];
};

static struct table table_of(const struct graph *graph)
{
    struct table table;
    for (int i = 0; i < N * N; i++) {
        table.weight[i / N][i % N] = NAN;
    }
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            table.weight[row][graph->target[edge]] = graph_weight(graph, edge);
        }
    }
    return table;
}

static struct graph *graph_of(const struct table *table, bool directed)
{
    struct range_edge edges[N * N];
    size_t count = 0;
    for (uint32_t i = 0; i < N * N; i++) {
        const struct range_edge edge = {i / N, i % N, table->weight[i / N][i % N]};
        if (!isnan(edge.weight)) {
            edges[count++] = edge;
        }
    }
    return range_build(N, edges, count, directed);
}

static void expect_equal(const struct graph *found, const struct graph *wanted)
{
    const size_t m = wanted->edge_count;
    assert_int_equal(found->edge_count, m);
    assert_int_equal(found->weight_type, wanted->weight_type);
    assert_int_equal(found->directed, wanted->directed);
    assert_memory_equal(found->row_offset, wanted->row_offset, (N + 1) * sizeof(uint64_t));
    assert_memory_equal(found->target, wanted->target, m * sizeof(uint32_t));
    for (uint64_t edge = 0; edge < m; edge++) {
        assert_true(graph_weight(found, edge) == graph_weight(wanted, edge));
        assert_true(signbit(graph_weight(found, edge)) == signbit(graph_weight(wanted, edge)));
    }
    assert_true(found->summary.distance_bound == wanted->summary.distance_bound);
    assert_true(found->summary.min_weight == wanted->summary.min_weight);
    assert_true(found->summary.max_weight == wanted->summary.max_weight);
    assert_int_equal(found->summary.components, wanted->summary.components);
    assert_int_equal(found->summary.decimals, wanted->summary.decimals);
    assert_int_equal(vertex_names_count(found->names), N);
}

static struct graph *draw_graph(uint64_t *seed, bool directed)
{
    struct range_edge edges[20];
    for (size_t i = 0; i < 20; i++) {
        edges[i] = (struct range_edge){range_next(seed, N), range_next(seed, N),
                                       1 + (int32_t)range_next(seed, 50)};
    }
    return range_build(N, edges, 20, directed);
}

/* Makes random changes. Some changes remove an edge, some edges are changed twice, and some new
 * weights are decimals. */
static struct edge_changes draw_changes(uint64_t *seed, bool directed, struct table *table)
{
    struct edge_changes changes = {.count = 1 + range_next(seed, 12)};
    changes.list = calloc(changes.count, sizeof(*changes.list));
    assert_non_null(changes.list);
    for (size_t i = 0; i < changes.count; i++) {
        struct edge_change *change = &changes.list[i];
        change->source = range_next(seed, N);
        change->target = (change->source + 1 + range_next(seed, N - 1)) % N;
        const uint32_t sort = range_next(seed, 4);
        change->weight = sort == 0 ? NAN : range_next(seed, 60) + (sort == 1 ? 0.5 : 0);
        change->weight = sort == 2 && change->weight < 10 ? -0.0 : change->weight;
        const bool swap = !directed && change->source > change->target;
        table->weight[swap ? change->target : change->source]
                     [swap ? change->source : change->target] = change->weight;
    }
    return changes;
}

TEST(a_changed_graph_equals_one_built_from_the_same_edges)
{
    uint64_t seed = 3;
    for (int round = 0; round < 400; round++) {
        const bool directed = round % 2 == 0;
        struct graph *graph = draw_graph(&seed, directed);
        struct table table = table_of(graph);
        struct edge_changes changes = draw_changes(&seed, directed, &table);
        struct graph *wanted = graph_of(&table, directed);
        struct problem problem;
        uint64_t absent;
        assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
        expect_equal(graph, wanted);
        graph_destroy(wanted);
        graph_destroy(graph);
        edge_changes_finish(&changes);
    }
}

static double draw_weight(uint64_t *seed, uint32_t sort)
{
    const double weight = range_next(seed, 60);
    return sort == 0 ? weight + 0.5 : sort == 1 ? -0.0 : sort == 2 ? -weight : weight;
}

/* In some rounds the changes introduce decimal weights. In other rounds the graph already has
 * decimal weights. */
TEST(stored_weights_are_updated_in_place)
{
    uint64_t seed = 5;
    for (int round = 0; round < 400; round++) {
        const bool directed = round % 2 == 0;
        const enum kind kind = round % 4 < 2 ? KIND_I4 : KIND_F8;
        struct graph *graph = draw_graph(&seed, directed);
        struct edge_changes changes = {.kind = kind};
        struct problem problem;
        uint64_t absent;
        for (int turn = 0; turn < 3; turn++) {
            struct table table = table_of(graph);
            const size_t m = graph->edge_count;
            changes = (struct edge_changes){.kind = kind, .weights_size = m * kind_size(kind)};
            changes.list = calloc(m, sizeof(*changes.list));
            changes.weights = turn == 2 ? calloc(m, sizeof(double)) : NULL;
            assert_non_null(changes.list);
            for (uint32_t source = 0; source < N; source++) {
                for (uint64_t e = graph->row_offset[source]; e < graph->row_offset[source + 1];
                     e++) {
                    const double weight =
                        draw_weight(&seed, kind == KIND_I4 ? 1 + range_next(&seed, 6)
                                                           : range_next(&seed, turn == 0 ? 8 : 2));
                    const int32_t integer = (int32_t)weight;
                    if (changes.weights != NULL) {
                        memcpy(changes.weights + e * kind_size(kind),
                               kind == KIND_I4 ? (const void *)&integer : &weight, kind_size(kind));
                    } else if (range_next(&seed, 3) == 0) {
                        continue;
                    } else {
                        changes.list[changes.count++] =
                            (struct edge_change){source, graph->target[e], weight, 0};
                    }
                    table.weight[source][graph->target[e]] = weight;
                }
            }
            struct graph *wanted = graph_of(&table, directed);
            const uint32_t *before = graph->target;
            assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
            assert_ptr_equal(graph->target, before);
            assert_int_equal(graph->summary.negative, wanted->summary.negative);
            expect_equal(graph, wanted);
            graph_destroy(wanted);
            edge_changes_finish(&changes);
        }
        graph_destroy(graph);
    }
}

static void expect_refused(struct edge_changes *changes, uint64_t edge_limit, enum status expected)
{
    const struct range_edge edges[] = {{0, 1, 4}, {1, 2, 5}};
    struct graph *graph = range_build(N, edges, 2, true);
    struct problem problem;
    uint64_t absent;
    assert_int_equal(edge_changes_apply(changes, edge_limit, &graph, &absent, &problem), expected);
    assert_int_equal(problem.status, expected);
    assert_non_null(graph->names);
    graph_destroy(graph);
}

TEST(invalid_changes_are_refused)
{
    struct edge_change loop[] = {{2, 3, 1, 0}, {4, 4, -1, 0}};
    struct edge_change more[] = {{2, 3, 1, 0}};
    const float weights[] = {1, NAN};
    char bytes[sizeof(weights)];
    memcpy(bytes, weights, sizeof(weights));
    expect_refused(&(struct edge_changes){.list = loop, .count = 2}, 0, STATUS_BAD_GRAPH);
    expect_refused(&(struct edge_changes){.list = more, .count = 1}, 2, STATUS_TOO_LARGE);
    for (int end = 0; end < 2; end++) {
        struct edge_change beyond[] = {{0, 1, 1, 0}, {end == 0 ? N : 3, end == 0 ? 3 : N, 1, 0}};
        expect_refused(&(struct edge_changes){.list = beyond, .count = 2}, 0,
                       STATUS_PRECONDITION_FAILED);
    }
    expect_refused(&(struct edge_changes){.weights = bytes, .weights_size = 8, .kind = KIND_F4}, 0,
                   STATUS_BAD_GRAPH);
    expect_refused(&(struct edge_changes){.weights = bytes, .weights_size = 8, .kind = KIND_F8}, 0,
                   STATUS_BAD_GRAPH);
}

TEST(loops_are_dropped)
{
    const struct range_edge edges[] = {{0, 1, 4}, {1, 2, 5}};
    struct edge_change list[] = {{3, 3, 4, 0}, {0, 1, 3, 0}, {2, 2, NAN, 0}};
    struct edge_changes changes = {.list = list, .count = 3};
    struct graph *graph = range_build(N, edges, 2, true);
    struct problem problem;
    uint64_t absent;
    assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
    assert_int_equal(absent, 0);
    assert_int_equal(graph->edge_count, 2);
    assert_int_equal(graph->summary.loops_dropped, 2);
    assert_int_equal(changes.count, 1);
    graph_destroy(graph);
}

/* The weights are so large that the distance bound does not affect the choice of the kind. Except
 * for the bound, the changed summary must equal the summary of a newly built graph. */
TEST(a_large_distance_bound_is_updated_with_the_weights)
{
    enum { RING_SIZE = 8 };
    struct range_edge edges[RING_SIZE];
    uint64_t seed = 5;
    for (uint32_t v = 0; v < RING_SIZE; v++) {
        edges[v] = (struct range_edge){v, (v + 1) % RING_SIZE, 1000000 + (int32_t)v};
    }
    struct graph *graph = range_build(RING_SIZE, edges, RING_SIZE, true);
    for (int round = 0; round < 100; round++) {
        const uint32_t at = range_next(&seed, RING_SIZE);
        struct edge_change change = {at, (at + 1) % RING_SIZE,
                                     range_next(&seed, 4) > 0 ? 2000000 + round : round, 0};
        struct edge_changes changes = {.list = &change, .count = 1};
        struct problem problem;
        uint64_t absent;
        assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
        const struct graph_summary kept = graph->summary;
        graph->summary.distance_bound = 0;
        assert_int_equal(graph_rows_summarize(graph), STATUS_OK);
        assert_true(kept.distance_bound >= graph->summary.distance_bound);
        graph->summary.distance_bound = kept.distance_bound;
        assert_memory_equal(&graph->summary, &kept, sizeof(kept));
    }
    graph_destroy(graph);
}

/* The distance bound of a star is the sum of two edges. A larger weight raises the bound by the
 * difference, and a smaller weight leaves it unchanged. Only the removal of an edge requires a new
 * computation of the bound. */
TEST(a_distance_bound_is_updated_without_a_search)
{
    const int32_t length = 1 << 27;
    struct range_edge edges[N - 1];
    for (uint32_t i = 1; i < N; i++) {
        edges[i - 1] = (struct range_edge){0, i, length};
    }
    for (int round = 0; round < 3; round++) {
        static const double wanted[] = {2.0 * (1 << 27) + 5, 2.0 * (1 << 27), 3.0 * (1 << 27)};
        const double weights[] = {length + 5, length - 5, NAN};
        struct edge_change list[] = {{4, 0, weights[round], 0}};
        struct edge_changes changes = {.list = list, .count = 1};
        struct graph *graph = range_build(N, edges, N - 1, false);
        struct problem problem;
        uint64_t absent;
        assert_true(graph->summary.distance_bound == 2.0 * length);
        assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
        assert_true(graph->summary.distance_bound == wanted[round]);
        assert_int_equal(graph->summary.components, round < 2 ? 1 : 2);
        graph_destroy(graph);
    }
}

TEST(removals_of_missing_edges_are_counted)
{
    const struct range_edge edges[] = {{0, 1, 4}, {1, 2, 5}};
    struct edge_change list[] = {{1, 0, NAN, 0}, {1, 2, NAN, 0}, {8, 7, NAN, 0}};
    struct edge_changes changes = {.list = list, .count = 3};
    struct graph *graph = range_build(N, edges, 2, true);
    struct problem problem;
    uint64_t absent;
    assert_int_equal(edge_changes_apply(&changes, 0, &graph, &absent, &problem), STATUS_OK);
    assert_int_equal(absent, 2);
    assert_int_equal(graph->edge_count, 1);
    graph_destroy(graph);
}
