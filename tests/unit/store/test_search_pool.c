#include "server/store/delta_file.h"
#include "server/store/result.h"
#include "tests/lib/hierarchy_fixture.h"
#include "tests/lib/store_fixture.h"

static struct result_file *make_file(const struct fixture *fixture, const struct graph *graph,
                                     uint64_t *ret_checksum)
{
    struct result_file *file = NULL;
    uint64_t size;
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(result_file_create(fixture->folder, graph->vertex_count, KIND_I4,
                                        RESULT_FORM_HIERARCHY, &file),
                     STATUS_OK);
    assert_int_equal(result_file_write_hierarchy(file, bytes, size), STATUS_OK);
    assert_int_equal(result_file_seal(file), STATUS_OK);
    assert_int_equal(result_file_publish(file, "h", ret_checksum), STATUS_OK);
    free(bytes);
    return file;
}

/* search_pool_open returns the hierarchy here. The tests use only the pool. */
static const struct hierarchy *hierarchy;

/* Returns a row of distances, and the number of steps that its search took. */
static const int32_t *find_row(struct search_pool *pool, uint32_t row, struct result_rows *rows,
                               size_t *ret_steps)
{
    const void *found = NULL;
    for (*ret_steps = 0; found == NULL; ++*ret_steps) {
        assert_int_equal(search_pool_row(pool, row, rows, &found), STATUS_OK);
    }
    return found;
}

