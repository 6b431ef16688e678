#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NUMBERED 300
#define DRAWN 9000

struct drawn {
    uint32_t source;
    uint32_t target;
    double weight;
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static int compare(const void *left, const void *right)
{
    const struct drawn *a = left;
    const struct drawn *b = right;

    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return (a->target > b->target) - (a->target < b->target);
}

/* In order up to edge `sorted`, loops and parallel edges among them, with a decimal at `decimal`.
 */
static void draw_edges(struct drawn *edges, uint64_t seed, size_t sorted, size_t decimal)
{
    for (size_t i = 0; i < DRAWN; i++) {
        edges[i] = (struct drawn){draw(&seed, NUMBERED), draw(&seed, NUMBERED),
                                  (double)draw(&seed, 100) - 20};
    }
    qsort(edges, sorted, sizeof *edges, compare);
    if (decimal < DRAWN) {
        edges[decimal].weight += 0.5;
    }
}

/* One by one, or as many at once as there is room for. */
static void add_edges(struct graph_builder *builder, const struct drawn *edges, bool offered)
{
    size_t i = 0;

    while (i < DRAWN) {
        struct edge_i4 *places;
        uint64_t count;
        uint64_t taken = 0;

        if (!offered || !graph_builder_has_integers(builder) ||
            edges[i].weight != (int32_t)edges[i].weight) {
            assert_int_equal(
                graph_builder_add_real(builder, edges[i].source, edges[i].target, edges[i].weight),
                STATUS_OK);
            i++;
            continue;
        }
        assert_int_equal(graph_builder_offer(builder, DRAWN - i, &places, &count), STATUS_OK);
        for (; taken < count && edges[i].weight == (int32_t)edges[i].weight; taken++, i++) {
            places[taken] =
                (struct edge_i4){edges[i].source, edges[i].target, (int32_t)edges[i].weight};
        }
        graph_builder_commit(builder, taken);
    }
    assert_int_equal(graph_builder_edge_count(builder), DRAWN);
}

static struct graph *build(const struct drawn *edges, bool numbered, bool directed, bool offered,
                           struct graph_builder **ret_builder)
{
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;

    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    if (numbered) {
        graph_builder_number(builder, NUMBERED, directed);
    }
    add_edges(builder, edges, offered);
    assert_int_equal(vertex_names_create_range(NUMBERED, 0, &names), STATUS_OK);
    assert_int_equal(graph_builder_finish(builder, &names, NULL, directed, &graph, NULL),
                     STATUS_OK);
    *ret_builder = builder;
    return graph;
}

static void expect_same_summary(const struct graph_summary *a, const struct graph_summary *b)
{
    assert_int_equal(a->edges_read, b->edges_read);
    assert_int_equal(a->loops_dropped, b->loops_dropped);
    assert_int_equal(a->parallel_merged, b->parallel_merged);
    assert_int_equal(a->components, b->components);
    assert_int_equal(a->negative_loop, b->negative_loop);
    assert_true(a->negative_loop_weight == b->negative_loop_weight);
    assert_true(a->min_weight == b->min_weight && a->max_weight == b->max_weight);
    assert_true(a->distance_bound == b->distance_bound);
    assert_true(a->negative == b->negative && a->integral == b->integral);
}

/* In order for all, many or few of the edges, with and without a decimal on the way. */
static void numbered_rows_make_the_graph_of_a_list(void **state)
{
    static const size_t sorted[] = {DRAWN, DRAWN - 1, 5000, 2048, 0};
    static const size_t decimals[] = {DRAWN, DRAWN - 1, 6000, 0};
    struct drawn *edges = calloc(DRAWN, sizeof *edges);

    (void)state;
    assert_non_null(edges);
    for (size_t variant = 0; variant < 80; variant++) {
        const bool directed = variant % 2 == 0;
        const bool offered = variant / 2 % 2 == 0;
        const size_t in_order = sorted[variant / 4 % 5];
        const size_t decimal = decimals[variant / 20];
        struct graph_builder *plain;
        struct graph_builder *numbered;

        draw_edges(edges, variant, in_order, decimal);
        struct graph *expected = build(edges, false, directed, offered, &plain);
        struct graph *graph = build(edges, true, directed, offered, &numbered);

        assert_true(same_graph(graph, expected));
        expect_same_summary(&graph->summary, &expected->summary);
        /* An undirected edge may be listed from its larger end. */
        assert_int_equal(graph_builder_was_in_order(numbered),
                         directed && in_order == DRAWN && decimal == DRAWN);
        assert_false(graph_builder_was_in_order(plain));
        graph_destroy(expected);
        graph_destroy(graph);
        graph_builder_destroy(plain);
        graph_builder_destroy(numbered);
    }
    free(edges);
}

/* What is told as settled stays, and is the beginning of the graph. */
static void settled_edges_stay_as_they_are(void **state)
{
    const struct graph_options options = {0};
    struct drawn *edges = calloc(DRAWN, sizeof *edges);
    uint32_t *target = calloc(DRAWN, sizeof *target);
    int32_t *weight = calloc(DRAWN, sizeof *weight);
    struct graph_builder *builder = NULL;
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    uint64_t told = 0;

    (void)state;
    assert_true(edges != NULL && target != NULL && weight != NULL);
    draw_edges(edges, 1, DRAWN, DRAWN);
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    assert_int_equal(graph_builder_settled(builder).count, 0);
    graph_builder_number(builder, NUMBERED, true);
    for (size_t i = 0; i < DRAWN; i++) {
        assert_int_equal(graph_builder_add_integer(builder, edges[i].source, edges[i].target,
                                                   (int64_t)edges[i].weight),
                         STATUS_OK);
        const struct settled_edges settled = graph_builder_settled(builder);

        assert_true(settled.count >= told);
        for (; told < settled.count; told++) {
            target[told] = settled.target[told];
            weight[told] = settled.weight[told];
        }
    }
    assert_true(told > DRAWN / 2);
    assert_int_equal(vertex_names_create_range(NUMBERED, 0, &names), STATUS_OK);
    assert_int_equal(graph_builder_finish(builder, &names, NULL, true, &graph, NULL), STATUS_OK);
    assert_true(graph_builder_was_in_order(builder));
    assert_memory_equal(graph->target, target, told * sizeof *target);
    assert_memory_equal(graph->weight_i4, weight, told * sizeof *weight);
    graph_destroy(graph);
    graph_builder_destroy(builder);
    free(weight);
    free(target);
    free(edges);
}

static void edges_out_of_order_are_not_settled_any_more(void **state)
{
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;

    (void)state;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    graph_builder_number(builder, DRAWN, true);
    for (uint32_t i = 0; i + 1 < DRAWN; i++) {
        assert_int_equal(graph_builder_add_integer(builder, i, i + 1, 1), STATUS_OK);
    }
    assert_true(graph_builder_settled(builder).count > 0);
    for (uint32_t i = 0; i < DRAWN; i++) {
        assert_int_equal(graph_builder_add_integer(builder, 0, i, 1), STATUS_OK);
    }
    assert_int_equal(graph_builder_settled(builder).count, 0);
    assert_int_equal(graph_builder_edge_count(builder), 2 * DRAWN - 1);
    graph_builder_destroy(builder);
}

/* What a header announces takes no memory before there are edges for half of the vertices. */
static void rows_begin_once_there_are_edges_enough(void **state)
{
    enum { VERTICES = 100000 };
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;

    (void)state;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    graph_builder_number(builder, VERTICES, true);
    for (uint32_t i = 0; i < VERTICES / 2; i++) {
        assert_int_equal(graph_builder_settled(builder).count, 0);
        assert_int_equal(graph_builder_add_integer(builder, i, i + 1, 1), STATUS_OK);
    }
    assert_int_equal(graph_builder_add_integer(builder, VERTICES / 2, 0, 1), STATUS_OK);
    assert_int_equal(graph_builder_settled(builder).count, VERTICES / 2 - 1);
    assert_int_equal(graph_builder_edge_count(builder), VERTICES / 2 + 1);
    graph_builder_destroy(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbered_rows_make_the_graph_of_a_list),
        cmocka_unit_test(settled_edges_stay_as_they_are),
        cmocka_unit_test(edges_out_of_order_are_not_settled_any_more),
        cmocka_unit_test(rows_begin_once_there_are_edges_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
