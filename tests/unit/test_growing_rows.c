#include "tests/unit/graph_fixture.h"
#include "tests/unit/row_stream_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NUMBERED 300
/* With loops and parallel ones, and still more than two blocks when those have left. */
#define DRAWN 60000
#define PIECE 700

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

/* A stream, and after how many edges the rows go to it. */
struct streaming {
    struct row_stream_fixture stream;
    size_t from;
    bool began;
    bool refused;
};

static void stream_when_due(struct graph_builder *builder, struct streaming *streaming)
{
    if (streaming == NULL || streaming->began || streaming->refused ||
        graph_builder_growing(builder).edges == 0 ||
        graph_builder_edge_count(builder) < streaming->from) {
        return;
    }
    streaming->began = graph_builder_stream(builder, &streaming->stream.rows);
    streaming->refused = !streaming->began;
    assert_true(streaming->refused || graph_builder_growing(builder).edges == 0);
}

/* One by one, or as many at once as there is room for. */
static void add_edges(struct graph_builder *builder, const struct drawn *edges, bool offered,
                      struct streaming *streaming)
{
    size_t i = 0;

    while (i < DRAWN) {
        struct edge_i4 *places;
        uint64_t count;
        uint64_t taken = 0;

        stream_when_due(builder, streaming);
        if (!offered || !graph_builder_has_integers(builder) ||
            edges[i].weight != (int32_t)edges[i].weight) {
            assert_int_equal(
                graph_builder_add_real(builder, edges[i].source, edges[i].target, edges[i].weight),
                STATUS_OK);
            i++;
            continue;
        }
        const size_t wanted = DRAWN - i < PIECE ? DRAWN - i : PIECE;
        assert_int_equal(graph_builder_offer(builder, wanted, &places, &count), STATUS_OK);
        for (; taken < count && edges[i].weight == (int32_t)edges[i].weight; taken++, i++) {
            places[taken] =
                (struct edge_i4){edges[i].source, edges[i].target, (int32_t)edges[i].weight};
        }
        graph_builder_commit(builder, taken);
    }
    assert_int_equal(graph_builder_edge_count(builder), DRAWN);
}

enum listing { LISTED, NUMBERED_ROWS };

static enum status try_build(const struct drawn *edges, enum listing listing, bool directed,
                             bool offered, struct streaming *streaming,
                             struct graph_builder **ret_builder, struct graph **ret_graph)
{
    const struct graph_options options = {0};
    struct vertex_names *names = NULL;
    struct problem problem;

    assert_int_equal(graph_builder_create(&options, ret_builder), STATUS_OK);
    if (listing == NUMBERED_ROWS) {
        graph_builder_number(*ret_builder, NUMBERED, directed);
        graph_builder_expect(*ret_builder, DRAWN);
    }
    add_edges(*ret_builder, edges, offered, streaming);
    assert_int_equal(vertex_names_create_range(NUMBERED, 0, &names), STATUS_OK);
    const enum status status =
        graph_builder_finish(*ret_builder, &names, NULL, directed, ret_graph, &problem);
    vertex_names_destroy(names);
    return status;
}

static struct graph *build(const struct drawn *edges, enum listing listing, bool directed,
                           bool offered, struct streaming *streaming)
{
    struct graph_builder *builder = NULL;
    struct graph *graph = NULL;

    assert_int_equal(try_build(edges, listing, directed, offered, streaming, &builder, &graph),
                     STATUS_OK);
    assert_int_equal(graph_builder_was_streamed(builder), graph->target == NULL);
    graph_builder_destroy(builder);
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

        draw_edges(edges, variant, in_order, decimal);
        struct graph *expected = build(edges, LISTED, directed, offered, NULL);
        struct graph *graph = build(edges, NUMBERED_ROWS, directed, offered, NULL);

        assert_true(same_graph(graph, expected));
        expect_same_summary(&graph->summary, &expected->summary);
        graph_destroy(expected);
        graph_destroy(graph);
    }
    free(edges);
}

static void expect_in_stream(const struct row_stream_fixture *stream, const struct graph *expected)
{
    const uint64_t full = stream->given - 1;

    assert_int_equal(full * ROW_BLOCK_EDGES + stream->last_edges, expected->edge_count);
    for (uint64_t i = 0; i < expected->edge_count; i++) {
        const struct row_block *block = stream->block[i / ROW_BLOCK_EDGES];

        assert_int_equal(block->target[i % ROW_BLOCK_EDGES], expected->target[i]);
        assert_int_equal(block->weight[i % ROW_BLOCK_EDGES], expected->weight_i4[i]);
    }
}

