#include "proto/read/graph_builder.h"
#include "proto/read/graph_rows.h"
#include "tests/lib/test.h"

#define VERTICES 9u
#define ROUNDS 300
#define ABSENT INT32_MAX

/* The order in which the edges of a list are added. */
enum order { AS_DRAWN, ASCENDING, DESCENDING, NEARLY_ASCENDING };

static uint32_t next(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static int compare(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;

    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return (x->target > y->target) - (x->target < y->target);
}

static void arrange(struct edge *edges, uint64_t count, enum order order)
{
    if (order == AS_DRAWN) {
        return;
    }
    qsort(edges, count, sizeof *edges, compare);
    for (uint64_t i = 0; order == DESCENDING && i < count / 2; i++) {
        const struct edge edge = edges[i];

        edges[i] = edges[count - 1 - i];
        edges[count - 1 - i] = edge;
    }
    if (order == NEARLY_ASCENDING && count > 1) {
        const struct edge edge = edges[0];

        memmove(edges, edges + 1, (count - 1) * sizeof *edges);
        edges[count - 1] = edge;
    }
}

/* Returns a buffer that contains the edges. Their weights are multiplied by the scale. */
static struct edge_buffer list_of(const struct edge *edges, uint64_t count, double scale)
{
    struct edge_buffer list = {count, calloc(count + 1, sizeof *edges)};

    assert_non_null(list.edges);
    for (uint64_t i = 0; i < count; i++) {
        list.edges[i] = edges[i];
        list.edges[i].weight *= scale;
    }
    return list;
}

/* The expected graph: the least weight between each pair of vertices, and the numbers of dropped
 * loops and merged parallel edges. */
struct oracle {
    int32_t weight[VERTICES][VERTICES];
    uint64_t edge_count;
    uint64_t loops_dropped;
    uint64_t parallel_merged;
    uint32_t negative_loop;
};

static struct oracle oracle_of(const struct edge *edges, uint64_t count, const uint32_t *row_of,
                               bool directed)
{
    struct oracle oracle = {.negative_loop = NO_VERTEX};

    for (size_t i = 0; i < VERTICES * VERTICES; i++) {
        oracle.weight[i / VERTICES][i % VERTICES] = ABSENT;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t a = row_of[edges[i].source];
        const uint32_t b = row_of[edges[i].target];
        int32_t *weight = &oracle.weight[!directed && a > b ? b : a][!directed && a > b ? a : b];

        if (a == b) {
            oracle.loops_dropped += edges[i].weight >= 0;
            if (edges[i].weight < 0 && a < oracle.negative_loop) {
                oracle.negative_loop = a;
            }
            continue;
        }
        oracle.edge_count += *weight == ABSENT;
        oracle.parallel_merged += *weight != ABSENT;
        *weight = edges[i].weight < *weight ? (int32_t)edges[i].weight : *weight;
    }
    return oracle;
}

static double bound_of(const struct oracle *oracle, bool directed)
{
    double bound = 0;

    for (uint32_t v = 0; v < VERTICES; v++) {
        int32_t largest = 0;

        for (uint32_t w = 0; w < VERTICES; w++) {
            const int32_t out = oracle->weight[v][w] == ABSENT ? 0 : abs(oracle->weight[v][w]);
            const int32_t in = oracle->weight[w][v] == ABSENT ? 0 : abs(oracle->weight[w][v]);

            largest = out > largest ? out : largest;
            largest = !directed && in > largest ? in : largest;
        }
        bound += largest;
    }
    return bound;
}

static void expect_rows(const struct graph *graph, const struct oracle *oracle, double scale)
{
    int32_t least = INT32_MAX;
    int32_t most = INT32_MIN;
    uint64_t edge = 0;

    for (uint32_t v = 0; v < VERTICES; v++) {
        assert_int_equal(graph->row_offset[v], edge);
        for (uint32_t w = 0; w < VERTICES; w++) {
            const int32_t weight = oracle->weight[v][w];

            if (weight == ABSENT) {
                continue;
            }
            assert_int_equal(graph->target[edge], w);
            assert_true(graph_weight(graph, edge++) == weight * scale);
            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
        }
    }
    assert_int_equal(graph->row_offset[VERTICES], edge);
    assert_int_equal(graph->edge_count, edge);
    assert_true(graph->summary.min_weight == (edge > 0 ? least * scale : 0));
    assert_true(graph->summary.max_weight == (edge > 0 ? most * scale : 0));
    assert_int_equal(graph->summary.negative,
                     oracle->negative_loop != NO_VERTEX || (edge > 0 && least < 0));
}

static void check(const struct edge *edges, uint64_t count, const uint32_t *row_of, bool directed,
                  double scale)
{
    const struct oracle oracle = oracle_of(edges, count, row_of, directed);
    struct edge_buffer list = list_of(edges, count, scale);
    struct graph *graph = calloc(1, sizeof *graph);

    assert_non_null(graph);
    graph->vertex_count = VERTICES;
    graph->directed = directed;
    graph->summary.negative_loop = NO_VERTEX;
    assert_int_equal(graph_rows_build(&list, row_of, graph), STATUS_OK);
    assert_null(list.edges);
    expect_rows(graph, &oracle, scale);
    assert_int_equal(graph->summary.loops_dropped, oracle.loops_dropped);
    assert_int_equal(graph->summary.parallel_merged, oracle.parallel_merged);
    assert_int_equal(graph->summary.negative_loop, oracle.negative_loop);
    assert_true(graph->summary.distance_bound == bound_of(&oracle, directed) * scale);
    graph_destroy(graph);
}

/* Compares the graph with the oracle for every edge order, for directed and undirected graphs, and
 * for every weight type. */
TEST(the_graph_is_independent_of_the_order_of_its_edges)
{
    static const uint32_t same[VERTICES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint32_t turned[VERTICES] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    struct edge edges[64];
    uint64_t seed = 1;

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t count = next(&seed, round % 2 == 0 ? 5 : 64);
        const uint32_t least = next(&seed, 2) * 50;

        for (uint64_t i = 0; i < count; i++) {
            edges[i].source = next(&seed, VERTICES);
            edges[i].target = next(&seed, VERTICES);
            edges[i].weight = (int32_t)next(&seed, 100) - (int32_t)least;
        }
        for (enum order order = AS_DRAWN; order <= NEARLY_ASCENDING; order++) {
            arrange(edges, count, order);
            for (int variant = 0; variant < 8; variant++) {
                check(edges, count, variant % 2 == 0 ? same : turned, variant / 2 % 2 == 0,
                      variant / 4 == 0 ? 0.5 : 1);
            }
        }
    }
}

TEST(the_largest_weights_do_not_overflow_the_distance_bound)
{
    struct edge edges[] = {{0, 1, INT32_MIN}, {0, 2, INT32_MAX}, {1, 0, INT32_MAX}};
    struct edge_buffer list = list_of(edges, 3, 1);
    struct graph *graph = calloc(1, sizeof *graph);

    assert_non_null(graph);
    graph->vertex_count = 3;
    graph->directed = true;
    graph->summary.negative_loop = NO_VERTEX;
    assert_int_equal(graph_rows_build(&list, NULL, graph), STATUS_OK);
    assert_true(graph->summary.distance_bound == 2147483648.0 + 2147483647.0);
    assert_true(graph->summary.min_weight == INT32_MIN && graph->summary.max_weight == INT32_MAX);
    graph_destroy(graph);
}
