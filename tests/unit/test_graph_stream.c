#include "server/store/graph_stream.h"

#include "server/store/identity.h"
#include "tests/unit/store_fixture.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#define BLOCKS 40
#define MANY (BLOCKS * ROW_BLOCK_EDGES + 17)

static const char name[] = "g_streamed";

/* That of the graph before leaves on threads of its own. */
static struct graph_stream *begin(const struct fixture *fixture, uint64_t edge_limit)
{
    struct graph_stream *stream = graph_stream_begin(fixture->folder, edge_limit);
    for (int i = 0; i < 1000000 && stream == NULL; i++) {
        sched_yield();
        stream = graph_stream_begin(fixture->folder, edge_limit);
    }
    assert_non_null(stream);
    return stream;
}

static size_t block_size(const struct graph *graph, uint64_t first)
{
    const uint64_t left = graph->edge_count - first;
    return left < ROW_BLOCK_EDGES ? (size_t)left : ROW_BLOCK_EDGES;
}

/* All blocks; returns how many edges the last one has. */
static size_t give_blocks(struct graph_stream *stream, const struct graph *graph)
{
    struct row_stream *rows = graph_stream_rows(stream);
    size_t edges = 0;
    for (uint64_t first = 0; first < graph->edge_count; first += edges) {
        struct row_block *block = rows->class_->next(rows);
        assert_non_null(block);
        edges = block_size(graph, first);
        memcpy(block->target, graph->target + first, edges * sizeof block->target[0]);
        memcpy(block->weight, graph->weight_i4 + first, edges * sizeof block->weight[0]);
    }
    return edges;
}

/* With weights once. */
static void expect_blocks(struct graph_stream *stream, const struct graph *graph, bool weights)
{
    struct row_stream *rows = graph_stream_rows(stream);
    struct row_block *read = malloc(sizeof *read);
    assert_non_null(read);
    for (uint64_t first = 0; first < graph->edge_count; first += ROW_BLOCK_EDGES) {
        const size_t edges = block_size(graph, first);
        const uint64_t number = first / ROW_BLOCK_EDGES;
        assert_int_equal(rows->class_->read(rows, number, edges, read->target, NULL), STATUS_OK);
        assert_memory_equal(read->target, graph->target + first, edges * sizeof read->target[0]);
        if (!weights) {
            continue;
        }
        memset(read->target, 0, sizeof read->target);
        assert_int_equal(rows->class_->read(rows, number, edges, read->target, read->weight),
                         STATUS_OK);
        assert_memory_equal(read->target, graph->target + first, edges * sizeof read->target[0]);
        assert_memory_equal(read->weight, graph->weight_i4 + first, edges * sizeof read->weight[0]);
    }
    free(read);
}

/* The last block full, nearly empty, or the only one; with all the room or just enough. */
static void a_graph_that_streams_has_its_id_and_its_file(void **state)
{
    static const uint32_t edges[] = {MANY, BLOCKS * ROW_BLOCK_EDGES, ROW_BLOCK_EDGES + 1, 5};
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < 8; i++) {
        struct graph *graph = fixture_path_graph(edges[i % 4] + 1, WEIGHT_INTEGER, 5);
        struct graph_stream *stream = begin(fixture, graph->edge_count + (i < 4 ? 0 : 1000000));
        struct row_stream *rows = graph_stream_rows(stream);
        struct graph_draft draft = {0};
        struct graph *read = NULL;
        char whole[GRAPH_ID_SIZE];
        char id[GRAPH_ID_SIZE];
        const size_t last_edges = give_blocks(stream, graph);
        assert_int_equal(rows->class_->end(rows, last_edges), STATUS_OK);
        expect_blocks(stream, graph, false);
        assert_int_equal(identity_of_graph(graph, NULL, "", NULL, whole), STATUS_OK);
        assert_int_equal(identity_of_graph(graph, stream, "", NULL, id), STATUS_OK);
        assert_string_equal(id, whole);
        assert_int_equal(graph_stream_take_draft(stream, graph, &draft), STATUS_OK);
        assert_int_equal(graph_stream_bytes_to_come(), 0);
        graph_stream_drop(stream);
        assert_int_equal(graph_file_draft(fixture->folder, name, graph, &draft), STATUS_OK);
        assert_int_equal(draft_file_publish(&draft.file, fixture->folder, name), STATUS_OK);
        graph_file_drop(&draft);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
        assert_int_equal(read->edge_count, graph->edge_count);
        assert_memory_equal(read->target, graph->target, graph->edge_count * sizeof *graph->target);
        assert_memory_equal(read->weight_i4, graph->weight_i4,
                            graph->edge_count * sizeof *graph->weight_i4);
        graph_destroy(read);
        graph_destroy(graph);
    }
}