static void check_pool(struct result_file *file, const struct graph *graph)
{
    const size_t n = graph->vertex_count;
    struct search_pool *pool = NULL;
    struct result_rows rows = {.axis = {NULL, 0, (uint32_t)n}};
    uint64_t *distance = range_distances(graph);
    assert_int_equal(search_pool_create(file, &pool), STATUS_OK);
    assert_int_equal(search_pool_open(pool, NULL, &hierarchy), STATUS_OK);
    assert_true(search_pool_arc_count(pool) > n);
    /* Requests consecutive rows, some of them twice, then a distant row. Abandons some searches. */
    for (uint32_t i = 0; i < 4 * n; ++i) {
        const uint32_t row = i % 5 == 4 ? i * 17 % (uint32_t)n : i / 2 % (uint32_t)n;
        const void *abandoned;
        size_t steps;
        if (i == 2 * n) {
            search_pool_finish_rows(&rows);
            rows.axis.count = (uint32_t)n;
            rows.is_reversed = true;
        }
        if (i % 7 == 3) {
            const uint32_t other = (row + 1) % (uint32_t)n;
            assert_int_equal(search_pool_row(pool, other, &rows, &abandoned), STATUS_OK);
        }
        const int32_t *found = find_row(pool, row, &rows, &steps);
        for (size_t other = 0; other < n; ++other) {
            assert_int_equal(found[other], distance[i < 2 * n ? row * n + other : other * n + row]);
        }
    }
    const uint32_t pairs[] = {3, 7, 3, 9, 100, 2};
    int32_t elements[3];
    size_t count;
    assert_int_equal(search_pool_pairs(pool, pairs, 3, elements, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(elements[0], distance[3 * n + 7]);
    assert_int_equal(elements[2], distance[100 * n + 2]);
    search_pool_finish_rows(&rows);
    search_pool_destroy(pool);
    free(distance);
}

FIXTURE_TEST(a_hierarchy_returns_distances_before_and_after_it_is_stored)
{
    struct graph *graph = make_grid(true);
    struct result_file *opened = NULL;
    uint64_t checksum;
    struct result_file *file = make_file(fixture, graph, &checksum);
    assert_int_equal(result_file_form(file), RESULT_FORM_HIERARCHY);
    check_pool(file, graph);
    result_file_destroy(file);
    assert_int_equal(
        result_file_open(fixture->folder, "h", GRID_VERTICES, KIND_I4, checksum, &opened),
        STATUS_OK);
    assert_int_equal(result_file_form(opened), RESULT_FORM_HIERARCHY);
    check_pool(opened, graph);
    result_file_destroy(opened);
    graph_destroy(graph);
}

FIXTURE_TEST(a_hierarchy_of_another_graph_counts_as_damaged)
{
    struct graph *graph = make_grid(false);
    struct result_file *opened = NULL;
    struct search_pool *pool = NULL;
    uint64_t checksum;
    result_file_destroy(make_file(fixture, graph, &checksum));
    assert_int_equal(
        result_file_open(fixture->folder, "h", GRID_VERTICES + 1, KIND_I4, checksum, &opened),
        STATUS_OK);
    assert_int_equal(search_pool_create(opened, &pool), STATUS_OK);
    assert_int_equal(search_pool_open(pool, NULL, &hierarchy), STATUS_CORRUPT);
    search_pool_destroy(pool);
    result_file_destroy(opened);
    graph_destroy(graph);
}

/* A search must not use a block before its checksum is verified. */
FIXTURE_TEST(a_changed_byte_is_detected)
{
    struct graph *graph = make_grid(false);
    uint64_t checksum;
    struct result_file *file = make_file(fixture, graph, &checksum);
    const uint64_t size = result_file_bytes(file);
    result_file_destroy(file);
    for (uint64_t at = 0; at < size; at += 97) {
        struct search_pool *pool = NULL;
        struct result_file *opened = NULL;
        unsigned char byte;
        const int descriptor = openat(fixture->folder, "h", O_RDWR | O_CLOEXEC);
        assert_true(descriptor >= 0 && pread(descriptor, &byte, 1, (off_t)at) == 1);
        byte ^= 8;
        assert_int_equal(pwrite(descriptor, &byte, 1, (off_t)at), 1);
        enum status status =
            result_file_open(fixture->folder, "h", GRID_VERTICES, KIND_I4, checksum, &opened);
        if (status == STATUS_OK) {
            assert_int_equal(search_pool_create(opened, &pool), STATUS_OK);
            status = search_pool_open(pool, NULL, &hierarchy);
        }
        assert_int_equal(status, STATUS_CORRUPT);
        search_pool_destroy(pool);
        result_file_destroy(opened);
        byte ^= 8;
        assert_int_equal(pwrite(descriptor, &byte, 1, (off_t)at), 1);
        close(descriptor);
    }
    graph_destroy(graph);
}

#define LONG_ROW 200000

static struct graph *make_long_path(void)
{
    struct range_edge *edges = calloc(LONG_ROW, sizeof(*edges));
    assert_non_null(edges);
    for (uint32_t v = 0; v + 1 < LONG_ROW; ++v) {
        edges[v] = (struct range_edge){v, v + 1, 1};
    }
    struct graph *graph = range_build(LONG_ROW, edges, LONG_ROW - 1, false);
    free(edges);
    return graph;
}

/* The event loop reads the number of arcs, so this must not require reading gigabytes. */
FIXTURE_TEST(the_first_block_contains_the_number_of_arcs)
{
    struct search_pool *pool = NULL;
    struct result_file *opened = NULL;
    uint64_t checksum;
    struct graph *graph = make_long_path();
    result_file_destroy(make_file(fixture, graph, &checksum));
    const int descriptor = openat(fixture->folder, "h", O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(descriptor, "damage", 6, 1 << 20), 6);
    close(descriptor);
    assert_int_equal(result_file_open(fixture->folder, "h", LONG_ROW, KIND_I4, checksum, &opened),
                     STATUS_OK);
    assert_int_equal(search_pool_create(opened, &pool), STATUS_OK);
    assert_in_range(search_pool_arc_count(pool), LONG_ROW - 1, 2 * LONG_ROW);
    assert_int_equal(search_pool_open(pool, NULL, &hierarchy), STATUS_CORRUPT);
    search_pool_destroy(pool);
    result_file_destroy(opened);
    graph_destroy(graph);
}

/* If long rows were computed ahead, each slow client would hold the memory of several rows. */
FIXTURE_TEST(long_rows_are_computed_one_at_a_time)
{
    const size_t row_bytes = LONG_ROW * sizeof(int32_t);
    struct search_pool *pool = NULL;
    struct result_rows rows = {.axis = {NULL, 0, LONG_ROW}};
    uint64_t checksum;
    struct graph *graph = make_long_path();
    struct result_file *file = make_file(fixture, graph, &checksum);
    assert_int_equal(search_pool_create(file, &pool), STATUS_OK);
    for (uint32_t row = 0; row < 3; ++row) {
        size_t steps;
        const int32_t *found = find_row(pool, row, &rows, &steps);
        assert_int_equal(found[LONG_ROW - 1], LONG_ROW - 1 - row);
        assert_in_range(steps, 5, 20);
        assert_true(rows.room * row_bytes <= (size_t)4 << 20);
    }
    search_pool_finish_rows(&rows);
    search_pool_destroy(pool);
    result_file_destroy(file);
    graph_destroy(graph);
}

static struct result_file *make_copy(const struct fixture *fixture, struct result_file *base,
                                     unsigned char **ret_bytes, uint64_t **ret_changed)
{
    struct result_file *file = NULL;
    void *bytes = NULL;
    assert_int_equal(
        result_file_create(fixture->folder, GRID_VERTICES, KIND_I4, RESULT_FORM_HIERARCHY, &file),
        STATUS_OK);
    assert_int_equal(result_file_copy(file, base, &bytes, ret_changed), STATUS_OK);
    *ret_bytes = bytes;
    return file;
}

static void change_last_byte(unsigned char *bytes, uint64_t size, uint64_t *changed)
{
    const uint64_t piece = (size - 1) / DELTA_PIECE_BYTES;
    bytes[size - 1] ^= 1;
    changed[piece / 64] |= UINT64_C(1) << piece % 64;
}

/* The base of the copy may be published or unpublished, and may be destroyed before the copy. */
FIXTURE_TEST(changing_a_copy_does_not_change_its_base)
{
    struct graph *graph = make_grid(false);
    for (int is_published = 0; is_published < 2; is_published++) {
        struct result_file *base = NULL;
        struct result_file *opened = NULL;
        unsigned char *bytes = NULL;
        uint64_t *changed = NULL;
        uint64_t checksum;
        uint64_t size;
        if (is_published) {
            base = make_file(fixture, graph, &checksum);
        } else {
            void *made = make_bytes(graph, KIND_I4, 1, &size);
            assert_int_equal(result_file_create(fixture->folder, GRID_VERTICES, KIND_I4,
                                                RESULT_FORM_HIERARCHY, &base),
                             STATUS_OK);
            assert_int_equal(result_file_write_hierarchy(base, made, size), STATUS_OK);
            assert_int_equal(result_file_seal(base), STATUS_OK);
            free(made);
        }
        const unsigned char *before = result_file_hierarchy(base, &size);
        unsigned char *wanted = malloc(size);
        assert_non_null(wanted);
        memcpy(wanted, before, size);
        struct result_file *file = make_copy(fixture, base, &bytes, &changed);
        assert_memory_equal(bytes, wanted, size);
        change_last_byte(bytes, size, changed);
        assert_memory_equal(before, wanted, size);
        wanted[size - 1] ^= 1;
        assert_int_equal(result_file_seal(file), STATUS_OK);
        result_file_destroy(base);
        assert_int_equal(unlinkat(fixture->folder, "h", 0), is_published ? 0 : -1);
        assert_memory_equal(result_file_hierarchy(file, &size), wanted, size);
        assert_int_equal(result_file_publish(file, "copy", &checksum), STATUS_OK);
        assert_memory_equal(result_file_hierarchy(file, &size), wanted, size);
        const uint64_t file_size = result_file_bytes(file);
        result_file_destroy(file);
        assert_int_equal(
            result_file_open(fixture->folder, "copy", GRID_VERTICES, KIND_I4, checksum, &opened),
            STATUS_OK);
        assert_int_equal(result_file_verify(opened, 0, size), STATUS_OK);
        assert_memory_equal(result_file_hierarchy(opened, &size), wanted, size);
        assert_int_equal(result_file_bytes(opened), file_size);
        result_file_destroy(opened);
        free(wanted);
    }
    graph_destroy(graph);
}

/* After the copy is discarded, a hierarchy of another size is written to the same file. */
FIXTURE_TEST(a_discarded_copy_can_be_replaced_by_another_hierarchy)
{
    struct graph *graph = make_grid(false);
    struct graph *other = make_grid(true);
    unsigned char *bytes = NULL;
    uint64_t *changed = NULL;
    uint64_t checksum;
    uint64_t size;
    uint64_t found;
    struct result_file *base = make_file(fixture, graph, &checksum);
    struct result_file *file = make_copy(fixture, base, &bytes, &changed);
    void *made = make_bytes(other, KIND_I4, 1, &size);
    result_file_discard_bytes(file);
    assert_int_equal(result_file_write_hierarchy(file, made, size), STATUS_OK);
    assert_int_equal(result_file_seal(file), STATUS_OK);
    assert_memory_equal(result_file_hierarchy(file, &found), made, size);
    assert_int_equal(found, size);
    free(made);
    result_file_destroy(file);
    result_file_destroy(base);
    graph_destroy(graph);
    graph_destroy(other);
}
