#include "server/solver/order/order.h"

#include "server/solver/hierarchy/shape.h"
#include "server/solver/order/separator.h"
#include "tests/lib/hierarchy_fixture.h"

#define WIDTH 40
#define WIDE 110
#define EDGES_MAX 25000

static struct range_edge edges[EDGES_MAX];

static struct order *make(const struct graph *graph, bool strong)
{
    const struct order_options options = {.threads = 2, .strong = strong};
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order), STATUS_OK);
    assert_int_equal(order->vertex_count, graph->vertex_count);
    return order;
}

/* Returns the position of each vertex in the order, and checks that there is exactly one. */
static uint32_t *find_places(const struct order *order)
{
    uint32_t *place = calloc(order->vertex_count + 1, sizeof(*place));
    assert_non_null(place);
    memset(place, 0xFF, order->vertex_count * sizeof(*place));
    for (uint32_t index = 0; index < order->vertex_count; ++index) {
        assert_int_equal(place[order->vertex_at[index]], UINT32_MAX);
        place[order->vertex_at[index]] = index;
    }
    return place;
}

static bool is_in(uint32_t place, uint32_t begin, uint32_t end)
{
    return place >= begin && place < end;
}

static void sides_are_apart(const struct graph *graph, const uint32_t *place,
                            const struct order_node *node, const struct order_node sides[2])
{
    assert_int_equal(sides[0].begin, node->begin);
    assert_int_equal(sides[0].end, sides[1].begin);
    assert_int_equal(sides[1].end, node->separator);
    for (uint32_t vertex = 0; vertex < graph->vertex_count; ++vertex) {
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; ++e) {
            const uint32_t a = place[vertex];
            const uint32_t b = place[graph->target[e]];
            assert_false(is_in(a, sides[0].begin, sides[0].end) &&
                         is_in(b, sides[1].begin, sides[1].end));
            assert_false(is_in(b, sides[0].begin, sides[0].end) &&
                         is_in(a, sides[1].begin, sides[1].end));
        }
    }
}

static void check_grid(uint32_t width, uint32_t threads)
{
    const struct order_options options = {.threads = threads};
    struct graph *graph = range_grid(width);
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order), STATUS_OK);
    uint32_t *place = find_places(order);
    uint32_t divided = 0;
    for (uint32_t index = 0; index < order->node_count; ++index) {
        const struct order_node *node = &order->nodes[index];
        if (node->child[0] == NO_NODE) {
            assert_int_equal(node->separator, node->begin);
            continue;
        }
        assert_true(node->child[0] < index && node->child[1] < index);
        const struct order_node sides[2] = {order->nodes[node->child[0]],
                                            order->nodes[node->child[1]]};
        sides_are_apart(graph, place, node, sides);
        assert_true(node->end - node->separator <= order->largest_separator);
        ++divided;
    }
    assert_int_equal(order->root_count, 1);
    assert_int_equal(order->nodes[order->roots[0].node].end, width * width);
    if (separator_present()) {
        assert_in_range(divided, width * width / 512 / 2, width * width / 16);
        assert_in_range(order->largest_separator, width / 2, 2 * width);
    }
    free(place);
    order_destroy(order);
    graph_destroy(graph);
}

TEST(a_separator_has_no_edges_between_its_sides)
{
    check_grid(WIDTH, 1);
}

/* The graph is so large that different threads divide the two sides of a separator. */
TEST(sides_are_divided_by_several_threads)
{
    check_grid(WIDE, 4);
    check_grid(WIDE, 3);
}

TEST(a_clique_becomes_a_single_leaf)
{
    size_t count = 0;
    for (uint32_t a = 0; a < 100; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            edges[count++] = (struct range_edge){a, b, 1};
        }
    }
    struct graph *graph = range_build(100, edges, count, false);
    struct order *order = make(graph, false);
    assert_int_equal(order->node_count, 1);
    assert_int_equal(order->largest_separator, 0);
    order_destroy(order);
    graph_destroy(graph);
}

