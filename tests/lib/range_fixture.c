#include "tests/lib/range_fixture.h"

uint32_t range_next(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

struct graph *range_build(uint32_t vertex_count, const struct range_edge *edges, size_t count,
                          bool directed)
{
    const struct graph_options options = {0};
    struct graph_builder builder = graph_builder_init(&options);
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    assert_int_equal(vertex_names_create_range(vertex_count, 1, &names), STATUS_OK);
    for (size_t i = 0; i < count; ++i) {
        assert_int_equal(
            graph_builder_add(&builder, edges[i].source, edges[i].target, edges[i].weight, NULL),
            STATUS_OK);
    }
    assert_int_equal(graph_builder_finish(&builder, &names, NULL, directed, &graph, NULL),
                     STATUS_OK);
    graph_builder_clear(&builder);
    return graph;
}

struct graph *range_random(uint64_t seed)
{
    const uint32_t vertex_count = 1 + range_next(&seed, RANGE_VERTICES);
    const uint32_t count = range_next(&seed, vertex_count * (1 + range_next(&seed, RANGE_DEGREE)));
    const uint32_t largest = 1 + range_next(&seed, 1000);
    struct range_edge edges[RANGE_VERTICES * RANGE_DEGREE];
    for (uint32_t i = 0; i < count; ++i) {
        edges[i].source = range_next(&seed, vertex_count);
        edges[i].target = range_next(&seed, vertex_count);
        edges[i].weight = range_next(&seed, 5) == 0 ? 0 : 1 + range_next(&seed, largest);
    }
    return range_build(vertex_count, edges, count, range_next(&seed, 3) > 0);
}

struct graph *range_grid(uint32_t width)
{
    struct range_edge *edges = calloc((size_t)width * width, 2 * sizeof(*edges));
    size_t count = 0;
    for (uint32_t cell = 0; cell < width * width; ++cell) {
        if ((cell + 1) % width != 0) {
            edges[count++] = (struct range_edge){cell, cell + 1, 1};
        }
        if (cell + width < width * width) {
            edges[count++] = (struct range_edge){cell, cell + width, 1};
        }
    }
    struct graph *graph = range_build(width * width, edges, count, false);
    free(edges);
    return graph;
}

uint64_t *range_distances(const struct graph *graph)
{
    const size_t n = graph->vertex_count;
    uint64_t *const d = malloc(n * n * sizeof(*d));
    assert_non_null(d);
    for (size_t i = 0; i < n * n; ++i) {
        d[i] = i % (n + 1) == 0 ? 0 : RANGE_FAR;
    }
    for (size_t i = 0; i < n; ++i) {
        for (uint64_t edge = graph->row_offset[i]; edge < graph->row_offset[i + 1]; ++edge) {
            const size_t j = graph->target[edge];
            d[i * n + j] = (uint64_t)graph->weight_i4[edge];
            d[j * n + i] = graph->directed ? d[j * n + i] : d[i * n + j];
        }
    }
    for (size_t k = 0; k < n; ++k) {
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < n; ++j) {
                const uint64_t by_k = d[i * n + k] + d[k * n + j];
                d[i * n + j] = by_k < d[i * n + j] ? by_k : d[i * n + j];
            }
        }
    }
    return d;
}

uint64_t range_longest(const struct graph *graph)
{
    uint64_t *const d = range_distances(graph);
    const size_t n = graph->vertex_count;
    uint64_t longest = 0;
    for (size_t i = 0; i < n * n; ++i) {
        longest = d[i] < RANGE_FAR && d[i] > longest ? d[i] : longest;
    }
    free(d);
    return longest;
}
