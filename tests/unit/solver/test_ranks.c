/* Tests how ranks exchange values. A buffer, the tape, replaces the network: the first rank writes
 * to the tape, and the second rank reads from the tape. */
#include "server/solver/plan/layout.h"
#include "server/solver/plan/planner.h"
#include "server/solver/ranks.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#include <sys/mman.h>
#include <unistd.h>

#define TAPE_SIZE 4096
#define TILE 2

static unsigned char tape[TAPE_SIZE];
static size_t tape_used;
static size_t tape_heard;

static void speak(void *context, void *data, size_t size, uint32_t root)
{
    (void)context;
    assert_int_equal(root, 0);
    assert_true(tape_used + size <= TAPE_SIZE);
    memcpy(tape + tape_used, data, size);
    tape_used += size;
}

static void hear(void *context, void *data, size_t size, uint32_t root)
{
    (void)context;
    assert_int_equal(root, 0);
    assert_true(tape_heard + size <= tape_used);
    memcpy(data, tape + tape_heard, size);
    tape_heard += size;
}

static void complete(void *context)
{
    (void)context;
}

static uint32_t highest(void *context, uint32_t value)
{
    const uint32_t *other = context;
    return value > *other ? value : *other;
}

static uint32_t other;
static const struct ranks first = {.count = 2,
                                   .on_host = 2,
                                   .context = &other,
                                   .start_broadcast = speak,
                                   .complete_broadcasts = complete,
                                   .highest = highest};
static const struct ranks second = {.rank = 1,
                                    .count = 2,
                                    .on_host = 2,
                                    .context = &other,
                                    .start_broadcast = hear,
                                    .complete_broadcasts = complete,
                                    .highest = highest};

static int rewind_tape(void **state)
{
    tape_used = 0;
    tape_heard = 0;
    other = STATUS_OK;
    return 0;
}

static struct graph *read_list(const char *text)
{
    const struct graph_options options = {.format_guessed = false};
    struct graph *graph = NULL;
    struct problem problem = {0};
    assert_int_equal(read_graph(FORMAT_EDGES, &options, text, strlen(text), 64, &graph, &problem),
                     STATUS_OK);
    return graph;
}

TEST_WITH(all_ranks_agree_on_the_worst_status, rewind_tape, NULL)
{
    assert_int_equal(ranks_agree(NULL, STATUS_CANCELLED), STATUS_CANCELLED);
    assert_int_equal(ranks_agree(&first, STATUS_OK), STATUS_OK);
    assert_int_equal(ranks_agree(&first, STATUS_NO_MEMORY), STATUS_NO_MEMORY);
    other = STATUS_NO_MEMORY;
    assert_int_equal(ranks_agree(&first, STATUS_OK), STATUS_NO_MEMORY);
}

static void share_graph(const char *text)
{
    struct graph *graph = read_list(text);
    struct graph *heard = NULL;
    rewind_tape(NULL);
    assert_int_equal(ranks_share_graph(&first, STATUS_OK, &graph), STATUS_OK);
    assert_int_equal(ranks_share_graph(&second, STATUS_OK, &heard), STATUS_OK);
    assert_int_equal(tape_heard, tape_used);
    assert_int_equal(heard->vertex_count, graph->vertex_count);
    assert_int_equal(heard->edge_count, graph->edge_count);
    assert_int_equal(heard->directed, graph->directed);
    assert_memory_equal(&heard->summary, &graph->summary, sizeof(graph->summary));
    assert_memory_equal(heard->row_offset, graph->row_offset,
                        (graph->vertex_count + 1) * sizeof(*graph->row_offset));
    for (uint64_t edge = 0; edge < graph->edge_count; ++edge) {
        assert_int_equal(heard->target[edge], graph->target[edge]);
        assert_true(graph_weight(heard, edge) == graph_weight(graph, edge));
    }
    assert_int_equal(vertex_names_count(heard->names), graph->vertex_count);
    graph_destroy(heard);
    graph_destroy(graph);
}

TEST_WITH(a_graph_with_any_weights_is_sent_to_the_other_ranks, rewind_tape, NULL)
{
    share_graph("a,b,3\nb,c,4\nc,a,5\n");
    share_graph("a,b,0.5\nb,c,4\n");
}

TEST_WITH(an_unreadable_graph_is_reported_to_all_ranks, rewind_tape, NULL)
{
    struct graph *none = NULL;
    assert_int_equal(ranks_share_graph(&first, STATUS_BAD_GRAPH, &none), STATUS_BAD_GRAPH);
    other = STATUS_BAD_GRAPH;
    assert_int_equal(ranks_share_graph(&second, STATUS_OK, &none), STATUS_BAD_GRAPH);
    assert_true(none == NULL && tape_used == 0);
}

TEST_WITH(a_received_plan_contains_its_lists, rewind_tape, NULL)
{
    static uint32_t vertex_at[] = {4, 2, 0, 1, 3};
    static uint32_t tile_begin[] = {0, 2, 3, 5};
    static uint32_t pivot[] = {1, 0, 2};
    struct graph *graph = read_list("a,b,3\nb,c,4\nc,d,5\nd,e,1\n");
    const struct plan_outline outline = {.vertex_at = vertex_at,
                                         .tile_begin = tile_begin,
                                         .tile_count = 3,
                                         .tile = TILE,
                                         .pivot = pivot};
    struct plan *plan = NULL;
    struct plan *heard = NULL;
    assert_int_equal(plan_symbolic_make(graph, &outline, &plan), STATUS_OK);
    assert_int_equal(ranks_share_plan(&first, graph, TILE, STATUS_OK, &plan), STATUS_OK);
    assert_int_equal(ranks_share_plan(&second, graph, TILE, STATUS_OK, &heard), STATUS_OK);
    assert_int_equal(tape_heard, tape_used);
    assert_memory_equal(&heard->summary, &plan->summary, sizeof(plan->summary));
    assert_memory_equal(heard->vertex_at, vertex_at, sizeof(vertex_at));
    assert_memory_equal(heard->tile_begin, tile_begin, sizeof(tile_begin));
    assert_int_equal(heard->round_count, plan->round_count);
    assert_int_equal(heard->target_count, plan->target_count);
    assert_int_equal(heard->product_count, plan->product_count);
    assert_memory_equal(heard->products, plan->products,
                        plan->product_count * sizeof(*plan->products));
    assert_memory_equal(heard->pivots, plan->pivots, plan->tile_count * sizeof(*plan->pivots));
    plan_destroy(heard);
    plan_destroy(plan);
    graph_destroy(graph);
}

TEST_WITH(dense_plans_and_failed_plans_are_shared_with_all_ranks, rewind_tape, NULL)
{
    struct graph *graph = read_list("a,b,3\nb,c,4\n");
    struct plan *plan = NULL;
    struct plan *heard = NULL;
    assert_int_equal(planner_dense(3, TILE, &plan), STATUS_OK);
    assert_int_equal(ranks_share_plan(&first, graph, TILE, STATUS_OK, &plan), STATUS_OK);
    assert_int_equal(ranks_share_plan(&second, graph, TILE, STATUS_OK, &heard), STATUS_OK);
    assert_true(heard->vertex_at == NULL && heard->tile_count == 2);
    plan_destroy(heard);
    plan_destroy(plan);
    heard = NULL;
    assert_int_equal(ranks_share_plan(&first, graph, TILE, STATUS_NO_MEMORY, &heard),
                     STATUS_NO_MEMORY);
    assert_null(heard);
    graph_destroy(graph);
}
