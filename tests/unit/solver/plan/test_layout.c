#include "server/solver/plan/layout.h"
#include "tests/lib/range_fixture.h"

/* A separator of 3 vertices divides the graph into parts of 20 and 12 vertices. A separator of 2
 * vertices divides the first part into two parts of 9 vertices. */
static struct order_node tree[] = {
    {0, 0, 9, {NO_NODE, NO_NODE}}, {9, 9, 18, {NO_NODE, NO_NODE}},
    {0, 18, 20, {0, 1}},           {20, 20, 32, {NO_NODE, NO_NODE}},
    {0, 32, 35, {2, 3}},
};

#define VERTICES 35

static uint32_t vertex_at[VERTICES];
static struct order_root root = {.node = 4};

static struct order one_tree(void)
{
    for (uint32_t place = 0; place < VERTICES; ++place) {
        vertex_at[place] = VERTICES - 1 - place;
    }
    return (struct order){.vertex_count = VERTICES,
                          .vertex_at = vertex_at,
                          .nodes = tree,
                          .node_count = 5,
                          .roots = &root,
                          .root_count = 1};
}

static struct plan_layout lay_out(const struct order *order, uint32_t leaf, uint32_t clump)
{
    const struct plan_layout_options options = {
        .tile = 8, .granule = 2, .leaf = leaf, .clump = clump};
    struct plan_layout layout = {0};
    assert_int_equal(plan_layout_make(order, &options, &layout), STATUS_OK);
    assert_int_equal(layout.outline.tile_begin[layout.outline.tile_count], order->vertex_count);
    return layout;
}

TEST(each_separator_is_a_part_that_comes_after_its_sides)
{
    static const uint32_t begin[] = {0, 6, 9, 15, 18, 20, 26, 32, 35};
    const struct order order = one_tree();
    struct plan_layout layout = lay_out(&order, 9, 9);
    assert_int_equal(layout.outline.tile_count, 8);
    assert_memory_equal(layout.outline.tile_begin, begin, sizeof(begin));
    assert_memory_equal(layout.outline.vertex_at, vertex_at, sizeof(vertex_at));
    assert_int_equal(layout.part_count, 5);
    plan_layout_finish(&layout);
    plan_layout_finish(&layout);
}

TEST(pivots_of_equal_height_are_adjacent)
{
    static const uint32_t pivots[] = {0, 2, 5, 1, 3, 6, 4, 7};
    const struct order order = one_tree();
    struct plan_layout layout = lay_out(&order, 9, 9);
    assert_memory_equal(layout.outline.pivot, pivots, sizeof(pivots));
    plan_layout_finish(&layout);
}

TEST(small_subtrees_become_leaves_with_their_separators)
{
    static const uint32_t begin[] = {0, 8, 16, 20, 26, 32, 35};
    const struct order order = one_tree();
    struct plan_layout layout = lay_out(&order, 20, 20);
    assert_int_equal(layout.part_count, 3);
    assert_int_equal(layout.outline.tile_count, 6);
    assert_memory_equal(layout.outline.tile_begin, begin, sizeof(begin));
    plan_layout_finish(&layout);
}

TEST(separators_of_small_parts_are_merged_after_their_leaves)
{
    static const uint32_t begin[] = {0, 6, 9, 15, 18, 24, 30, 35};
    const struct order order = one_tree();
    struct plan_layout layout = lay_out(&order, 9, 64);
    assert_int_equal(layout.part_count, 4);
    assert_int_equal(layout.outline.tile_count, 7);
    assert_memory_equal(layout.outline.tile_begin, begin, sizeof(begin));
    for (uint32_t at = 0; at < 5; ++at) {
        assert_int_equal(layout.outline.vertex_at[30 + at], vertex_at[at < 2 ? 18 + at : 30 + at]);
    }
    plan_layout_finish(&layout);
}

TEST(an_empty_separator_does_not_become_a_part)
{
    static struct order_node halves[] = {
        {0, 0, 18, {NO_NODE, NO_NODE}}, {18, 18, 35, {NO_NODE, NO_NODE}}, {0, 35, 35, {0, 1}}};
    static struct order_root top = {.node = 2};
    struct order order = one_tree();
    order.nodes = halves;
    order.roots = &top;
    struct plan_layout layout = lay_out(&order, 8, 8);
    assert_int_equal(layout.part_count, 2);
    plan_layout_finish(&layout);
}

/* Lays out twelve trees. Each is a single leaf with 1 to 3 vertices. */
static struct plan_layout lay_out_small(const uint32_t levels[12])
{
    static struct order_node nodes[12];
    static struct order_root roots[12];
    uint32_t begin = 0;
    for (uint32_t index = 0; index < 12; ++index) {
        const uint32_t size = index == 11 ? VERTICES - begin : 1 + index % 3;
        nodes[index] = (struct order_node){begin, begin, begin + size, {NO_NODE, NO_NODE}};
        roots[index] = (struct order_root){.node = index, .level = levels[index]};
        begin += size;
    }
    struct order order = one_tree();
    order.nodes = nodes;
    order.roots = roots;
    order.root_count = 12;
    return lay_out(&order, 8, 8);
}

TEST(small_components_share_tiles)
{
    static const uint32_t levels[12] = {0};
    static const uint32_t begin[] = {0, 7, 15, 21, 29, 35};
    struct plan_layout layout = lay_out_small(levels);
    assert_memory_equal(layout.outline.tile_begin, begin, sizeof(begin));
    plan_layout_finish(&layout);
}

TEST(sources_and_sinks_have_separate_tiles)
{
    static const uint32_t levels[12] = {0, 0, 1, 2, 3, 3, 3, 24, 24, 24, 24, 24};
    static const uint32_t begin[] = {0, 3, 9, 13, 21, 29, 35};
    static const uint32_t pivots[] = {0, 1, 2, 3, 4, 5};
    struct plan_layout layout = lay_out_small(levels);
    assert_memory_equal(layout.outline.tile_begin, begin, sizeof(begin));
    assert_memory_equal(layout.outline.pivot, pivots, layout.outline.tile_count * sizeof(*pivots));
    plan_layout_finish(&layout);
}
