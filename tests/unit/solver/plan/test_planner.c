#include "server/solver/plan/planner.h"

#include "server/solver/order/separator.h"
#include "tests/lib/range_fixture.h"

static struct plan *make(uint32_t vertex_count, uint32_t tile)
{
    struct plan *plan = NULL;
    assert_int_equal(planner_dense(vertex_count, tile, &plan), STATUS_OK);
    assert_int_equal(plan->summary.kind, PLAN_DENSE);
    assert_int_equal(plan->vertex_count, vertex_count);
    assert_int_equal(plan->tile, tile);
    assert_null(plan->vertex_at);
    return plan;
}

TEST(an_empty_plan_needs_no_rounds)
{
    struct plan *plan = make(0, 128);
    assert_int_equal(plan->tile_count, 0);
    assert_int_equal(plan->round_count, 0);
    assert_int_equal(plan->summary.parts, 0);
    plan_destroy(plan);
}

TEST(a_dense_plan_has_one_round_per_tile)
{
    static const struct {
        uint32_t vertex_count, tile_count;
    } cases[] = {{1, 1}, {127, 1}, {128, 1}, {129, 2}, {256, 2}, {257, 3}, {200000, 1563}};
    for (size_t index = 0; index < sizeof(cases) / sizeof(cases[0]); ++index) {
        struct plan *plan = make(cases[index].vertex_count, 128);
        assert_int_equal(plan->tile_count, cases[index].tile_count);
        assert_int_equal(plan->round_count, cases[index].tile_count);
        assert_int_equal(plan->summary.parts, 1);
        plan_destroy(plan);
    }
}

TEST(a_dense_plan_has_no_lists)
{
    struct plan *plan = make(1000, 64);
    assert_null(plan->vertex_at);
    assert_null(plan->tile_begin);
    assert_null(plan->rounds);
    assert_null(plan->edge_tiles);
    plan_destroy(plan);
}

TEST(the_largest_graph_has_a_plan)
{
    struct plan *plan = make(UINT32_MAX, 65536);
    assert_int_equal(plan->tile_count, 65536);
    assert_int_equal(plan->round_count, 65536);
    plan_destroy(plan);
}

#define TILE 16
#define EDGES_MAX 20000

static struct range_edge edges[EDGES_MAX];

/* Returns the costs of a device with tiles of 16 vertices, so that small graphs have many tiles. */
static struct plan_cost small_tiles(void)
{
    return (struct plan_cost){.tile = TILE,
                              .threads = 2,
                              .units = 2,
                              .granule = 1,
                              .edge_granule = 1,
                              .round_s = 1e-7,
                              .product_s = 1e-6,
                              .touch_s = 1e-8};
}

static struct graph *make_dense(uint32_t vertex_count)
{
    size_t count = 0;
    for (uint32_t a = 0; a < vertex_count; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            edges[count++] = (struct range_edge){a, b, 1};
        }
    }
    return range_build(vertex_count, edges, count, false);
}

static struct plan *plan_for(const struct graph *graph, const struct plan_cost *cost)
{
    struct plan *plan = NULL;
    assert_int_equal(planner_make(graph, cost, NULL, &plan), STATUS_OK);
    assert_int_equal(plan->vertex_count, graph->vertex_count);
    assert_int_equal(plan->tile, cost->tile);
    assert_true(plan->summary.planning_s > 0);
    return plan;
}

TEST(a_grid_is_dissected)
{
    const struct plan_cost cost = small_tiles();
    struct graph *graph = range_grid(60);
    struct plan *plan = plan_for(graph, &cost);
    if (separator_present()) {
        assert_int_equal(plan->summary.kind, PLAN_NESTED_DISSECTION);
        assert_true(plan->symmetric);
        assert_true(plan->summary.work_fraction < 0.15);
        assert_in_range(plan->summary.largest_separator, 30, 120);
        assert_in_range(plan->summary.parts, 10, plan->tile_count);
        assert_true(plan->round_count < plan->tile_count / 2);
        assert_in_range(plan->expected_s * 1e9, 1, plan_cost_dense(&cost, 3600, true) * 1e9 / 4);
    }
    plan_destroy(plan);
    graph_destroy(graph);
}

TEST(repeated_planning_gives_the_same_plan)
{
    const struct plan_cost cost = small_tiles();
    struct graph *graph = range_grid(40);
    struct plan *first = plan_for(graph, &cost);
    for (int again = 0; again < 5; ++again) {
        struct plan *plan = plan_for(graph, &cost);
        assert_int_equal(plan->tile_count, first->tile_count);
        assert_int_equal(plan->product_count, first->product_count);
        if (first->vertex_at != NULL) {
            assert_memory_equal(plan->vertex_at, first->vertex_at, 1600 * sizeof(uint32_t));
        }
        plan_destroy(plan);
    }
    plan_destroy(first);
    graph_destroy(graph);
}

