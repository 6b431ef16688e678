#include "server/solver/hierarchy/shape.h"
#include "tests/lib/hierarchy_fixture.h"

/* Eliminates the vertices in the shape's order in a plain matrix. Returns a matrix that says for
 * each pair of positions whether an arc connects them. */
static bool *eliminate(const struct graph *graph, const struct hierarchy_shape *shape)
{
    const size_t n = graph->vertex_count;
    bool *arc = calloc(n * n + 1, sizeof(*arc));
    assert_non_null(arc);
    for (uint32_t v = 0; v < n; ++v) {
        for (uint64_t e = graph->row_offset[v]; e < graph->row_offset[v + 1]; ++e) {
            const size_t a = shape->position_of[v];
            const size_t b = shape->position_of[graph->target[e]];
            arc[a * n + b] = arc[b * n + a] = true;
        }
    }
    for (size_t k = 0; k < n; ++k) {
        for (size_t i = k + 1; i < n; ++i) {
            for (size_t j = k + 1; j < n; ++j) {
                arc[i * n + j] |= i != j && arc[i * n + k] && arc[k * n + j];
            }
        }
    }
    return arc;
}

static void check_shape(const struct graph *graph)
{
    const size_t n = graph->vertex_count;
    struct hierarchy_shape *shape = make_shape(graph);
    bool *arc = eliminate(graph, shape);
    uint64_t arcs = 0;
    uint64_t labels = 0;
    for (uint32_t s = 0; s < shape->supernode_count; ++s) {
        for (uint32_t at = shape->first[s]; at < shape->first[s + 1]; ++at) {
            labels += shape->first[s + 1] - 1 - at;
            for (uint32_t t = s; shape->parent[t] != NO_SUPERNODE; t = shape->parent[t]) {
                labels += shape->first[shape->parent[t] + 1] - shape->row[shape->row_begin[t]];
            }
            for (uint32_t to = at + 1; to < n; ++to) {
                bool has = to < shape->first[s + 1];
                for (uint64_t i = shape->row_begin[s]; i < shape->row_begin[s + 1]; ++i) {
                    has |= shape->row[i] == to;
                }
                arcs += arc[at * n + to];
                assert_true(has || !arc[at * n + to]);
            }
        }
    }
    assert_int_equal(shape->arc_count, arcs);
    assert_int_equal(shape->label_entries, labels);
    assert_int_equal(shape->first[shape->supernode_count], n);
    free(arc);
    hierarchy_destroy_shape(shape);
}

TEST(the_shape_has_entries_for_the_edges_and_the_fill_of_the_elimination)
{
    for (uint64_t seed = 0; seed < 200; ++seed) {
        struct graph *graph = range_random(seed);
        check_shape(graph);
        graph_destroy(graph);
    }
    struct graph *grid = make_grid(false);
    check_shape(grid);
    graph_destroy(grid);
}

TEST(shapes_beyond_the_limit_are_refused)
{
    struct graph *grid = make_grid(true);
    struct hierarchy_shape *shape = make_shape(grid);
    const uint64_t entries = shape->weight_begin[shape->supernode_count];
    const struct hierarchy_limits limits[] = {
        {entries, 1e300}, {entries - 1, 1e300}, {entries, 99}};
    for (size_t i = 0; i < 3; ++i) {
        struct hierarchy_shape *again = NULL;
        assert_int_equal(hierarchy_make_shape(grid, shape->vertex_at, &limits[i], &again),
                         i == 0 ? STATUS_OK : STATUS_TOO_LARGE);
        hierarchy_destroy_shape(again);
    }
    hierarchy_destroy_shape(shape);
    graph_destroy(grid);
}
