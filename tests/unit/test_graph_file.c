#include "server/store/graph_file.h"

#include "server/store/graph_file_layout.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char name[] = "g_test";

static uint64_t write_graph(const struct fixture *fixture, const struct graph *graph)
{
    struct graph_draft draft = {0};
    assert_int_equal(graph_file_draft(fixture->folder, name, graph, &draft), STATUS_OK);
    assert_int_equal(draft_file_publish(&draft.file, fixture->folder, name), STATUS_OK);
    graph_file_drop(&draft);
    return draft.bytes;
}

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
    assert_int_equal(read->summary.integral, graph->summary.integral);
}

static void graphs_come_back_as_they_were(void **state)
{
    const struct fixture *fixture = *state;
    const uint32_t sizes[] = {0, 1, 2, 3, 8, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (enum weight_type type = WEIGHT_INTEGER; type <= WEIGHT_REAL; type++) {
            struct graph *read;
            struct graph *graph = fixture_path_graph(sizes[i], type, -3);
            graph->directed = i % 2 == 0;
            graph->summary.negative_loop = sizes[i] > 0 ? 0 : NO_VERTEX;
            graph->summary.negative_loop_weight = sizes[i] > 0 ? -2.5 : 0;
            uint64_t bytes = write_graph(fixture, graph);
            struct stat info;
            assert_int_equal(fstatat(fixture->folder, name, &info, 0), 0);
            assert_int_equal(info.st_size, bytes);
            assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
            expect_same(graph, read);
            uint64_t edges;
            assert_int_equal(graph_file_edge_count(fixture->folder, name, &edges), STATUS_OK);
            assert_int_equal(edges, graph->edge_count);
            graph_destroy(read);
            graph_destroy(graph);
        }
    }
}

static void string_names_come_back_without_the_edges(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(3, WEIGHT_INTEGER, 1);
    vertex_names_destroy(graph->names);
    graph->names = names_of((const char *[]){"JFK", "LAX1", "x"}, 3, false);
    write_graph(fixture, graph);
    struct vertex_names *names;
    uint32_t row;
    assert_int_equal(graph_file_read_names(fixture->folder, name, &names), STATUS_OK);
    assert_true(vertex_names_find(names, "LAX1", 4, &row));
    assert_int_equal(row, 1);
    vertex_names_destroy(names);
    graph_destroy(graph);
}

static void second_write_heals_a_damaged_file(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *read;
    struct graph *graph = fixture_path_graph(50, WEIGHT_INTEGER, 1);
    write_graph(fixture, graph);
    fixture_flip(fixture->folder, name, -17);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    write_graph(fixture, graph);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    graph_destroy(read);
    graph_destroy(graph);
}

static bool layout_with_room(const struct graph_file_header *header, uint64_t edge_room,
                             struct graph_file_layout *ret_layout)
{
    struct graph_file_header with_room = *header;
    with_room.edge_room = edge_room;
    return graph_file_layout_of(&with_room, ret_layout);
}

/* Every bit of the file matters: no byte may change unseen. Padding between parts has no meaning;
 * of this graph the names alone have some. */
static void every_flipped_byte_is_found(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    off_t bytes = (off_t)write_graph(fixture, graph);
    const struct graph_file_header header = graph_file_header_of(graph);
    struct graph_file_layout layout;
    assert_true(layout_with_room(&header, graph->edge_count, &layout));
    const off_t names_end = (off_t)(layout.names_at + header.names_size);
    for (off_t at = 0; at < bytes; at++) {
        struct graph *read;
        if (at >= names_end && at < (off_t)layout.owner_at) {
            continue;
        }
        fixture_flip(fixture->folder, name, at);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
        fixture_flip(fixture->folder, name, at);
    }
    graph_destroy(graph);
}

static void truncated_and_lengthened_files_are_found(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    off_t bytes = (off_t)write_graph(fixture, graph);
    int descriptor = openat(fixture->folder, name, O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(descriptor, bytes + 8), 0);
    struct graph *read;
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    for (off_t size = bytes - 1; size >= 0; size--) {
        assert_int_equal(ftruncate(descriptor, size), 0);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    }
    close(descriptor);
    graph_destroy(graph);
}

static void the_file_of_another_graph_is_a_damaged_one(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    struct graph *read;
    int descriptor;
    write_graph(fixture, graph);
    assert_int_equal(renameat(fixture->folder, name, fixture->folder, "g_other"), 0);
    assert_int_equal(graph_file_read(fixture->folder, "g_other", &read), STATUS_CORRUPT);
    assert_int_equal(graph_file_open(fixture->folder, "g_other", &descriptor), STATUS_CORRUPT);
    assert_int_equal(renameat(fixture->folder, "g_other", fixture->folder, name), 0);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    graph_destroy(read);
    graph_destroy(graph);
}

/* As builds wrote them that had version 1 or 2: names, row offsets, targets and weights behind a
 * header of 136 bytes, and in version 2 the checksum of the id. */
