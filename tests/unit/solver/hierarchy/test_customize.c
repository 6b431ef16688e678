#include "server/solver/hierarchy/customize.h"
#include "server/solver/hierarchy/shape.h"
#include "tests/lib/hierarchy_fixture.h"

struct attempt {
    unsigned asked;
    unsigned stop_at; /* 0 = never */
};

static bool cancelled(void *context)
{
    struct attempt *attempt = context;
    return ++attempt->asked == attempt->stop_at;
}

static enum status customize(const struct graph *graph, enum kind kind, uint32_t threads,
                             struct attempt *attempt)
{
    const struct observer observer = {.context = attempt, .cancelled = cancelled};
    const struct hierarchy_options options = {.kind = kind,
                                              .observer = attempt != NULL ? &observer : NULL};
    struct hierarchy_shape *shape = make_shape(graph);
    struct cpu_pool *pool = NULL;
    void *bytes = aligned_alloc(HIERARCHY_ALIGNMENT, hierarchy_bytes(shape, kind, graph->directed));
    assert_non_null(bytes);
    assert_int_equal(cpu_pool_create(threads, &pool), STATUS_OK);
    const enum status status = hierarchy_customize(shape, graph, pool, &options, bytes);
    cpu_pool_destroy(pool);
    hierarchy_destroy_shape(shape);
    free(bytes);
    return status;
}

TEST(any_number_of_threads_gives_the_same_hierarchy)
{
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = make_grid(directed != 0);
        uint64_t size;
        uint64_t other_size;
        void *bytes = make_bytes(graph, KIND_F4, 1, &size);
        void *other = make_bytes(graph, KIND_F4, 3, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other, size);
        free(bytes);
        free(other);
        graph_destroy(graph);
    }
}

TEST(a_negative_cycle_is_found)
{
    static const struct range_edge edges[] = {{0, 1, 4}, {1, 2, -3}, {2, 0, -2}, {2, 3, 9}};
    static const struct range_edge zero[] = {{0, 1, 4}, {1, 2, -2}, {2, 0, -2}, {2, 3, 9}};
    static const struct range_edge back[] = {{0, 1, 4}, {1, 2, -3}};
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    for (size_t i = 0; i < 3; ++i) {
        struct graph *graph = range_build(4, edges, 4, true);
        struct graph *right = range_build(4, zero, 4, true);
        struct graph *undirected = range_build(3, back, 2, false);
        assert_int_equal(customize(graph, kinds[i], 1, NULL), STATUS_NEGATIVE_CYCLE);
        assert_int_equal(customize(right, kinds[i], 1, NULL), STATUS_OK);
        assert_int_equal(customize(undirected, kinds[i], 1, NULL), STATUS_NEGATIVE_CYCLE);
        graph_destroy(graph);
        graph_destroy(right);
        graph_destroy(undirected);
    }
}

TEST(a_cancellation_is_noticed_at_any_time)
{
    struct graph *graph = make_grid(true);
    struct attempt attempt = {0};
    assert_int_equal(customize(graph, KIND_I4, 1, &attempt), STATUS_OK);
    assert_true(attempt.asked > 2);
    for (unsigned at = 1; at <= attempt.asked; ++at) {
        struct attempt stopped = {.stop_at = at};
        assert_int_equal(customize(graph, KIND_I4, 1, &stopped), STATUS_CANCELLED);
    }
    graph_destroy(graph);
}

/* One vertex has arcs to all other vertices, so its front (a dense matrix) would take 16 TB. */
TEST(fronts_larger_than_the_memory_are_refused)
{
    const uint32_t n = 1u << 21;
    struct hierarchy_shape shape = {.vertex_count = n,
                                    .vertex_at = calloc(n, sizeof(uint32_t)),
                                    .position_of = calloc(n, sizeof(uint32_t)),
                                    .supernode_count = n,
                                    .first = calloc(n + 1, sizeof(uint32_t)),
                                    .parent = calloc(n, sizeof(uint32_t)),
                                    .row_begin = calloc(n + 1, sizeof(uint64_t)),
                                    .row = calloc(n, sizeof(uint32_t)),
                                    .weight_begin = calloc(n + 1, sizeof(uint64_t))};
    for (uint32_t at = 0; at < n; ++at) {
        shape.vertex_at[at] = shape.position_of[at] = shape.first[at] = at;
        shape.parent[at] = at == 0 ? 1 : NO_SUPERNODE;
        shape.row[at] = at + 1; /* only the first column has rows */
        shape.row_begin[at + 1] = n - 1;
        shape.weight_begin[at + 1] = n + at;
    }
    shape.first[n] = n;
    struct graph *graph = range_build(n, NULL, 0, false);
    const struct hierarchy_options options = {.kind = KIND_I4};
    struct cpu_pool *pool = NULL;
    void *bytes = aligned_alloc(HIERARCHY_ALIGNMENT, hierarchy_bytes(&shape, KIND_I4, false));
    assert_non_null(bytes);
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    assert_int_equal(hierarchy_customize(&shape, graph, pool, &options, bytes), STATUS_TOO_LARGE);
    cpu_pool_destroy(pool);
    graph_destroy(graph);
    void *const arrays[] = {shape.vertex_at, shape.position_of, shape.first,        shape.parent,
                            shape.row_begin, shape.row,         shape.weight_begin, bytes};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        free(arrays[i]);
    }
}
