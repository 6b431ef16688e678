#include "server/solver/plan/layout.h"
#include "tests/lib/range_fixture.h"

#define SIZE_MOST 130

/* Edges of the pairs 0-1 and 2-3, and of vertex 4, which is adjacent to 1 and 2 and separates the
 * pairs. */
static const struct range_edge pairs[] = {{0, 1, 1}, {2, 3, 1}, {1, 4, 1}, {4, 2, 1}};
static uint32_t in_order[] = {0, 1, 2, 3, 4, 5, 6, 7};
static uint32_t pair_begin[] = {0, 2, 4, 5};

static struct plan_outline outline_of_pairs(void)
{
    return (struct plan_outline){.vertex_at = in_order,
                                 .tile_begin = pair_begin,
                                 .tile_count = 3,
                                 .tile = 2,
                                 .pivot = in_order};
}

static struct plan *make(uint32_t vertex_count, const struct range_edge *edges, size_t count,
                         bool directed, const struct plan_outline *outline)
{
    struct graph *graph = range_build(vertex_count, edges, count, directed);
    struct plan *plan = NULL;
    assert_int_equal(plan_symbolic_make(graph, outline, &plan), STATUS_OK);
    assert_int_equal(plan->summary.kind, PLAN_NESTED_DISSECTION);
    assert_int_equal(plan->vertex_count, vertex_count);
    graph_destroy(graph);
    return plan;
}

static void assert_bits(const uint64_t *bits, bool (*expected)[SIZE_MOST], uint32_t n)
{
    for (uint32_t bit = 0; bit < n * n; ++bit) {
        assert_int_equal(bits[bit / 64] >> bit % 64 & 1, expected[bit / n][bit % n]);
    }
}

static uint64_t all_tiles(const uint32_t (*tiles)[2], size_t count, uint32_t tile_count)
{
    uint64_t bits = 0;
    for (size_t index = 0; index < count; ++index) {
        bits |= UINT64_C(1) << (tiles[index][0] * tile_count + tiles[index][1]);
    }
    return bits;
}

/* Tiles of one vertex: the bitmaps of the plan are the graph's edges and their elimination. */
TEST(the_bitmaps_contain_the_edges_and_the_fill_of_the_elimination)
{
    static const uint32_t sizes[] = {1, 7, 63, 64, 65, SIZE_MOST};
    for (size_t index = 0; index < 2 * sizeof(sizes) / sizeof(sizes[0]); ++index) {
        const uint32_t n = sizes[index / 2];
        const bool directed = index % 2 != 0;
        static struct range_edge edges[SIZE_MOST];
        static uint32_t vertex_at[SIZE_MOST + 1];
        static bool linked[SIZE_MOST][SIZE_MOST];
        uint64_t seed = n;
        memset(linked, 0, sizeof(linked));
        for (uint32_t at = 0; at <= n; ++at) {
            vertex_at[at] = at;
        }
        for (uint32_t edge = 0; edge < n; ++edge) {
            edges[edge] = (struct range_edge){range_next(&seed, n), range_next(&seed, n), 1};
            linked[edges[edge].source][edges[edge].target] = true;
            linked[edges[edge].target][edges[edge].source] |= !directed;
            linked[edge][edge] = true;
        }
        const struct plan_outline outline = {.vertex_at = vertex_at,
                                             .tile_begin = vertex_at,
                                             .tile_count = n,
                                             .tile = 1,
                                             .pivot = vertex_at,
                                             .symmetric = !directed};
        struct plan *plan = make(n, edges, n, directed, &outline);
        assert_bits(plan->edge_tiles, linked, n);
        for (uint32_t pivot = 0; pivot < n; ++pivot) {
            for (uint32_t i = 0; i < n; ++i) {
                for (uint32_t j = 0; linked[i][pivot] && j < n; ++j) {
                    linked[i][j] |= linked[pivot][j];
                }
            }
        }
        assert_bits(plan->reached_tiles, linked, n);
        plan_destroy(plan);
    }
}

TEST(an_empty_graph_has_no_rounds)
{
    static uint32_t begin[] = {0};
    const struct plan_outline outline = {.vertex_at = begin, .tile_begin = begin, .tile = 4};
    struct plan *plan = make(0, NULL, 0, true, &outline);
    assert_int_equal(plan->tile_count, 0);
    assert_int_equal(plan->round_count, 0);
    assert_int_equal(plan->summary.work_fraction, 1);
    plan_destroy(plan);
}

TEST(independent_neighbours_share_a_round)
{
    const struct plan_outline outline = outline_of_pairs();
    struct plan *plan = make(5, pairs, 4, false, &outline);
    assert_int_equal(plan->round_count, 2);
    const struct plan_round *round = plan->rounds;
    assert_int_equal(round->pivot_count, 2);
    assert_int_equal(round->left_count, 2);
    assert_int_equal(round->right_count, 2);
    assert_ptr_not_equal(round->left_tiles, round->right_tiles);
    /* Both pairs are adjacent to the separator, whose tile is thus a target with two products. */
    assert_int_equal(round->target_count, 1);
    assert_int_equal(round->targets[0].row_tile, 2);
    assert_int_equal(round->targets[0].column_tile, 2);
    assert_int_equal(round->targets[0].product_count, 2);
    assert_false(round->targets[0].fresh);
    assert_int_equal(round->products[0].pivot, 0);
    assert_int_equal(round->products[1].pivot, 1);
    assert_int_equal(round->products[1].left, 1);
    assert_int_equal(round->products[1].right, 1);
    plan_destroy(plan);
}