/* From early or late on. */
static void rows_that_are_streamed_are_those_of_the_graph(void **state)
{
    static const size_t from[] = {0, 3000, 20000, 30000, DRAWN - PIECE};
    struct drawn *edges = calloc(DRAWN, sizeof *edges);

    (void)state;
    assert_non_null(edges);
    for (size_t variant = 0; variant < 20; variant++) {
        const bool offered = variant % 2 == 0;
        struct streaming streaming = {.from = from[variant / 2 % 5]};

        row_stream_fixture_init(&streaming.stream);
        draw_edges(edges, variant, DRAWN, DRAWN);
        struct graph *expected = build(edges, LISTED, true, offered, NULL);
        struct graph *graph = build(edges, NUMBERED_ROWS, true, offered, &streaming);

        assert_true(streaming.began);
        assert_null(graph->target);
        assert_null(graph->weight_i4);
        expect_in_stream(&streaming.stream, expected);
        assert_int_equal(graph->edge_count, expected->edge_count);
        assert_memory_equal(graph->row_offset, expected->row_offset,
                            (NUMBERED + 1) * sizeof *graph->row_offset);
        expect_same_summary(&graph->summary, &expected->summary);
        graph_destroy(expected);
        graph_destroy(graph);
        row_stream_fixture_finish(&streaming.stream);
    }
    free(edges);
}

/* Parallel to the last one of a full block, a loop behind it, or the block exactly full at the end:
 * it is not passed on before an edge needs a place. */
static void the_last_edge_of_a_block_may_meet_a_shorter_one(void **state)
{
    static const uint32_t rest[] = {0, 1, 2};

    (void)state;
    for (size_t variant = 0; variant < 3; variant++) {
        const struct graph_options options = {0};
        struct row_stream_fixture stream;
        struct graph_builder *builder = NULL;
        struct vertex_names *names = NULL;
        struct graph *graph = NULL;

        row_stream_fixture_init(&stream);
        assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
        graph_builder_number(builder, 2 * ROW_BLOCK_EDGES, true);
        for (uint32_t i = 0; i < ROW_BLOCK_EDGES; i++) {
            assert_int_equal(graph_builder_add_integer(builder, i, i + 1, 9), STATUS_OK);
        }
        /* Enough that they are passed on, and nothing that needs a place. */
        for (uint32_t i = 0; i < 5000; i++) {
            assert_int_equal(graph_builder_add_integer(builder, ROW_BLOCK_EDGES - 1,
                                                       ROW_BLOCK_EDGES, 8 - (int64_t)(i % 5)),
                             STATUS_OK);
            assert_int_equal(
                graph_builder_add_integer(builder, ROW_BLOCK_EDGES, ROW_BLOCK_EDGES, 1), STATUS_OK);
            if (i == 0) {
                assert_true(graph_builder_stream(builder, &stream.rows));
            }
        }
        for (uint32_t i = 0; i < rest[variant]; i++) {
            assert_int_equal(
                graph_builder_add_integer(builder, 2 * ROW_BLOCK_EDGES - 1, i, -7 - (int64_t)i),
                STATUS_OK);
        }
        assert_int_equal(vertex_names_create_range(2 * ROW_BLOCK_EDGES, 0, &names), STATUS_OK);
        assert_int_equal(graph_builder_finish(builder, &names, NULL, true, &graph, NULL),
                         STATUS_OK);
        assert_true(graph_builder_was_streamed(builder));
        assert_int_equal(stream.given, rest[variant] > 0 ? 2 : 1);
        assert_int_equal(stream.last_edges, rest[variant] > 0 ? rest[variant] : ROW_BLOCK_EDGES);
        assert_int_equal(stream.block[0]->weight[ROW_BLOCK_EDGES - 2], 9);
        assert_int_equal(stream.block[0]->weight[ROW_BLOCK_EDGES - 1], 4);
        assert_int_equal(graph->summary.parallel_merged, 5000);
        assert_int_equal(graph->summary.loops_dropped, 5000);
        assert_true(graph->summary.min_weight == (rest[variant] > 0 ? -6 - (int)rest[variant] : 4));
        assert_true(graph->summary.max_weight == 9);
        graph_destroy(graph);
        graph_builder_destroy(builder);
        row_stream_fixture_finish(&stream);
    }
}

/* With the stream, and without. */
static void expect_same_graph(const struct drawn *edges, struct streaming *streaming)
{
    struct graph *expected = build(edges, LISTED, true, true, NULL);
    struct graph *graph = build(edges, NUMBERED_ROWS, true, true, streaming);

    assert_true(same_graph(graph, expected));
    expect_same_summary(&graph->summary, &expected->summary);
    graph_destroy(expected);
    graph_destroy(graph);
    row_stream_fixture_finish(&streaming->stream);
}