static void write_old_file(const struct fixture *fixture, const struct graph *graph,
                           uint32_t version)
{
    const uint64_t offsets_size = (graph->vertex_count + UINT64_C(1)) * sizeof(uint64_t);
    unsigned char bytes[512] = {0};
    unsigned char *end = bytes + 136;
    struct graph_file_header header = graph_file_header_of(graph);
    header.version = version;
    assert_true(header.names_size <= 24);
    vertex_names_encode(graph->names, end);
    header.names_checksum = XXH3_64bits(end, header.names_size);
    unsigned char *edges = end + (header.names_size + 7) / 8 * 8;
    memcpy(edges, graph->row_offset, offsets_size);
    /* An even number of edges leaves no gap. */
    memcpy(edges + offsets_size, graph->target, graph->edge_count * 4);
    memcpy(edges + offsets_size + graph->edge_count * 4, graph->weight_i4, graph->edge_count * 4);
    end = edges + offsets_size + graph->edge_count * 8;
    header.edges_checksum = XXH3_64bits(edges, (size_t)(end - edges));
    header.edge_room = XXH3_64bits(&header, 128);
    memcpy(bytes, &header, 136);
    if (version == 2) {
        const uint64_t owner = XXH3_64bits_withSeed(name, strlen(name), header.edge_room);
        memcpy(end, &owner, sizeof owner);
        end += sizeof owner;
    }
    int descriptor = openat(fixture->folder, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(descriptor, bytes, (size_t)(end - bytes)), end - bytes);
    close(descriptor);
}

static void files_of_earlier_versions_are_read(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    for (uint32_t version = 1; version <= 2; version++) {
        struct graph *read;
        struct vertex_names *names;
        write_old_file(fixture, graph, version);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
        expect_same(graph, read);
        assert_int_equal(graph_file_read_names(fixture->folder, name, &names), STATUS_OK);
        assert_int_equal(vertex_names_count(names), 5);
        vertex_names_destroy(names);
        graph_destroy(read);
        fixture_flip(fixture->folder, name, -20);
        assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    }
    graph_destroy(graph);
}

/* The graph may have no edges to begin again with. */
static void a_draft_that_failed_is_not_begun_again(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    struct graph_draft draft = {.failure = STATUS_DISK_FULL};
    assert_int_equal(graph_file_draft(fixture->folder, name, graph, &draft), STATUS_DISK_FULL);
    assert_false(draft.begun);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}

static void absent_file_is_a_damaged_one(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *read;
    struct vertex_names *names;
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    assert_int_equal(graph_file_read_names(fixture->folder, name, &names), STATUS_CORRUPT);
}

/* A sound checksum does not make a graph: what the checks behind it are for. */
static void malformed_graphs_are_refused_after_their_checksum(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *read;
    struct graph *graph = fixture_path_graph(5, WEIGHT_INTEGER, 1);
    graph->target[2] = 5;
    write_graph(fixture, graph);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    graph->target[2] = 3;
    graph->row_offset[2] = 4;
    write_graph(fixture, graph);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    graph->row_offset[2] = UINT64_MAX;
    write_graph(fixture, graph);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_CORRUPT);
    graph_destroy(graph);
}

/* Several blocks long. */
static void a_file_begun_before_its_id_is_known_is_the_same(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(1500000, WEIGHT_INTEGER, 1);
    struct graph_draft draft = {0};
    struct graph *read;
    graph_file_drop(&draft);
    assert_int_equal(graph_file_begin(fixture->folder, graph, &draft), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    assert_int_equal(graph_file_draft(fixture->folder, name, graph, &draft), STATUS_OK);
    assert_int_equal(draft_file_publish(&draft.file, fixture->folder, name), STATUS_OK);
    graph_file_drop(&draft);
    assert_int_equal(graph_file_read(fixture->folder, name, &read), STATUS_OK);
    expect_same(graph, read);
    graph_destroy(read);
    graph_destroy(graph);
}

static void a_draft_that_is_dropped_leaves_nothing(void **state)
{
    const struct fixture *fixture = *state;
    struct graph *graph = fixture_path_graph(50, WEIGHT_INTEGER, 1);
    struct graph_draft draft = {0};
    assert_int_equal(graph_file_begin(fixture->folder, graph, &draft), STATUS_OK);
    const int descriptor = draft.file.descriptor;
    graph_file_drop(&draft);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(graphs_come_back_as_they_were),
        FIXTURE_TEST(string_names_come_back_without_the_edges),
        FIXTURE_TEST(second_write_heals_a_damaged_file),
        FIXTURE_TEST(every_flipped_byte_is_found),
        FIXTURE_TEST(truncated_and_lengthened_files_are_found),
        FIXTURE_TEST(the_file_of_another_graph_is_a_damaged_one),
        FIXTURE_TEST(files_of_earlier_versions_are_read),
        FIXTURE_TEST(a_draft_that_failed_is_not_begun_again),
        FIXTURE_TEST(absent_file_is_a_damaged_one),
        FIXTURE_TEST(malformed_graphs_are_refused_after_their_checksum),
        FIXTURE_TEST(a_file_begun_before_its_id_is_known_is_the_same),
        FIXTURE_TEST(a_draft_that_is_dropped_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