/* A chain of single vertices leads into a cycle, and another chain leads out of this cycle. */
TEST(strong_components_are_ordered_from_sources_to_sinks)
{
    static const struct range_edge tails[] = {{7, 3, 1}, {3, 0, 1}, {0, 1, 1}, {1, 2, 1},
                                              {2, 0, 1}, {2, 5, 1}, {5, 4, 1}, {6, 0, 1}};
    struct graph *graph = range_build(8, tails, 8, true);
    struct order *order = make(graph, true);
    uint32_t *place = find_places(order);
    assert_int_equal(order->root_count, 6);
    assert_true(place[7] < place[3] && place[6] < place[3]);
    assert_true(place[3] < place[0] && place[0] < place[5] && place[5] < place[4]);
    assert_int_equal(order->roots[0].level, 0);
    assert_int_equal(order->roots[1].level, 0);
    for (uint32_t root = 2; root < 6; ++root) {
        assert_true(order->roots[root - 1].level < order->roots[root].level);
    }
    assert_int_equal(order->roots[5].level, 2 * 6);
    free(place);
    order_destroy(order);
    graph_destroy(graph);
}

/* The graph has two connected components: a pair of vertices, followed by a 12x12 grid. */
TEST(small_components_come_last_within_a_level)
{
    size_t count = 0;
    edges[count++] = (struct range_edge){0, 1, 1};
    for (uint32_t cell = 0; cell < 12 * 12; ++cell) {
        if ((cell + 1) % 12 != 0) {
            edges[count++] = (struct range_edge){2 + cell, 3 + cell, 1};
        }
        if (cell + 12 < 12 * 12) {
            edges[count++] = (struct range_edge){2 + cell, 14 + cell, 1};
        }
    }
    struct graph *graph = range_build(2 + 12 * 12, edges, count, true);
    struct order *order = make(graph, false);
    assert_int_equal(order->root_count, 2);
    const struct order_node *first = &order->nodes[order->roots[0].node];
    assert_int_equal(first->end - first->begin, 12 * 12);
    assert_int_equal(order->roots[0].level, 0);
    assert_int_equal(order->roots[1].level, 0);
    assert_false(order->strong);
    order_destroy(order);
    graph_destroy(graph);
}

TEST(an_edge_between_components_leads_to_a_higher_level)
{
    for (uint64_t seed = 1; seed < 500; ++seed) {
        struct graph *graph = range_random(seed);
        struct order *order = make(graph, graph->directed);
        uint32_t *place = find_places(order);
        uint32_t *level = calloc(graph->vertex_count + 1, sizeof(*level));
        uint32_t *root_of = calloc(graph->vertex_count + 1, sizeof(*root_of));
        assert_true(level != NULL && root_of != NULL);
        for (uint32_t root = 0; root < order->root_count; ++root) {
            const struct order_node *node = &order->nodes[order->roots[root].node];
            for (uint32_t at = node->begin; at < node->end; ++at) {
                level[order->vertex_at[at]] = order->roots[root].level;
                root_of[order->vertex_at[at]] = root;
            }
        }
        for (uint32_t vertex = 0; vertex < graph->vertex_count; ++vertex) {
            for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; ++e) {
                const uint32_t target = graph->target[e];
                assert_true(root_of[vertex] == root_of[target] || level[vertex] < level[target]);
            }
        }
        free(level);
        free(root_of);
        free(place);
        order_destroy(order);
        graph_destroy(graph);
    }
}

/* Makes groups of vertices, each a complete graph, with a few edges between any two groups. METIS
 * finds separators between the groups, whereas a breadth-first search reaches all groups in one
 * step. */
