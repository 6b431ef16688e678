#include "server/store/identity_sum.h"

#include "server/store/identity.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY (5 * IDENTITY_BLOCK_EDGES + 17)

/* Its edges come so many at a time, up to the last. */
static void offer_in_pieces(struct identity_sum *sum, const struct graph *graph, uint64_t piece)
{
    struct settled_edges edges = {graph->target, graph->weight_i4, 0};
    while (edges.count < graph->edge_count) {
        const uint64_t left = graph->edge_count - edges.count;
        edges.count += left < piece ? left : piece;
        identity_sum_offer(sum, &edges);
    }
}

static void edges_summed_while_they_come_make_the_same_id(void **state)
{
    static const uint64_t pieces[] = {1, 100, IDENTITY_BLOCK_EDGES, MANY};
    (void)state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    char whole[GRAPH_ID_SIZE];
    assert_int_equal(identity_of_graph(graph, NULL, "", NULL, whole), STATUS_OK);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        char id[GRAPH_ID_SIZE];
        struct identity_sum *sum = identity_sum_begin();
        assert_non_null(sum);
        offer_in_pieces(sum, graph, pieces[i]);
        assert_int_equal(identity_of_graph(graph, sum, "", NULL, id), STATUS_OK);
        assert_string_equal(id, whole);
    }
    graph_destroy(graph);
}

/* The rest is summed when the graph is there. */
static void a_sum_may_have_begun_only(void **state)
{
    (void)state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    char whole[GRAPH_ID_SIZE];
    char id[GRAPH_ID_SIZE];
    assert_int_equal(identity_of_graph(graph, NULL, "", NULL, whole), STATUS_OK);
    for (uint64_t count = 0; count <= graph->edge_count; count += IDENTITY_BLOCK_EDGES - 1) {
        const struct settled_edges edges = {graph->target, graph->weight_i4, count};
        struct identity_sum *sum = identity_sum_begin();
        assert_non_null(sum);
        identity_sum_offer(sum, &edges);
        assert_int_equal(identity_of_graph(graph, sum, "", NULL, id), STATUS_OK);
        assert_string_equal(id, whole);
    }
    graph_destroy(graph);
}

/* More than there is room for while the thread is at work on the first: none is lost. */
static void a_sum_that_falls_behind_is_made_up_for(void **state)
{
    (void)state;
    struct graph *graph = fixture_path_graph(100 * IDENTITY_BLOCK_EDGES, WEIGHT_INTEGER, 5);
    char whole[GRAPH_ID_SIZE];
    char id[GRAPH_ID_SIZE];
    assert_int_equal(identity_of_graph(graph, NULL, "", NULL, whole), STATUS_OK);
    struct identity_sum *sum = identity_sum_begin();
    assert_non_null(sum);
    offer_in_pieces(sum, graph, 30 * IDENTITY_BLOCK_EDGES);
    assert_int_equal(identity_of_graph(graph, sum, "", NULL, id), STATUS_OK);
    assert_string_equal(id, whole);
    graph_destroy(graph);
}

static void one_graph_at_a_time_is_summed(void **state)
{
    (void)state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    struct identity_sum *sum = identity_sum_begin();
    assert_non_null(sum);
    assert_null(identity_sum_begin());
    offer_in_pieces(sum, graph, MANY);
    identity_sum_drop(sum);
    sum = identity_sum_begin();
    assert_non_null(sum);
    identity_sum_drop(sum);
    identity_sum_drop(NULL);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_summed_while_they_come_make_the_same_id),
        cmocka_unit_test(a_sum_may_have_begun_only),
        cmocka_unit_test(a_sum_that_falls_behind_is_made_up_for),
        cmocka_unit_test(one_graph_at_a_time_is_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
