#include "server/store/graph_file.h"

#include "tests/lib/graph_file_fixture.h"
#include "tests/lib/names_fixture.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <sys/resource.h>

static const char name[] = "g_test";

static void expect_same(const struct graph *graph, const struct graph *read)
{
    assert_int_equal(read->vertex_count, graph->vertex_count);
    assert_int_equal(read->directed, graph->directed);
    assert_int_equal(read->weight_type, graph->weight_type);
    assert_int_equal(read->edge_count, graph->edge_count);
    assert_memory_equal(read->row_offset, graph->row_offset,
                        ((size_t)graph->vertex_count + 1) * sizeof *graph->row_offset);
    assert_memory_equal(read->target, graph->target, graph->edge_count * sizeof *graph->target);
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        assert_true(graph_weight(read, edge) == graph_weight(graph, edge));
    }
    assert_int_equal(read->summary.edges_read, graph->summary.edges_read);
    assert_int_equal(read->summary.loops_dropped, graph->summary.loops_dropped);
    assert_int_equal(read->summary.parallel_merged, graph->summary.parallel_merged);
    assert_true(read->summary.min_weight == graph->summary.min_weight);
    assert_true(read->summary.max_weight == graph->summary.max_weight);
    assert_true(read->summary.distance_bound == graph->summary.distance_bound);
    assert_int_equal(read->summary.components, graph->summary.components);
    assert_int_equal(read->summary.negative_loop, graph->summary.negative_loop);
    assert_true(read->summary.negative_loop_weight == graph->summary.negative_loop_weight);
    assert_int_equal(read->summary.negative, graph->summary.negative);
    assert_int_equal(read->summary.decimals, graph->summary.decimals);
}

FIXTURE_TEST(stored_graphs_are_read_back_unchanged)
{
    const uint32_t sizes[] = {0, 1, 2, 3, 8, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (enum weight_type type = WEIGHT_INTEGER; type <= WEIGHT_REAL; type++) {
            struct graph *read;
            struct graph *graph = fixture_path_graph(sizes[i], type, -3);
            graph->directed = i % 2 == 0;
            graph->summary.negative_loop = sizes[i] > 0 ? 0 : NO_VERTEX;
            graph->summary.negative_loop_weight = sizes[i] > 0 ? -2.5 : 0;
            uint64_t bytes = fixture_put_graph(fixture->folder, name, graph);
            struct stat info;
            assert_int_equal(fstatat(fixture->folder, name, &info, 0), 0);
            assert_int_equal(info.st_size, bytes);
            assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
            expect_same(graph, read);
            uint64_t edges;
            size_t adjacency_bytes;
            assert_int_equal(graph_file_sizes(fixture->folder, name, &edges, &adjacency_bytes),
                             STATUS_OK);
            assert_int_equal(edges, graph->edge_count);
            graph_destroy(read);
            graph_destroy(graph);
        }
    }
}

FIXTURE_TEST(string_names_can_be_read_without_the_edges)
{
    struct graph *graph = fixture_path_graph(3, WEIGHT_INTEGER, 1);
    vertex_names_destroy(graph->names);
    graph->names = names_of((const char *[]){"JFK", "LAX1", "x"}, 3, false);
    fixture_put_graph(fixture->folder, name, graph);
    struct vertex_names *names;
    uint32_t row;
    assert_int_equal(graph_file_read_names(fixture->folder, name, &names), STATUS_OK);
    assert_true(vertex_names_find(names, "LAX1", 4, &row));
    assert_int_equal(row, 1);
    vertex_names_destroy(names);
    graph_destroy(graph);
}

FIXTURE_TEST(a_second_write_repairs_a_damaged_file)
{
    struct graph *read;
    struct graph *graph = fixture_path_graph(50, WEIGHT_INTEGER, 1);
    fixture_put_graph(fixture->folder, name, graph);
    fixture_flip(fixture->folder, name, -21);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    fixture_put_graph(fixture->folder, name, graph);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    graph_destroy(read);
    graph_destroy(graph);
}

/* Any changed bit of the file must be detected, except in the padding between parts. This graph has
 * an even number of edges, so it has padding only after the names. */
FIXTURE_TEST(every_flipped_byte_is_detected)
{
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    const off_t bytes = (off_t)fixture_put_graph(fixture->folder, name, graph);
    const off_t padding = (off_t)(-vertex_names_encoded_size(graph->names) & 7);
    for (off_t at = 0; at < bytes - padding; at++) {
        struct graph *read;
        fixture_flip(fixture->folder, name, at);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
        fixture_flip(fixture->folder, name, at);
    }
    graph_destroy(graph);
}

FIXTURE_TEST(files_with_a_wrong_length_are_detected)
{
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    off_t bytes = (off_t)fixture_put_graph(fixture->folder, name, graph);
    int descriptor = openat(fixture->folder, name, O_RDWR | O_CLOEXEC);
    struct graph *read;
    for (off_t more = 8; more <= 1024; more *= 2) {
        assert_int_equal(ftruncate(descriptor, bytes + more), 0);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    }
    for (off_t size = bytes - 1; size >= 0; size--) {
        assert_int_equal(ftruncate(descriptor, size), 0);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    }
    close(descriptor);
    graph_destroy(graph);
}

FIXTURE_TEST(a_file_of_another_graph_counts_as_damaged)
{
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    struct graph *read;
    int descriptor;
    fixture_put_graph(fixture->folder, name, graph);
    assert_int_equal(renameat(fixture->folder, name, fixture->folder, "g_other"), 0);
    assert_int_equal(graph_file_read(fixture->folder, "g_other", &read), STATUS_CORRUPT);
    assert_int_equal(graph_file_open(fixture->folder, "g_other", &descriptor), STATUS_CORRUPT);
    assert_int_equal(renameat(fixture->folder, "g_other", fixture->folder, name), 0);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    graph_destroy(read);
    graph_destroy(graph);
}

FIXTURE_TEST(a_missing_file_counts_as_damaged)
{
    struct graph *read;
    struct vertex_names *names;
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    assert_int_equal(graph_file_read_names(fixture->folder, name, &names), STATUS_CORRUPT);
}

FIXTURE_TEST(a_dropped_draft_leaves_no_file)
{
    struct graph *graph = fixture_path_graph(50, WEIGHT_INTEGER, 1);
    struct draft_file file;
    uint64_t bytes;
    assert_int_equal(graph_file_write(fixture->folder, name, graph, &file, &bytes), STATUS_OK);
    draft_file_finish(&file);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}

FIXTURE_TEST(a_file_size_limit_counts_as_a_full_disk)
{
    struct graph *graph = fixture_path_graph(50000, WEIGHT_INTEGER, 1);
    struct draft_file file;
    struct rlimit before;
    uint64_t bytes;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    for (rlim_t kept = 0; kept < 700000; kept += 90000) {
        const struct rlimit limit = {kept, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const enum status status = graph_file_write(fixture->folder, name, graph, &file, &bytes);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, STATUS_DISK_FULL);
    }
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}