TEST(the_last_round_connects_the_parts)
{
    static const uint32_t edge_tiles[][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 2},
                                             {2, 0}, {1, 2}, {2, 1}};
    const struct plan_outline outline = outline_of_pairs();
    struct plan *plan = make(5, pairs, 4, false, &outline);
    const struct plan_round *round = &plan->rounds[1];
    assert_int_equal(round->pivots[0].tile, 2);
    assert_int_equal(round->target_count, 4);
    for (uint32_t target = 0; target < 4; ++target) {
        assert_int_equal(round->targets[target].row_tile, target / 2);
        assert_int_equal(round->targets[target].column_tile, target % 2);
        assert_int_equal(round->targets[target].fresh, target / 2 != target % 2);
    }
    assert_int_equal(plan->edge_tiles[0], all_tiles(edge_tiles, 7, 3));
    assert_int_equal(plan->reached_tiles[0], 0x1FF);
    plan_destroy(plan);
}

TEST(a_symmetric_plan_lists_only_the_lower_half)
{
    struct plan_outline outline = outline_of_pairs();
    outline.symmetric = true;
    struct plan *plan = make(5, pairs, 4, false, &outline);
    const struct plan_round *round = &plan->rounds[1];
    assert_true(plan->symmetric);
    assert_null(plan->right_tiles);
    assert_ptr_equal(round->left_tiles, round->right_tiles);
    assert_int_equal(round->right_count, round->left_count);
    assert_int_equal(round->target_count, 3);
    for (uint32_t target = 0; target < 3; ++target) {
        assert_true(round->targets[target].row_tile >= round->targets[target].column_tile);
    }
    assert_int_equal(plan->reached_tiles[0], 0x1FF);
    plan_destroy(plan);
}

TEST(dependent_pivots_do_not_share_a_round)
{
    static uint32_t separator_first[] = {2, 0, 1};
    struct plan_outline outline = outline_of_pairs();
    outline.pivot = separator_first;
    struct plan *plan = make(5, pairs, 4, false, &outline);
    assert_int_equal(plan->round_count, 3);
    assert_int_equal(plan->rounds[1].target_count, 4);
    plan_destroy(plan);
}

/* Two pivots with an edge between them are dependent, regardless of their order and of the edge's
 * direction. */
TEST(an_edge_in_one_direction_makes_pivots_dependent)
{
    static const struct range_edge there[] = {{0, 1, 1}};
    static uint32_t reversed[] = {1, 0};
    struct plan_outline outline = {
        .vertex_at = in_order, .tile_begin = in_order, .tile_count = 2, .tile = 1};
    for (int turn = 0; turn < 2; ++turn) {
        outline.pivot = turn == 0 ? in_order : reversed;
        struct plan *plan = make(2, there, 1, true, &outline);
        assert_int_equal(plan->round_count, 2);
        plan_destroy(plan);
    }
}

/* The graph is a path 0 -> 1 -> 2 with one tile per vertex. No edge enters vertex 0, and no edge
 * leaves vertex 2. */
TEST(a_pivot_with_only_one_panel_has_no_targets)
{
    static const struct range_edge chain[] = {{0, 1, 1}, {1, 2, 1}};
    const struct plan_outline outline = {.vertex_at = in_order,
                                         .tile_begin = in_order,
                                         .tile_count = 3,
                                         .tile = 1,
                                         .pivot = in_order};
    struct plan *plan = make(3, chain, 2, true, &outline);
    assert_int_equal(plan->round_count, 3);
    assert_int_equal(plan->rounds[0].target_count, 0);
    assert_int_equal(plan->rounds[0].right_count, 1);
    assert_int_equal(plan->rounds[0].left_count, 0);
    assert_int_equal(plan->rounds[1].target_count, 1);
    assert_true(plan->rounds[1].targets[0].fresh);
    assert_int_equal(plan->rounds[2].target_count, 0);
    assert_int_equal(plan->rounds[2].left_count, 2);
    plan_destroy(plan);
}

TEST(the_work_fraction_excludes_the_padding_of_tiles)
{
    struct plan_outline outline = outline_of_pairs();
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        outline.symmetric = symmetric;
        struct plan *plan = make(5, pairs, 4, false, &outline);
        /* Each pair costs 2 * (2 + 1)^2 = 18 relaxations, the separator 1 * (1 + 4)^2 = 25. */
        assert_float_equal(plan->summary.work_fraction, 61.0 / 125, 1e-12);
        plan_destroy(plan);
    }
}

TEST(the_order_determines_the_tile_of_an_edge)
{
    static const struct range_edge edge[] = {{0, 3, 1}};
    static uint32_t order[] = {3, 1, 2, 0};
    static uint32_t begin[] = {0, 1, 4};
    const struct plan_outline outline = {
        .vertex_at = order, .tile_begin = begin, .tile_count = 2, .tile = 3, .pivot = in_order};
    struct plan *plan = make(4, edge, 1, true, &outline);
    /* The bits are those of tile (1, 0) and of the two diagonal tiles. */
    assert_int_equal(plan->edge_tiles[0], 0xD);
    assert_memory_equal(plan->vertex_at, order, sizeof(order));
    assert_memory_equal(plan->tile_begin, begin, sizeof(begin));
    plan_destroy(plan);
}
