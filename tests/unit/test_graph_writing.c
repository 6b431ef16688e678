#include "server/store/graph_writing.h"

#include "tests/unit/store_fixture.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#define EDGES (3 * ROW_BLOCK_EDGES + 1000)
static const char name[] = "g_written";

static const void *weights_from(const struct graph *graph, uint64_t edge)
{
    return graph->weight_type == WEIGHT_INTEGER ? (const void *)(graph->weight_i4 + edge)
                                                : (const void *)(graph->weight_f8 + edge);
}

static void add_in_pieces(struct graph_writing *writing, const struct graph *graph, size_t piece)
{
    for (uint64_t edge = 0; edge < graph->edge_count; edge += piece) {
        const uint64_t left = graph->edge_count - edge;
        assert_int_equal(graph_writing_add(writing, graph->target + edge, weights_from(graph, edge),
                                           left < piece ? (size_t)left : piece),
                         STATUS_OK);
    }
}

static void publish(const struct fixture *fixture, const struct graph *graph,
                    struct graph_writing *writing)
{
    struct graph_draft draft = {0};
    assert_int_equal(graph_writing_end(writing, graph, &draft), STATUS_OK);
    assert_int_equal(graph_file_draft(fixture->folder, name, graph, &draft), STATUS_OK);
    assert_int_equal(draft_file_publish(&draft.file, fixture->folder, name), STATUS_OK);
    graph_file_drop(&draft);
}

static void expect_written(const struct fixture *fixture, const struct graph *graph)
{
    struct graph *read = NULL;
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    assert_int_equal(read->edge_count, graph->edge_count);
    assert_memory_equal(read->target, graph->target, graph->edge_count * sizeof *graph->target);
    assert_memory_equal(weights_from(read, 0), weights_from(graph, 0),
                        graph->edge_count * (graph->weight_type == WEIGHT_INTEGER ? 4 : 8));
    graph_destroy(read);
}

/* With as much room as is needed, or more, which leaves a hole. */
static void edges_that_come_in_pieces_are_in_the_file(void **state)
{
    static const size_t pieces[] = {ROW_BLOCK_EDGES, 2 * ROW_BLOCK_EDGES, EDGES};
    static const uint64_t rooms[] = {0, 1, 5000000};
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < 18; i++) {
        const enum weight_type type = i < 9 ? WEIGHT_INTEGER : WEIGHT_REAL;
        struct graph *graph = fixture_path_graph(EDGES + 1, type, 3);
        struct graph_writing *writing;
        const uint64_t room = EDGES + rooms[i / 3 % 3];
        struct stat file;
        assert_int_equal(graph_writing_begin(fixture->folder, room, type, &writing), STATUS_OK);
        add_in_pieces(writing, graph, pieces[i % 3]);
        publish(fixture, graph, writing);
        expect_written(fixture, graph);
        assert_int_equal(fstatat(fixture->folder, name, &file, 0), 0);
        assert_true((uint64_t)file.st_size >= room * 4);
        assert_true(file.st_blocks * 512 < 4 << 20);
        graph_destroy(graph);
    }
}

static void expect_block(const struct graph_writing *writing, const struct graph *graph,
                         uint64_t number)
{
    const uint64_t first = number * ROW_BLOCK_EDGES;
    const uint64_t left = graph->edge_count - first;
    const size_t edges = left < ROW_BLOCK_EDGES ? (size_t)left : ROW_BLOCK_EDGES;
    struct row_block *block = calloc(1, sizeof *block);
    assert_non_null(block);
    assert_int_equal(graph_writing_read(writing, number, block->target, NULL), STATUS_OK);
    assert_memory_equal(block->target, graph->target + first, edges * sizeof block->target[0]);
    assert_int_equal(graph_writing_read(writing, number, block->target, block->weight), STATUS_OK);
    assert_memory_equal(block->target, graph->target + first, edges * sizeof block->target[0]);
    assert_memory_equal(block->weight, graph->weight_i4 + first, edges * sizeof block->weight[0]);
    free(block);
}