static void blocks_can_be_read_when_no_more_come(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    struct graph_stream *stream = begin(fixture, graph->edge_count);
    (void)give_blocks(stream, graph);
    graph_stream_rows(stream)->class_->stop(graph_stream_rows(stream));
    assert_int_equal(graph_stream_bytes_to_come(), 0);
    expect_blocks(stream, graph, true);
    graph_stream_drop(stream);
    graph_destroy(graph);
}

/* Of some blocks the targets alone are in the file; it is full before the end, or from the first
 * block on. */
static void blocks_that_cannot_be_written_stay(void **state)
{
    static const size_t written[] = {BLOCKS / 2, 0};
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    for (size_t i = 0; i < 2; i++) {
        const struct rlimit limit = {
            144 + MANY * 4 + written[i] * sizeof(int32_t) * ROW_BLOCK_EDGES, before.rlim_max};
        struct graph_stream *stream = begin(fixture, graph->edge_count);
        struct row_stream *rows = graph_stream_rows(stream);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const size_t last_edges = give_blocks(stream, graph);
        assert_int_equal(rows->class_->end(rows, last_edges), STATUS_DISK_FULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(graph_stream_bytes_to_come(), 0);
        expect_blocks(stream, graph, true);
        graph_stream_drop(stream);
    }
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}

static void there_are_no_more_blocks_than_were_announced(void **state)
{
    const struct fixture *fixture = *state;
    struct graph_stream *stream = begin(fixture, ROW_BLOCK_EDGES + 5);
    struct row_stream *rows = graph_stream_rows(stream);
    assert_non_null(rows->class_->next(rows));
    struct row_block *block = rows->class_->next(rows);
    assert_non_null(block);
    memset(block, 0, sizeof *block);
    assert_null(rows->class_->next(rows));
    graph_stream_drop(stream);
}

static void what_the_file_will_take_is_known(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(2 * ROW_BLOCK_EDGES + 1, WEIGHT_INTEGER, 5);
    struct graph_stream *stream = begin(fixture, 10 * ROW_BLOCK_EDGES);
    struct row_stream *rows = graph_stream_rows(stream);
    assert_int_equal(graph_stream_bytes_to_come(), 10 * 8 * ROW_BLOCK_EDGES);
    (void)give_blocks(stream, graph);
    while (graph_stream_bytes_to_come() > 9 * 8 * ROW_BLOCK_EDGES) {
        sched_yield();
    }
    assert_int_equal(rows->class_->end(rows, ROW_BLOCK_EDGES), STATUS_OK);
    assert_int_equal(graph_stream_bytes_to_come(), 0);
    graph_stream_drop(stream);
    graph_destroy(graph);
}

static void one_graph_streams_at_a_time(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(MANY + 1, WEIGHT_INTEGER, 5);
    struct graph_stream *stream = begin(fixture, graph->edge_count);
    assert_null(graph_stream_begin(fixture->folder, graph->edge_count));
    (void)give_blocks(stream, graph);
    graph_stream_drop(stream);
    graph_stream_drop(begin(fixture, graph->edge_count));
    graph_stream_drop(NULL);
    graph_destroy(graph);
}

static void without_a_folder_there_is_no_stream(void **state)
{
    (void)state;
    assert_null(graph_stream_begin(-1, MANY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_graph_that_streams_has_its_id_and_its_file),
        FIXTURE_TEST(blocks_can_be_read_when_no_more_come),
        FIXTURE_TEST(blocks_that_cannot_be_written_stay),
        FIXTURE_TEST(there_are_no_more_blocks_than_were_announced),
        FIXTURE_TEST(what_the_file_will_take_is_known),
        FIXTURE_TEST(one_graph_streams_at_a_time),
        FIXTURE_TEST(without_a_folder_there_is_no_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
