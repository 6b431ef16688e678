#include "server/command/generator.h"
#include "tests/lib/test.h"

#define VERTEX_LIMIT 400

/* The weights of the edges as a matrix (0 = no edge), and a checksum of the ordered edges. */
struct collected {
    uint64_t weights[VERTEX_LIMIT][VERTEX_LIMIT];
    uint32_t n;
    uint64_t count;
    uint64_t sum;
    uint64_t max_weight;
};

static struct collected collected;

static enum status collect(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    struct collected *into = context;
    assert_true(source < into->n && target < into->n && source != target);
    assert_true(weight >= 1 && weight <= into->max_weight);
    assert_int_equal(into->weights[source][target], 0);
    into->weights[source][target] = weight;
    ++into->count;
    into->sum = (into->sum ^ (source * UINT64_C(1000003) + target * UINT64_C(8191) + weight)) *
                UINT64_C(0x100000001b3);
    return STATUS_OK;
}

static const struct collected *generate(struct generator_request request)
{
    const struct generator_sink sink = {&collected, collect};
    memset(&collected, 0, sizeof collected);
    collected.n = request.vertex_count;
    collected.max_weight = request.max_weight;
    assert_int_equal(generator_run(&request, &sink), STATUS_OK);
    return &collected;
}

static struct generator_request request_of(enum generator_shape shape, uint32_t n)
{
    return (struct generator_request){
        .shape = shape, .vertex_count = n, .degree = 6, .max_weight = 100, .seed = 7};
}

static uint32_t reached_from_first(const struct collected *graph)
{
    static uint32_t queue[VERTEX_LIMIT];
    bool seen[VERTEX_LIMIT] = {true};
    uint32_t length = 1;
    queue[0] = 0;
    for (uint32_t at = 0; at < length; ++at) {
        for (uint32_t target = 0; target < graph->n; ++target) {
            if (graph->weights[queue[at]][target] > 0 && !seen[target]) {
                seen[target] = true;
                queue[length++] = target;
            }
        }
    }
    return length;
}

TEST(undirected_graphs_have_symmetric_weights)
{
    for (int shape = GENERATOR_GNP; shape <= GENERATOR_ROAD; ++shape) {
        const struct collected *graph = generate(request_of((enum generator_shape)shape, 150));
        for (uint32_t i = 0; i < graph->n; ++i) {
            for (uint32_t j = 0; j < i; ++j) {
                assert_int_equal(graph->weights[i][j], graph->weights[j][i]);
            }
        }
    }
}

TEST(a_dense_graph_has_an_edge_for_every_ordered_pair)
{
    for (int directed = 0; directed < 2; ++directed) {
        struct generator_request request = request_of(GENERATOR_DENSE, 40);
        request.directed = directed;
        assert_int_equal(generate(request)->count, 40 * 39);
    }
}

/* The expected number of edges is 400 * 6, with a standard deviation of 49. */
TEST(a_gnp_graph_has_about_the_requested_average_degree)
{
    struct generator_request request = request_of(GENERATOR_GNP, VERTEX_LIMIT);
    request.directed = true;
    for (request.seed = 1; request.seed <= 20; ++request.seed) {
        assert_in_range(generate(request)->count, 2400 - 245, 2400 + 245);
    }
}

/* Over many seeds, every pair of vertices becomes an edge at least once. */
TEST(a_gnp_graph_can_contain_every_pair_of_vertices)
{
    struct generator_request request = request_of(GENERATOR_GNP, 8);
    uint32_t hits[8][8] = {{0}};
    request.directed = true;
    request.degree = 3;
    for (request.seed = 1; request.seed <= 700; ++request.seed) {
        const struct collected *graph = generate(request);
        for (uint32_t i = 0; i < 64; ++i) {
            hits[i / 8][i % 8] += graph->weights[i / 8][i % 8] > 0;
        }
    }
    for (uint32_t i = 0; i < 64; ++i) {
        if (i / 8 != i % 8) {
            assert_in_range(hits[i / 8][i % 8], 235, 365); /* the mean is 300, the standard
                                                            * deviation 13 */
        }
    }
}

TEST(a_grid_is_connected_and_joins_adjacent_cells)
{
    assert_int_equal(generate(request_of(GENERATOR_GRID, 16))->count, 2 * 24);
    for (uint32_t n = 1; n < 60; ++n) {
        assert_int_equal(reached_from_first(generate(request_of(GENERATOR_GRID, n))), n);
    }
}

TEST(a_road_graph_is_connected_and_lacks_some_streets)
{
    for (uint32_t n = 1; n < 120; ++n) {
        struct generator_request request = request_of(GENERATOR_ROAD, n);
        request.directed = n % 2 == 0;
        request.seed = n;
        assert_int_equal(reached_from_first(generate(request)), n);
    }
    uint64_t grid = generate(request_of(GENERATOR_GRID, VERTEX_LIMIT))->count;
    uint64_t road = generate(request_of(GENERATOR_ROAD, VERTEX_LIMIT))->count;
    assert_in_range(road, grid * 8 / 10, grid);
}

TEST(graphs_of_zero_or_one_vertices_have_no_edges)
{
    for (int shape = GENERATOR_GNP; shape <= GENERATOR_ROAD; ++shape) {
        for (uint32_t n = 0; n < 2; ++n) {
            assert_int_equal(generate(request_of((enum generator_shape)shape, n))->count, 0);
        }
    }
}

/* The checksums are from the first release. If one changes, every seed gives users a different
 * graph than before. */
TEST(a_seed_gives_the_same_graph_as_in_the_first_release)
{
    static const uint64_t sums[] = {UINT64_C(0xef1bd13ac4435842), UINT64_C(0x208f7d1ec7eb1ae8),
                                    UINT64_C(0xbfd7cfb62c022a8e), UINT64_C(0x51fc6ec6240e2650)};
    for (int shape = GENERATOR_GNP; shape <= GENERATOR_ROAD; ++shape) {
        uint64_t sum = generate(request_of((enum generator_shape)shape, 100))->sum;
        assert_int_equal(sum, sums[shape]);
        struct generator_request other = request_of((enum generator_shape)shape, 100);
        other.seed = 8;
        assert_int_not_equal(generate(other)->sum, sum);
    }
}