TEST(a_disconnected_graph_gets_a_plan_even_without_separators)
{
    const struct plan_cost cost = small_tiles();
    size_t count = 0;
    for (uint32_t vertex = 0; vertex < 1000; ++vertex) {
        edges[count++] = (struct range_edge){vertex, vertex / 10 * 10 + (vertex + 1) % 10, 1};
    }
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = range_build(1000, edges, count, directed);
        struct plan *plan = plan_for(graph, &cost);
        assert_int_equal(plan->summary.kind, PLAN_NESTED_DISSECTION);
        assert_int_equal(plan->round_count, 1);
        assert_int_equal(plan->product_count, 0);
        assert_int_equal(plan->summary.largest_separator, 0);
        plan_destroy(plan);
        graph_destroy(graph);
    }
}

TEST(a_dense_plan_is_chosen_if_dissection_is_not_worthwhile)
{
    const struct plan_cost cost = small_tiles();
    struct graph *graphs[] = {make_dense(150), range_grid(8), range_build(0, NULL, 0, true)};
    for (size_t index = 0; index < sizeof(graphs) / sizeof(graphs[0]); ++index) {
        struct plan *plan = plan_for(graphs[index], &cost);
        assert_int_equal(plan->summary.kind, PLAN_DENSE);
        assert_true(plan->summary.work_fraction == 1);
        plan_destroy(plan);
        graph_destroy(graphs[index]);
    }
}

TEST(a_separator_search_that_costs_more_than_the_solve_is_skipped)
{
    struct plan_cost cost = small_tiles();
    cost.separator_s = 1;
    struct graph *graph = range_grid(60);
    struct plan *plan = plan_for(graph, &cost);
    assert_int_equal(plan->summary.kind, PLAN_DENSE);
    plan_destroy(plan);
    graph_destroy(graph);
}

/* The graph has eight bands of one-way edges, whose vertices alternate. Every strongly connected
 * component is one vertex, so an order by levels would put vertices of all bands into each tile. */
TEST(interleaved_components_are_separated)
{
    const struct plan_cost cost = small_tiles();
    size_t count = 0;
    for (uint32_t vertex = 0; vertex < 800; ++vertex) {
        for (uint32_t next = vertex + 8; next <= vertex + 80 && next < 800; next += 8) {
            edges[count++] = (struct range_edge){vertex, next, 1};
        }
    }
    struct graph *graph = range_build(800, edges, count, true);
    struct plan *plan = plan_for(graph, &cost);
    assert_int_equal(plan->summary.kind, PLAN_NESTED_DISSECTION);
    assert_false(plan->symmetric);
    /* The work shows that each band of 100 vertices is solved separately. */
    assert_true(plan->summary.work_fraction < 1.0 / 64);
    assert_true(!separator_present() || plan->summary.largest_separator > 0);
    plan_destroy(plan);
    graph_destroy(graph);
}

/* Number of words in a record before its list of vertices. */
#define HEAD 5

static struct plan *plan_by(const struct graph *graph, const struct plan_cost *cost,
                            struct order_record *record)
{
    struct plan *plan = NULL;
    record->fresh = false;
    assert_int_equal(planner_make(graph, cost, record, &plan), STATUS_OK);
    return plan;
}

/* Returns whether the planner reuses the record's order for this graph. The planner gets a copy, so
 * that the record stays unchanged. */
static bool is_recalled(const struct graph *graph, const struct plan_cost *cost,
                        const struct order_record *record)
{
    struct order_record copy = {.words = malloc(record->count * sizeof(*copy.words)),
                                .count = record->count};
    memcpy(copy.words, record->words, copy.count * sizeof(*copy.words));
    struct plan *plan = plan_by(graph, cost, &copy);
    const bool cached = plan->summary.cached;
    /* Each vertex must occur once in the plan, even if the record is invalid. */
    uint32_t *places = calloc(plan->vertex_count + 1, sizeof(*places));
    for (uint32_t place = 0; plan->vertex_at != NULL && place < plan->vertex_count; ++place) {
        assert_in_range(plan->vertex_at[place], 0, plan->vertex_count - 1);
        assert_int_equal(places[plan->vertex_at[place]]++, 0);
    }
    free(places);
    free(copy.words);
    plan_destroy(plan);
    return cached;
}

TEST(a_recorded_order_is_reused_for_different_weights)
{
    const struct plan_cost cost = small_tiles();
    struct order_record record = {0};
    struct graph *graph = range_grid(60);
    struct plan *first = plan_by(graph, &cost, &record);
    assert_true(record.fresh && !first->summary.cached);
    assert_in_range(record.count, 1, order_record_limit(graph->vertex_count));
    for (uint64_t edge = 0; edge < graph->edge_count; ++edge) {
        graph->weight_i4[edge] = (int32_t)(edge % 7);
    }
    struct plan *again = plan_by(graph, &cost, &record);
    assert_true(again->summary.cached && !record.fresh);
    assert_int_equal(again->summary.kind, first->summary.kind);
    assert_int_equal(again->summary.parts, first->summary.parts);
    assert_int_equal(again->summary.largest_separator, first->summary.largest_separator);
    assert_true(again->summary.work_fraction == first->summary.work_fraction);
    assert_int_equal(again->product_count, first->product_count);
    if (first->vertex_at != NULL) {
        assert_memory_equal(again->vertex_at, first->vertex_at, 3600 * sizeof(uint32_t));
    }
    plan_destroy(first);
    plan_destroy(again);
    free(record.words);
    graph_destroy(graph);
}