static void edges_that_were_added_can_be_read(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(EDGES + 1, WEIGHT_INTEGER, 3);
    struct graph_writing *writing;
    assert_int_equal(graph_writing_begin(fixture->folder, EDGES, WEIGHT_INTEGER, &writing),
                     STATUS_OK);
    add_in_pieces(writing, graph, ROW_BLOCK_EDGES);
    for (uint64_t number = 4; number-- > 0;) {
        expect_block(writing, graph, number);
    }
    graph_writing_drop(writing);
    graph_writing_drop(NULL);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}

/* The file of this process without a name. */
static int open_draft(const struct fixture *fixture)
{
    for (int i = 3; i < 64; i++) {
        char link[64];
        char path[PATH_MAX] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", i);
        if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, " (deleted)") != NULL &&
            strncmp(path, fixture->path, strlen(fixture->path)) == 0) {
            return open(link, O_RDWR | O_CLOEXEC);
        }
    }
    return -1;
}

static void edges_that_changed_on_the_disk_are_not_read(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(EDGES + 1, WEIGHT_INTEGER, 3);
    struct graph_writing *writing;
    struct row_block *block = calloc(1, sizeof *block);
    assert_non_null(block);
    assert_int_equal(graph_writing_begin(fixture->folder, EDGES, WEIGHT_INTEGER, &writing),
                     STATUS_OK);
    add_in_pieces(writing, graph, EDGES);
    int draft = open_draft(fixture);
    if (draft < 0) {
        skip(); /* of a file system where it has a name */
    }
    const int32_t other = 77;
    assert_int_equal(pwrite(draft, &other, sizeof other, 144 + 4 * (ROW_BLOCK_EDGES + 9)), 4);
    assert_int_equal(pwrite(draft, &other, sizeof other, 144 + 4 * (EDGES + 2 * ROW_BLOCK_EDGES)),
                     4);
    close(draft);
    expect_block(writing, graph, 0);
    assert_int_equal(graph_writing_read(writing, 1, block->target, NULL), STATUS_CORRUPT);
    assert_int_equal(graph_writing_read(writing, 1, block->target, block->weight), STATUS_CORRUPT);
    assert_int_equal(graph_writing_read(writing, 2, block->target, NULL), STATUS_OK);
    assert_int_equal(graph_writing_read(writing, 2, block->target, block->weight), STATUS_CORRUPT);
    expect_block(writing, graph, 3);
    free(block);
    graph_writing_drop(writing);
    graph_destroy(graph);
}

/* What was written before is there still. */
static void a_file_that_must_not_grow_is_a_full_disk(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(EDGES + 1, WEIGHT_INTEGER, 3);
    struct graph_writing *writing;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {144 + EDGES * 4 + (ROW_BLOCK_EDGES + 600) * 4, before.rlim_max};
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    assert_int_equal(graph_writing_begin(fixture->folder, EDGES, WEIGHT_INTEGER, &writing),
                     STATUS_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(graph_writing_add(writing, graph->target, graph->weight_i4, ROW_BLOCK_EDGES),
                     STATUS_OK);
    assert_int_equal(graph_writing_add(writing, graph->target + ROW_BLOCK_EDGES,
                                       graph->weight_i4 + ROW_BLOCK_EDGES, ROW_BLOCK_EDGES),
                     STATUS_DISK_FULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_block(writing, graph, 0);
    graph_writing_drop(writing);
    graph_destroy(graph);
}

static void more_than_fits_any_file_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct graph_writing *writing;
    assert_int_equal(graph_writing_begin(fixture->folder, UINT64_MAX / 2, WEIGHT_INTEGER, &writing),
                     STATUS_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(edges_that_come_in_pieces_are_in_the_file),
        FIXTURE_TEST(edges_that_were_added_can_be_read),
        FIXTURE_TEST(edges_that_changed_on_the_disk_are_not_read),
        FIXTURE_TEST(a_file_that_must_not_grow_is_a_full_disk),
        FIXTURE_TEST(more_than_fits_any_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
