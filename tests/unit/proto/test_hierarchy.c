#include "tests/lib/hierarchy_fixture.h"

#define FOREST_LIMIT 300 /* maximum number of supernodes, which gives 19 blocks */

static const uint32_t far_pair[] = {3, GRID_VERTICES - 1};

TEST(a_written_hierarchy_can_be_opened)
{
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = make_grid(directed != 0);
        struct hierarchy *hierarchy = NULL;
        uint64_t size;
        void *bytes = make_bytes(graph, KIND_F8, 1, &size);
        assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
        assert_int_equal(hierarchy->summary.vertex_count, GRID_VERTICES);
        assert_int_equal(hierarchy->summary.kind, KIND_F8);
        assert_int_equal(hierarchy->summary.directed, directed);
        assert_false(hierarchy->summary.negative);
        assert_true(hierarchy->summary.arc_count > 0 && hierarchy->height > GRID_WIDTH);
        assert_int_equal(hierarchy->up == hierarchy->down, directed == 0);
        hierarchy_close(hierarchy);
        free(bytes);
        graph_destroy(graph);
    }
}

/* Both hierarchies share the shape, so it must outlive the hierarchy that was opened first. */
TEST(a_hierarchy_with_different_weights_has_the_same_shape)
{
    struct graph *graph = make_grid(true);
    struct hierarchy *first = NULL;
    struct hierarchy *second = NULL;
    uint64_t size;
    int32_t before;
    int32_t after;
    unsigned char *bytes = make_bytes(graph, KIND_I4, 1, &size);
    unsigned char *others = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(hierarchy_open(bytes, size, &first), STATUS_OK);
    compute_pair(first, far_pair[0], far_pair[1], &before);
    for (int32_t *weight = first->up; (unsigned char *)weight < bytes + size; weight++) {
        const size_t at = (size_t)((unsigned char *)weight - bytes);
        const int32_t doubled = *weight < UNREACHABLE_I4 ? 2 * *weight : *weight;
        memcpy(others + at, &doubled, sizeof(doubled));
    }
    assert_int_equal(hierarchy_open_like(first, others, size - 64, &second), STATUS_CORRUPT);
    others[0] ^= 1;
    assert_int_equal(hierarchy_open_like(first, others, size, &second), STATUS_CORRUPT);
    others[0] ^= 1;
    assert_int_equal(hierarchy_open_like(first, others, size, &second), STATUS_OK);
    assert_ptr_equal(second->row_depth, first->row_depth);
    assert_ptr_equal(second->shape.row, first->shape.row);
    hierarchy_close(first);
    free(bytes);
    compute_pair(second, far_pair[0], far_pair[1], &after);
    assert_int_equal(after, 2 * before);
    hierarchy_close(second);
    free(others);
    graph_destroy(graph);
}

/* Counts the common ancestors of two positions. */
static uint32_t common_of(const struct hierarchy *hierarchy, uint32_t a, uint32_t b)
{
    const uint32_t *vertex_at = hierarchy->shape.vertex_at;
    return hierarchy_common(hierarchy, vertex_at[a], vertex_at[b]);
}

/* Returns the common ancestor of two positions by climbing the tree from both until they meet. */
static uint32_t climb_to_common(const struct hierarchy *hierarchy, uint32_t a, uint32_t b)
{
    const struct hierarchy_shape *shape = &hierarchy->shape;
    uint32_t s = hierarchy->supernode_of[a];
    uint32_t t = hierarchy->supernode_of[b];
    while (s != t) {
        uint32_t *lower = s < t ? &s : &t;
        *(s < t ? &a : &b) = 0;
        *lower = shape->parent[*lower];
    }
    a = a > b ? a : b;
    return s == NO_SUPERNODE ? 0
                             : hierarchy->above[s] + shape->first[s + 1] -
                                   (a > shape->first[s] ? a : shape->first[s]);
}

/* The graph is sparse and has several components, so that some pairs have no common ancestor. */
TEST(common_ancestors_are_counted)
{
    enum { VERTICES = 3000 };
    struct range_edge *edges = calloc(VERTICES, 2 * sizeof(*edges));
    struct hierarchy *hierarchy = NULL;
    uint64_t size;
    size_t count = 0;
    assert_non_null(edges);
    for (uint32_t v = 0; v + 7 < VERTICES; ++v) {
        edges[count++] = (struct range_edge){v, v % 5 < 3 ? v + 1 : v + 7, 1};
        if (v % 4 == 0 && v != VERTICES / 3) {
            edges[count++] = (struct range_edge){v, v * 3 % (VERTICES / 3), 1};
        }
    }
    struct graph *graph = range_build(VERTICES, edges, count, false);
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
    assert_true(hierarchy->shape.supernode_count > 500);
    for (uint32_t a = 0; a < VERTICES; a += 3) {
        for (uint32_t b = a % 2; b < VERTICES; b += 2) {
            assert_int_equal(common_of(hierarchy, a, b), climb_to_common(hierarchy, a, b));
        }
    }
    hierarchy_close(hierarchy);
    free(bytes);
    graph_destroy(graph);
    free(edges);
}

/* Opens a forest of supernodes. Each supernode has one column, with one row for its parent. The
 * caller frees ret_bytes. */