TEST(a_search_that_was_not_worthwhile_is_recorded)
{
    const struct plan_cost cost = small_tiles();
    struct order_record record = {0};
    struct graph *graph = make_dense(150);
    plan_destroy(plan_by(graph, &cost, &record));
    assert_true(record.fresh);
    assert_true(is_recalled(graph, &cost, &record));
    free(record.words);
    graph_destroy(graph);
}

TEST(a_recorded_order_is_reused_only_for_the_same_vertices)
{
    const struct plan_cost cost = small_tiles();
    struct order_record record = {0};
    struct graph *graph = range_grid(40);
    struct graph *larger = range_grid(41);
    plan_destroy(plan_by(graph, &cost, &record));
    assert_true(is_recalled(graph, &cost, &record));
    assert_false(is_recalled(larger, &cost, &record));
    struct plan_cost other = cost;
    other.tile = 2 * TILE;
    assert_true(is_recalled(graph, &other, &record));
    other = cost;
    other.granule = 4;
    assert_true(is_recalled(graph, &other, &record));
    plan_destroy(plan_by(larger, &cost, &record));
    assert_true(record.fresh);
    assert_true(is_recalled(larger, &cost, &record));
    free(record.words);
    graph_destroy(larger);
    graph_destroy(graph);
}

TEST(damaged_records_never_produce_a_wrong_plan)
{
    static const uint32_t values[] = {0, 17, 1599, 1600, UINT32_MAX};
    const struct plan_cost cost = small_tiles();
    struct order_record record = {0};
    struct graph *graph = range_grid(40);
    plan_destroy(plan_by(graph, &cost, &record));
    const size_t count = record.count;
    uint64_t seed = 1;
    for (uint32_t trial = 0; trial < 24; ++trial) {
        const size_t at = trial < HEAD ? trial : range_next(&seed, (uint32_t)count);
        const uint32_t was = record.words[at];
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
            record.words[at] = values[i];
            const bool recalled = is_recalled(graph, &cost, &record);
            /* An order that contains a vertex twice must not be reused. */
            assert_true(at < HEAD || at >= HEAD + 1600 || recalled == (values[i] == was));
        }
        record.words[at] = was;
    }
    for (record.count = 0; record.count < count; record.count += 1 + count / 4) {
        assert_false(is_recalled(graph, &cost, &record));
    }
    /* Every permutation is a valid order, but with most permutations a plan costs more than the
     * dense plan. */
    record.count = count;
    if (separator_present()) {
        for (uint32_t place = 0; place < 1600; ++place) {
            const uint32_t other = range_next(&seed, place + 1);
            record.words[HEAD + place] = record.words[HEAD + other];
            record.words[HEAD + other] = place;
        }
        struct plan *plan = plan_by(graph, &cost, &record);
        assert_true(plan->summary.cached);
        assert_int_equal(plan->summary.kind, PLAN_DENSE);
        plan_destroy(plan);
    }
    free(record.words);
    graph_destroy(graph);
}

/* A solve with result=hierarchy stores a record that contains an order but no tiles. */
TEST(the_order_of_a_hierarchy_is_reused_for_a_plan)
{
    const struct plan_cost cost = small_tiles();
    const struct order_options options = {.threads = 1};
    struct order_record record = {0};
    struct graph *graph = range_grid(60);
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order), STATUS_OK);
    order_record_put(&record, order);
    struct plan *plan = plan_by(graph, &cost, &record);
    assert_true(plan->summary.cached);
    assert_int_equal(plan->summary.kind, separator_present() ? PLAN_NESTED_DISSECTION : PLAN_DENSE);
    struct plan *other = plan_for(graph, &cost);
    assert_int_equal(plan->product_count, other->product_count);
    assert_false(record.fresh);
    plan_destroy(plan);
    plan_destroy(other);
    order_destroy(order);
    free(record.words);
    graph_destroy(graph);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

TEST(planning_can_be_cancelled)
{
    const struct observer observer = {.cancelled = always};
    struct order_record record = {.observer = &observer};
    struct plan *plan = NULL;
    const struct plan_cost cost = small_tiles();
    struct graph *graph = range_grid(60);
    assert_int_equal(planner_make(graph, &cost, &record, &plan), STATUS_CANCELLED);
    assert_null(record.words);
    /* Planning with a cached order can be cancelled too, and the order then stays cached. */
    record.observer = NULL;
    plan_destroy(plan_by(graph, &cost, &record));
    record.observer = &observer;
    record.fresh = false;
    assert_int_equal(planner_make(graph, &cost, &record, &plan), STATUS_CANCELLED);
    assert_true(record.words != NULL && !record.fresh);
    free(record.words);
    graph_destroy(graph);
}
