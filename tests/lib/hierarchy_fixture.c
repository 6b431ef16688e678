#include "tests/lib/hierarchy_fixture.h"

#include "server/solver/hierarchy/customize.h"
#include "server/solver/hierarchy/shape.h"
#include "server/solver/order/order.h"

static struct range_edge grid_edges[4 * GRID_VERTICES];

struct graph *make_grid(bool directed)
{
    size_t count = 0;
    for (uint32_t v = 0; v < GRID_VERTICES; ++v) {
        const uint32_t next[2] = {v + 1, v + GRID_WIDTH};
        const bool is_there[2] = {v % GRID_WIDTH + 1 < GRID_WIDTH, next[1] < GRID_VERTICES};
        for (int way = 0; way < 2; ++way) {
            const struct range_edge there = {v, next[way], (int32_t)(1 + v * 7 % 10)};
            const struct range_edge back = {next[way], v, (int32_t)(1 + v * 11 % 13)};
            if (is_there[way]) {
                grid_edges[count++] = there;
            }
            if (is_there[way] && directed) {
                grid_edges[count++] = back;
            }
        }
    }
    return range_build(GRID_VERTICES, grid_edges, count, directed);
}

struct hierarchy_shape *make_shape(const struct graph *graph)
{
    struct hierarchy_shape *shape = NULL;
    const struct order_options options = {.threads = 1};
    struct order *order = NULL;
    assert_int_equal(order_make(graph, &options, &order), STATUS_OK);
    assert_int_equal(hierarchy_make_shape(graph, order->vertex_at, &no_limits, &shape), STATUS_OK);
    order_destroy(order);
    return shape;
}

void *make_bytes(const struct graph *graph, enum kind kind, uint32_t threads, uint64_t *ret_size)
{
    const struct hierarchy_options options = {.kind = kind};
    struct hierarchy_shape *shape = make_shape(graph);
    struct cpu_pool *pool = NULL;
    *ret_size = hierarchy_bytes(shape, kind, graph->directed);
    void *bytes = aligned_alloc(HIERARCHY_ALIGNMENT, *ret_size);
    assert_non_null(bytes);
    assert_int_equal(cpu_pool_create(threads, &pool), STATUS_OK);
    assert_int_equal(hierarchy_customize(shape, graph, pool, &options, bytes), STATUS_OK);
    cpu_pool_destroy(pool);
    hierarchy_destroy_shape(shape);
    return bytes;
}

void compute_pair(const struct hierarchy *hierarchy, uint32_t source, uint32_t target,
                  void *ret_element)
{
    struct hierarchy_search *search = NULL;
    const uint32_t ends[] = {source, target};
    double *labels[2];
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    for (int i = 0; i < 2; ++i) {
        labels[i] = malloc(hierarchy_label_count(hierarchy, ends[i]) * sizeof(double));
        assert_non_null(labels[i]);
        hierarchy_make_label(search, ends[i], i == 1, labels[i]);
    }
    hierarchy_pair(hierarchy, source, target, labels[0], labels[1], ret_element);
    free(labels[0]);
    free(labels[1]);
    hierarchy_search_destroy(search);
}

size_t compute_rows(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                    void *rows)
{
    size_t steps = 1;
    hierarchy_rows_begin(search, sources, count, rows);
    while (!hierarchy_rows_step(search)) {
        steps++;
    }
    return steps;
}
