#include "server/solver/order/order_record.h"

#include "tests/lib/hierarchy_fixture.h"

static struct order *make(const struct graph *graph)
{
    const struct order_options options = {.threads = 1, .strong = graph->directed};
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order), STATUS_OK);
    return order;
}

TEST(a_record_restores_the_order)
{
    for (uint64_t seed = 0; seed < 100; ++seed) {
        struct graph *graph = seed == 0 ? make_grid(true) : range_random(seed);
        struct order *order = make(graph);
        struct order *read = NULL;
        struct order_record record = {0};
        order_record_put(&record, order);
        assert_true(record.fresh);
        assert_in_range(record.count, 1, order_record_limit(graph->vertex_count));
        assert_int_equal(order_record_get(&record, graph->vertex_count, &read), STATUS_OK);
        assert_non_null(read);
        assert_memory_equal(read->vertex_at, order->vertex_at,
                            graph->vertex_count * sizeof(*read->vertex_at));
        assert_int_equal(read->node_count, order->node_count);
        assert_memory_equal(read->nodes, order->nodes, order->node_count * sizeof(*read->nodes));
        assert_int_equal(read->root_count, order->root_count);
        assert_memory_equal(read->roots, order->roots, order->root_count * sizeof(*read->roots));
        assert_int_equal(read->largest_separator, order->largest_separator);
        assert_int_equal(read->strong, order->strong);
        order_destroy(read);
        order_destroy(order);
        free(record.words);
        graph_destroy(graph);
    }
}

/* The record contains a tree whose height equals its number of vertices. A recursive search of this
 * tree would overflow the stack. */
TEST(an_impossible_tree_is_refused)
{
    enum { HEIGHT = 100000 };
    struct order_record record = {0};
    struct order *read = NULL;
    const uint32_t n = HEIGHT + 1;
    record.count = 5 + (size_t)n + 2 * HEIGHT + 1 + 1;
    record.words = calloc(record.count, sizeof(*record.words));
    assert_non_null(record.words);
    record.words[0] = n;
    record.words[1] = 2 * HEIGHT + 1;
    record.words[2] = 1;
    uint32_t *next = record.words + 5;
    for (uint32_t i = 0; i < n; ++i) {
        *next++ = i;
    }
    *next++ = 1 | UINT32_C(1) << 31;
    for (uint32_t i = 0; i < HEIGHT; ++i) {
        *next++ = UINT32_C(1) << 31;
        *next++ = 1;
    }
    assert_int_equal(order_record_get(&record, n, &read), STATUS_OK);
    assert_null(read);
    free(record.words);
}

TEST(an_empty_record_gives_no_order)
{
    const struct order_record record = {0};
    struct order *read = NULL;
    assert_int_equal(order_record_get(&record, 0, &read), STATUS_OK);
    assert_null(read);
}