/* Edges out of order, a decimal, a stream that is full, one that fails at its end: the graph is as
 * it would be without. */
static void rows_that_leave_their_stream_make_the_same_graph(void **state)
{
    static const struct {
        size_t in_order;
        size_t decimal;
        size_t block_limit;
        enum status end_status;
    } cases[] = {
        {DRAWN - 1, DRAWN, 0, STATUS_OK},    {40000, DRAWN, 0, STATUS_OK},
        {DRAWN, DRAWN - 1, 0, STATUS_OK},    {DRAWN, 40000, 0, STATUS_OK},
        {DRAWN, DRAWN, 2, STATUS_OK},        {DRAWN, DRAWN, 0, STATUS_DISK_FULL},
        {30000, 20000, 1, STATUS_DISK_FULL},
    };
    struct drawn *edges = calloc(DRAWN, sizeof *edges);

    (void)state;
    assert_non_null(edges);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct streaming streaming = {.from = 3000};

        row_stream_fixture_init(&streaming.stream);
        streaming.stream.block_limit = cases[i].block_limit;
        streaming.stream.end_status = cases[i].end_status;
        draw_edges(edges, i, cases[i].in_order, cases[i].decimal);
        expect_same_graph(edges, &streaming);
        assert_true(streaming.began);
    }
    free(edges);
}

static void rows_stay_where_they_are_when_a_stream_has_no_room(void **state)
{
    struct drawn *edges = calloc(DRAWN, sizeof *edges);
    struct streaming streaming = {.from = 40000};

    (void)state;
    assert_non_null(edges);
    row_stream_fixture_init(&streaming.stream);
    streaming.stream.block_limit = 1;
    draw_edges(edges, 1, DRAWN, DRAWN);
    expect_same_graph(edges, &streaming);
    assert_true(streaming.refused);
    free(edges);
}

/* Where they are needed again: for components, or when they have to leave. */
static void a_stream_that_cannot_be_read_fails_the_graph(void **state)
{
    struct drawn *edges = calloc(DRAWN, sizeof *edges);

    (void)state;
    assert_non_null(edges);
    for (size_t variant = 0; variant < 3; variant++) {
        struct streaming streaming = {.from = 3000};
        struct graph_builder *builder = NULL;
        struct graph *graph = NULL;

        row_stream_fixture_init(&streaming.stream);
        streaming.stream.read_status = STATUS_IO;
        streaming.stream.end_status = variant == 1 ? STATUS_DISK_FULL : STATUS_OK;
        draw_edges(edges, 1, variant == 2 ? DRAWN - 1 : DRAWN, DRAWN);
        assert_int_equal(try_build(edges, NUMBERED_ROWS, true, true, &streaming, &builder, &graph),
                         STATUS_IO);
        graph_builder_destroy(builder);
        row_stream_fixture_finish(&streaming.stream);
    }
    free(edges);
}

/* Nothing grows of an undirected graph that may go to a stream, nor of a list. */
static void only_rows_of_directed_graphs_may_be_streamed(void **state)
{
    struct drawn *edges = calloc(DRAWN, sizeof *edges);

    (void)state;
    assert_non_null(edges);
    draw_edges(edges, 1, DRAWN, DRAWN);
    for (size_t variant = 0; variant < 2; variant++) {
        struct streaming streaming = {.from = 3000};

        row_stream_fixture_init(&streaming.stream);
        graph_destroy(
            build(edges, variant == 0 ? NUMBERED_ROWS : LISTED, variant != 0, true, &streaming));
        assert_false(streaming.began || streaming.refused);
    }
    free(edges);
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
        assert_int_equal(graph_builder_growing(builder).edges, 0);
        assert_int_equal(graph_builder_add_integer(builder, i, i + 1, 1), STATUS_OK);
    }
    assert_int_equal(graph_builder_add_integer(builder, VERTICES / 2, 0, 1), STATUS_OK);
    assert_int_equal(graph_builder_growing(builder).edges, VERTICES / 2);
    assert_int_equal(graph_builder_edge_count(builder), VERTICES / 2 + 1);
    graph_builder_destroy(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbered_rows_make_the_graph_of_a_list),
        cmocka_unit_test(rows_that_are_streamed_are_those_of_the_graph),
        cmocka_unit_test(the_last_edge_of_a_block_may_meet_a_shorter_one),
        cmocka_unit_test(rows_that_leave_their_stream_make_the_same_graph),
        cmocka_unit_test(rows_stay_where_they_are_when_a_stream_has_no_room),
        cmocka_unit_test(a_stream_that_cannot_be_read_fails_the_graph),
        cmocka_unit_test(only_rows_of_directed_graphs_may_be_streamed),
        cmocka_unit_test(rows_begin_once_there_are_edges_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