static enum status open_forest(const uint32_t *parent, uint32_t count, void **ret_bytes,
                               struct hierarchy **ret_hierarchy)
{
    uint32_t number[FOREST_LIMIT + 1];
    uint32_t parents[FOREST_LIMIT];
    uint32_t row[FOREST_LIMIT];
    uint64_t row_begin[FOREST_LIMIT + 1] = {0};
    uint64_t weight_begin[FOREST_LIMIT + 1] = {0};
    struct hierarchy_shape shape = {count,     number, number,       count, number, parents,
                                    row_begin, row,    weight_begin, count, 0};
    for (uint32_t s = 0; s <= count; s++) {
        number[s] = s;
    }
    for (uint32_t s = 0; s < count; s++) {
        const bool is_root = parent[s] == NO_SUPERNODE;
        parents[s] = parent[s];
        row[row_begin[s]] = parent[s];
        row_begin[s + 1] = row_begin[s] + !is_root;
        weight_begin[s + 1] = weight_begin[s] + (is_root ? 1 : 2);
    }
    const struct hierarchy_summary forest = {.vertex_count = count, .kind = KIND_I4};
    const uint64_t size = hierarchy_bytes(&shape, KIND_I4, false);
    struct hierarchy laid_out;
    *ret_bytes = aligned_alloc(HIERARCHY_ALIGNMENT, size);
    assert_non_null(*ret_bytes);
    hierarchy_lay_out(&shape, &forest, *ret_bytes, &laid_out);
    return hierarchy_open(*ret_bytes, size, ret_hierarchy);
}

/* The module computes the counts from minima over blocks of 16 supernodes, so the test uses sizes
 * around multiples of 16. */
TEST(common_ancestors_are_counted_at_block_boundaries)
{
    static const uint32_t counts[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, FOREST_LIMIT};
    for (size_t i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
        const uint32_t count = counts[i / 2];
        uint32_t parent[FOREST_LIMIT];
        struct hierarchy *hierarchy = NULL;
        void *bytes;
        for (uint32_t s = 0; s < count; s++) {
            /* The forest is a path or a comb. In a comb, the parent of each odd supernode is the
             * next odd supernode. */
            const uint32_t next = s + (i % 2 == 0 || s % 2 == 0 ? 1 : 2);
            parent[s] = next < count ? next : NO_SUPERNODE;
        }
        assert_int_equal(open_forest(parent, count, &bytes, &hierarchy), STATUS_OK);
        for (uint32_t a = 0; a < count; a++) {
            for (uint32_t b = 0; b < count; b++) {
                assert_int_equal(common_of(hierarchy, a, b), climb_to_common(hierarchy, a, b));
            }
        }
        hierarchy_close(hierarchy);
        free(bytes);
    }
}

/* Every parent comes after its children, but the orders are still not postorders. */
TEST(orders_that_are_not_postorders_are_refused)
{
    enum { COUNT = 4 };
    static const uint32_t parents[][COUNT] = {
        {2, 3, 3, NO_SUPERNODE},                       /* the subtree of 2 is 0 and 2 */
        {2, NO_SUPERNODE, NO_SUPERNODE, NO_SUPERNODE}, /* a root inside the subtree of 2 */
        {3, 2, NO_SUPERNODE, NO_SUPERNODE},            /* a tree inside the subtree of 3 */
    };
    for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
        struct hierarchy *hierarchy = NULL;
        void *bytes;
        assert_int_equal(open_forest(parents[i], COUNT, &bytes, &hierarchy), STATUS_CORRUPT);
        free(bytes);
    }
}

TEST(truncated_hierarchies_are_refused)
{
    struct graph *graph = make_grid(true);
    struct hierarchy *hierarchy = NULL;
    uint64_t size;
    unsigned char *bytes = make_bytes(graph, KIND_I4, 1, &size);
    for (uint64_t left = 0; left < size; left += left < 256 ? 1 : 61) {
        /* aligned_alloc requires a multiple of 64 bytes, so 1 to 64 bytes remain after the copy. */
        unsigned char *cut = aligned_alloc(HIERARCHY_ALIGNMENT, (left / 64 + 1) * 64);
        assert_non_null(cut);
        memcpy(cut, bytes, left);
        assert_int_equal(hierarchy_open(cut, left, &hierarchy), STATUS_CORRUPT);
        free(cut);
    }
    free(bytes);
    graph_destroy(graph);
}

/* Only checksums can detect a changed weight. A change of any other byte must not make a search
 * read outside the hierarchy's bytes. */
TEST(a_changed_byte_never_causes_a_read_out_of_bounds)
{
    struct graph *graph = make_grid(true);
    uint64_t size;
    uint64_t refused = 0;
    unsigned char *bytes = make_bytes(graph, KIND_I4, 1, &size);
    double *row =
        calloc(HIERARCHY_LANES * GRID_VERTICES, sizeof(*row)); /* large enough for both kinds */
    const uint32_t sources[HIERARCHY_LANES] = {0, 5, 100};
    assert_non_null(row);
    for (uint64_t at = 0; at < size; ++at) {
        struct hierarchy *hierarchy = NULL;
        struct hierarchy_search *search = NULL;
        const unsigned char was = bytes[at];
        bytes[at] ^= (unsigned char)(1u << at % 8);
        if (hierarchy_open(bytes, size, &hierarchy) != STATUS_OK) {
            ++refused;
        } else if (hierarchy->summary.vertex_count == GRID_VERTICES) {
            assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
            compute_rows(search, sources, at % 2 == 0 ? 1 : HIERARCHY_LANES, row);
            compute_pair(hierarchy, far_pair[0], far_pair[1], row);
            hierarchy_search_destroy(search);
        }
        hierarchy_close(hierarchy);
        bytes[at] = was;
    }
    assert_true(refused > size / 10);
    free(row);
    free(bytes);
    graph_destroy(graph);
}