static struct graph *make_groups(void)
{
    enum { GROUP = 64, VERTICES = 12 * GROUP };
    uint32_t random = 1;
    size_t count = 0;
    for (uint32_t vertex = 0; vertex < VERTICES; ++vertex) {
        for (uint32_t other = vertex + 1; other % GROUP != 0; ++other) {
            edges[count++] = (struct range_edge){vertex, other, 1};
        }
        if (vertex % 3 == 0) {
            random = random * 1664525 + 1013904223;
            edges[count++] = (struct range_edge){vertex, (random >> 8) % VERTICES, 1};
        }
    }
    return range_build(VERTICES, edges, count, false);
}

TEST(a_graph_without_thin_levels_is_not_divided_if_thin_only_is_set)
{
    struct graph *const graphs[] = {range_grid(WIDTH), make_groups()};
    for (int which = 0; which < 2; ++which) {
        for (int thin_only = 0; thin_only < 2; ++thin_only) {
            const struct order_options options = {.threads = 1, .thin_only = thin_only != 0};
            struct order *order = NULL;
            assert_int_equal(order_make(graphs[which], &options, &order), STATUS_OK);
            assert_int_equal(order->node_count > 1,
                             separator_present() && (which == 0 || thin_only == 0));
            assert_int_equal(order->partial, which == 1 && thin_only == 1);
            order_destroy(order);
        }
        graph_destroy(graphs[which]);
    }
}

TEST(an_empty_graph_has_no_tree)
{
    struct graph *graph = range_build(0, NULL, 0, true);
    struct order *order = make(graph, true);
    assert_int_equal(order->root_count, 0);
    order_destroy(order);
    order_destroy(NULL);
    graph_destroy(graph);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

TEST(a_cancellation_is_noticed_before_each_separator)
{
    const struct observer observer = {.cancelled = always};
    const struct order_options options = {.threads = 2, .observer = &observer};
    struct graph *graph = range_grid(WIDTH);
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order),
                     separator_present() ? STATUS_CANCELLED : STATUS_OK);
    order_destroy(order);
    graph_destroy(graph);
}

/* The tree is a comb. Eliminating the tip of a tooth adds no arc. The result has one arc per edge,
 * and a few more where separators divide the spine of the comb. */
TEST(a_tree_has_little_fill)
{
    struct range_edge teeth[199];
    for (uint32_t v = 1; v < 200; ++v) {
        const struct range_edge edge = {v % 2 == 0 ? v - 2 : v - 1, v, 1};
        teeth[v - 1] = edge;
    }
    struct graph *graph = range_build(200, teeth, 199, false);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_in_range(shape->arc_count, 199, 320);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
}

#define LEAVES 1000000

/* The test would take minutes if eliminating a leaf searched all neighbours of the hub. */
TEST(a_star_of_a_million_leaves_is_ordered)
{
    struct range_edge *leaves = calloc(LEAVES, sizeof(*leaves));
    assert_non_null(leaves);
    for (uint32_t leaf = 0; leaf < LEAVES; ++leaf) {
        leaves[leaf] = (struct range_edge){0, leaf + 1, 1};
    }
    struct graph *graph = range_build(LEAVES + 1, leaves, LEAVES, false);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_int_equal(shape->arc_count, LEAVES);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
    free(leaves);
}

/* The pattern would have more entries than an int32_t can count. */
TEST(too_many_edges_are_refused)
{
    const struct order_options options = {.threads = 1};
    struct order *order = NULL;
    struct graph graph = {.vertex_count = 2, .edge_count = UINT64_C(1) << 30};
    assert_int_equal(order_make(&graph, &options, &order), STATUS_TOO_LARGE);
}

/* A good order of a grid with n vertices leaves about n log n arcs. The natural order leaves n
 * times the width of the grid. */
TEST(separators_keep_the_fill_of_a_grid_small)
{
    struct graph *graph = make_grid(true);
    struct hierarchy_shape *shape = make_shape(graph);
    assert_true(shape->arc_count < 7 * GRID_VERTICES);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
}
