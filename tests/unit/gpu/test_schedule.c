#include "gpu/schedule.h"
#include "tests/lib/test.h"

#define TILE 128

/* Four tiles of 100, 20, 128 and 60 vertices. Tiles 0 and 1 are leaves, and tiles 2 and 3 are their
 * separators. The first round eliminates both leaves, and the second round tile 2. There is no
 * round for tile 3. */
static uint32_t vertex_at[308];
static uint32_t tile_begin[] = {0, 100, 120, 248, 308};
static uint32_t left_tiles[] = {2, 3, 2, 3, 0, 1, 3};
static struct plan_pivot pivots[] = {{0, 0, 2, 0, 2}, {1, 2, 2, 2, 2}, {2, 0, 3, 0, 3}};
static struct plan_product products[] = {
    /* products of targets (2, 2) and (3, 2) over both leaves, and of (3, 3) over the first leaf */
    {0, 0, 0},
    {2, 2, 1},
    {1, 0, 0},
    {3, 2, 1},
    {1, 1, 0},
    /* products of targets (0, 0), (3, 0) and (3, 1) in the second round */
    {0, 0, 0},
    {2, 0, 0},
    {2, 1, 0},
};
static struct plan_target targets[] = {
    {3, 3, 4, 1, false}, {2, 2, 0, 2, false}, {3, 2, 2, 2, true},
    {0, 0, 0, 1, false}, {3, 0, 1, 1, false}, {3, 1, 2, 1, true},
};
static uint64_t edge_tiles[] = {0};
static struct plan_round rounds[2];

static void set_edge(uint32_t row, uint32_t column)
{
    edge_tiles[0] |= UINT64_C(1) << (row * 4 + column) | UINT64_C(1) << (column * 4 + row);
}

static struct plan make_plan(bool symmetric)
{
    for (uint32_t vertex = 0; vertex < 308; ++vertex) {
        vertex_at[vertex] = 307 - vertex;
    }
    edge_tiles[0] = 0;
    for (uint32_t tile = 0; tile < 4; ++tile) {
        set_edge(tile, tile);
        set_edge(tile, 2);
    }
    rounds[0] =
        (struct plan_round){pivots, 2, left_tiles, 4, left_tiles, 4, targets, 3, products, 5};
    rounds[1] = (struct plan_round){pivots + 2,  1, left_tiles + 4, 3, left_tiles + 4, 3,
                                    targets + 3, 3, products + 5,   3};
    return (struct plan){.summary = {.kind = PLAN_NESTED_DISSECTION},
                         .vertex_count = 308,
                         .tile = TILE,
                         .tile_count = 4,
                         .symmetric = symmetric,
                         .vertex_at = vertex_at,
                         .tile_begin = tile_begin,
                         .edge_tiles = edge_tiles,
                         .rounds = rounds,
                         .round_count = 2,
                         .left_count = 7,
                         .right_count = symmetric ? 0 : 7,
                         .targets = targets,
                         .target_count = 6,
                         .products = products,
                         .product_count = 8};
}

static struct schedule *make(const struct plan *plan, uint32_t packing)
{
    struct schedule *schedule = NULL;
    assert_int_equal(schedule_create(plan, (struct schedule_grain){packing, 32}, &schedule),
                     STATUS_OK);
    return schedule;
}

TEST(vertices_are_placed_in_padded_tiles)
{
    const struct plan plan = make_plan(true);
    struct schedule *schedule = make(&plan, 1);
    assert_int_equal(schedule->position[307], 0);
    assert_int_equal(schedule->position[307 - 99], 99);
    assert_int_equal(schedule->position[307 - 100], TILE);
    assert_int_equal(schedule->position[307 - 120], 2 * TILE);
    assert_int_equal(schedule->position[0], 3 * TILE + 59);
    schedule_destroy(schedule);
}

TEST(tiles_with_edges_are_filled_once)
{
    const struct plan whole = make_plan(false);
    struct schedule *schedule = make(&whole, 1);
    assert_int_equal(schedule->fill_count, 10);
    schedule_destroy(schedule);
    const struct plan half = make_plan(true);
    schedule = make(&half, 1);
    assert_int_equal(schedule->fill_count, 7);
    for (uint32_t fill = 0; fill < schedule->fill_count; ++fill) {
        assert_true(schedule->fills[fill].row >= schedule->fills[fill].column);
    }
    schedule_destroy(schedule);
}

