#include "tests/lib/tiles_fixture.h"

struct cpu_pool *pool;

int create_pool(void **state)
{
    return cpu_pool_create(3, &pool) == STATUS_OK ? 0 : 1;
}

int destroy_pool(void **state)
{
    cpu_pool_destroy(pool);
    return 0;
}

/* Returns a plan without rounds. Its vertices are rotated by n / 3, and its tiles have 50 and 37
 * vertices in turn. */
static struct plan *tiles_fixture_order(uint32_t n)
{
    struct plan *plan = calloc(1, sizeof(*plan));
    assert_non_null(plan);
    plan->summary.kind = PLAN_NESTED_DISSECTION;
    plan->vertex_count = n;
    plan->tile = CPU_TILE;
    plan->vertex_at = calloc(n + 1, sizeof(*plan->vertex_at));
    plan->tile_begin = calloc(n + 1, sizeof(*plan->tile_begin));
    assert_true(plan->vertex_at != NULL && plan->tile_begin != NULL);
    for (uint32_t position = 0; position < n; ++position) {
        plan->vertex_at[position] = (position + n / 3) % n;
    }
    for (uint32_t begin = 0; begin < n; ++plan->tile_count) {
        const uint32_t width = plan->tile_count % 2 == 0 ? 50 : 37;
        begin = n - begin < width ? n : begin + width;
        plan->tile_begin[plan->tile_count + 1] = begin;
    }
    return plan;
}

void tiles_fixture_open(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered,
                        struct tiles_fixture *ret_fixture)
{
    *ret_fixture =
        (struct tiles_fixture){.matrix = {n, kind, calloc((size_t)n * n + 1, kind_size(kind))}};
    assert_non_null(ret_fixture->matrix.elements);
    if (ordered) {
        ret_fixture->plan = tiles_fixture_order(n);
    } else {
        assert_int_equal(planner_dense(n, CPU_TILE, &ret_fixture->plan), STATUS_OK);
    }
    assert_int_equal(cpu_tiles_init(ret_fixture->plan, NULL, arithmetic, &ret_fixture->tiles),
                     STATUS_OK);
    ret_fixture->tiles.elements = ret_fixture->matrix.elements;
}

void tiles_fixture_close(struct tiles_fixture *fixture)
{
    cpu_tiles_finish(&fixture->tiles);
    plan_destroy(fixture->plan);
    free(fixture->matrix.elements);
}
