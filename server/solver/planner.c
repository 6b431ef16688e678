#include "server/solver/planner.h"

#include "proto/check.h"
#include "server/solver/stopwatch.h"

#include <stdlib.h>

/* One list of all tiles, shared by every step as its rows and as its columns. */
static enum status allocate(struct plan *plan)
{
    plan->steps = calloc(plan->tile_count > 0 ? plan->tile_count : 1, sizeof(*plan->steps));
    plan->lists = calloc(plan->tile_count > 0 ? plan->tile_count : 1, sizeof(*plan->lists));
    if (plan->steps == NULL || plan->lists == NULL) {
        return STATUS_NO_MEMORY;
    }
    plan->step_count = plan->tile_count;
    plan->list_length = plan->tile_count;
    return STATUS_OK;
}

static void set_step(struct plan *plan, uint32_t index)
{
    const uint32_t rest = plan->vertex_count - index * plan->tile;
    plan->lists[index] = index;
    plan->steps[index] = (struct plan_step){
        .pivot_tile = index,
        .width = rest < plan->tile ? rest : plan->tile,
        .row_tiles = plan->lists,
        .row_tile_count = plan->tile_count,
        .column_tiles = plan->lists,
        .column_tile_count = plan->tile_count,
    };
}

enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan)
{
    CHECK(tile > 0);
    const double begin_s = stopwatch_now_s();
    struct plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return STATUS_NO_MEMORY;
    }
    plan->summary.kind = PLAN_DENSE;
    plan->vertex_count = vertex_count;
    plan->tile = tile;
    plan->tile_count = (uint32_t)(((uint64_t)vertex_count + tile - 1) / tile);
    plan->summary.parts = vertex_count > 0 ? 1 : 0;
    plan->summary.work_fraction = 1;
    if (allocate(plan) != STATUS_OK) {
        plan_destroy(plan);
        return STATUS_NO_MEMORY;
    }
    for (uint32_t index = 0; index < plan->tile_count; ++index) {
        set_step(plan, index);
    }
    plan->summary.planning_s = stopwatch_now_s() - begin_s;
    *ret_plan = plan;
    return STATUS_OK;
}