TEST(the_lists_of_a_schedule_are_in_the_order_of_the_rounds)
{
    const struct plan plan = make_plan(false);
    struct schedule *schedule = make(&plan, 1);
    assert_int_equal(schedule->rounds[0].pivots.count, 2);
    assert_int_equal(schedule->pivots[1].tile, 1);
    assert_int_equal(schedule->pivots[1].depth, 20);
    assert_int_equal(schedule->rounds[0].rights.begin, 0);
    assert_int_equal(schedule->rounds[0].lefts.begin, 4);
    assert_int_equal(schedule->rounds[1].rights.begin, 8);
    assert_int_equal(schedule->rounds[1].lefts.begin, 11);
    uint32_t left_slots = 0;
    uint32_t right_slots = 0;
    schedule_slots(&plan, &left_slots, &right_slots);
    assert_int_equal(left_slots, 4);
    assert_int_equal(right_slots, 4);
    const struct schedule_panel last = schedule->panels[13];
    assert_int_equal(last.tile, 3);
    assert_int_equal(last.pivot, 2);
    assert_int_equal(last.depth, 128);
    assert_int_equal(last.width, 60);
    schedule_destroy(schedule);
}

TEST(a_symmetric_plan_lists_each_panel_once)
{
    const struct plan plan = make_plan(true);
    struct schedule *schedule = make(&plan, 1);
    assert_int_equal(schedule->panel_count, 7);
    assert_int_equal(schedule->rounds[1].rights.count, 0);
    assert_int_equal(schedule->rounds[1].lefts.begin, 4);
    schedule_destroy(schedule);
}

TEST(targets_with_the_most_work_come_first)
{
    const struct plan plan = make_plan(true);
    struct schedule *schedule = make(&plan, 1);
    /* A target's depth is 5 slabs: 4 for the first leaf with its 100 pivots, and 1 for the second
     * leaf with 20 pivots. */
    assert_int_equal(schedule->targets[0].row, 2);
    assert_int_equal(schedule->targets[0].slabs, 5);
    assert_int_equal(schedule->targets[1].row, 3);
    assert_int_equal(schedule->targets[1].columns[0], 2);
    assert_int_equal(schedule->targets[1].slabs, 5);
    assert_int_equal(schedule->targets[1].flags, SCHEDULE_FRESH_FIRST | SCHEDULE_FRESH_SECOND);
    assert_int_equal(schedule->targets[2].columns[0], 3);
    assert_int_equal(schedule->targets[2].slabs, 4);
    const struct schedule_product *product =
        &schedule->products[schedule->targets[1].product_begin];
    assert_int_equal(product[0].left, 1);
    assert_int_equal(product[0].right[0], 0);
    assert_int_equal(product[0].depth, 100);
    assert_int_equal(product[1].left, 3);
    assert_int_equal(product[1].depth, 20);
    schedule_destroy(schedule);
}

TEST(a_target_is_as_large_as_its_vertices_require)
{
    const struct plan plan = make_plan(true);
    struct schedule *schedule = make(&plan, 1);
    assert_int_equal(schedule->targets[1].rows, 60);
    assert_int_equal(schedule->targets[1].words[0], 64);
    assert_int_equal(schedule->targets[1].words[1], 64);
    assert_int_equal(schedule->targets[2].words[0], 60);
    assert_int_equal(schedule->targets[2].words[1], 0);
    schedule_destroy(schedule);
}

TEST(two_tiles_with_equal_left_operands_share_an_entry)
{
    const struct plan plan = make_plan(true);
    struct schedule *schedule = make(&plan, 2);
    assert_int_equal(schedule->rounds[0].targets.count, 3);
    assert_int_equal(schedule->rounds[1].targets.count, 2);
    const struct schedule_target *alone = &schedule->targets[3];
    const struct schedule_target *pair = &schedule->targets[4];
    assert_int_equal(alone->columns[1], 0);
    assert_int_equal(alone->words[0], 50);
    assert_int_equal(alone->words[1], 0);
    assert_int_equal(pair->columns[0], 0);
    assert_int_equal(pair->columns[1], 1);
    assert_int_equal(pair->words[1], 10);
    assert_int_equal(pair->flags, SCHEDULE_FRESH_SECOND);
    assert_int_equal(schedule->products[pair->product_begin].right[0], 0);
    assert_int_equal(schedule->products[pair->product_begin].right[1], 1);
    schedule_destroy(schedule);
}

TEST(the_lists_of_a_schedule_fit_in_the_predicted_bytes)
{
    const struct plan plan = make_plan(false);
    assert_true(schedule_bytes_most(&plan, 256) >=
                10 * sizeof(struct schedule_tile) + 4 * sizeof(struct schedule_pivot) +
                    14 * sizeof(struct schedule_panel) + 6 * sizeof(struct schedule_target) +
                    8 * sizeof(struct schedule_product) + 308 * sizeof(uint32_t) + 7 * 256);
    schedule_destroy(NULL);
}
