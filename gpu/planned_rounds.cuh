/* The rounds of a plan that leaves tiles out (proto/plan.h), on one stream: each is three launches,
 * of all its diagonal tiles, all its panels and all its targets. The host runs ahead and waits only
 * to tell of progress and to hear of a cancel. Tiles that no round reaches are never touched. */
#pragma once

#include "gpu/kernel_diagonal.cuh"
#include "gpu/kernel_panel.cuh"
#include "gpu/kernel_planned.cuh"
#include "gpu/workspace.cuh"

/* The schedule's lists on the device. */
struct planned_lists {
    const struct schedule_tile *fills;
    const struct schedule_pivot *pivots;
    const struct schedule_panel *panels;
    const struct schedule_target *targets;
    const struct schedule_product *products;
    struct tile_order order;
};

template <typename semiring> struct planned_rounds {
    struct gpu *gpu;
    const struct schedule *schedule;
    const struct planned_lists *lists;
    const struct observer *observer;
    struct tile_matrix<typename semiring::element> matrix;
    struct operand<typename semiring::word> operand;
    bool clamp_diagonal;
};

/* One array to the next place on the device. From pageable memory: it has been read when the call
 * returns. */
MUST_CHECK static inline enum status planned_send(char **rest, const void *from, uint64_t bytes,
                                                  const void **ret_to, cudaStream_t stream)
{
    void *const to = workspace_cut(rest, workspace_align(bytes));
    GPU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    *ret_to = to;
    return STATUS_OK;
}

#define PLANNED_SEND(field, from, count)                                                           \
    STATUS_TRY(planned_send(&rest, from, (uint64_t)(count) * sizeof(*(from)),                      \
                            (const void **)&(field), stream))

/* memory: schedule_bytes_most on the device. */
MUST_CHECK static inline enum status planned_upload(const struct schedule *schedule,
                                                    const struct plan *plan, void *memory,
                                                    cudaStream_t stream,
                                                    struct planned_lists *ret_lists)
{
    const uint64_t bits = (uint64_t)schedule->tile_count * schedule->tile_count;
    char *rest = (char *)memory;
    struct planned_lists lists;
    PLANNED_SEND(lists.fills, schedule->fills, schedule->fill_count);
    PLANNED_SEND(lists.pivots, schedule->pivots, schedule->pivot_count);
    PLANNED_SEND(lists.panels, schedule->panels, schedule->panel_count);
    PLANNED_SEND(lists.targets, schedule->targets, schedule->target_count);
    PLANNED_SEND(lists.products, schedule->products, schedule->product_count);
    PLANNED_SEND(lists.order.position, schedule->position, plan->vertex_count);
    PLANNED_SEND(lists.order.held, plan->reached_tiles, (bits + 63) / 64);
    lists.order.tile_count = schedule->tile_count;
    *ret_lists = lists;
    return STATUS_OK;
}

template <typename semiring>
MUST_CHECK static enum status planned_start_pivots(const struct planned_rounds<semiring> *rounds,
                                                   const struct schedule_round *round)
{
    struct gpu *gpu = rounds->gpu;
    struct diagonal_step diagonal;
    diagonal.pivots = rounds->lists->pivots + round->pivots.begin;
    diagonal.count = round->pivots.count;
    diagonal.tile = 0;
    diagonal.depth = 0;
    diagonal.clamp = rounds->clamp_diagonal;
    diagonal.control = gpu->control;
    diagonal.negative = &gpu->alarm_device->negative;
    return diagonal_launch<semiring>(rounds->matrix, diagonal, gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_start_panels(const struct planned_rounds<semiring> *rounds,
                                                   const struct schedule_round *round)
{
    const bool symmetric = rounds->schedule->symmetric;
    struct panel_step panel;
    panel.panels = rounds->lists->panels + round->rights.begin;
    panel.row_count = symmetric ? round->lefts.count : round->rights.count;
    panel.column_count = symmetric ? 0 : round->lefts.count;
    panel.pivot = 0;
    panel.depth = 0;
    panel.symmetric = symmetric;
    panel.control = rounds->gpu->control;
    return panel_launch<semiring>(rounds->matrix, rounds->operand, panel, rounds->gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_start(const struct planned_rounds<semiring> *rounds,
                                            uint32_t index)
{
    struct gpu *gpu = rounds->gpu;
    const struct schedule_round *round = &rounds->schedule->rounds[index];
    struct planned_step<typename semiring::word> step;
    step.targets = rounds->lists->targets + round->targets.begin;
    step.products = rounds->lists->products;
    step.operand = rounds->operand;
    step.one = 1;
    step.control = gpu->control;
    STATUS_TRY(planned_start_pivots(rounds, round));
    STATUS_TRY(planned_start_panels(rounds, round));
    STATUS_TRY(planned_launch<semiring>(rounds->matrix, step, round->targets.count, gpu->stream));
    GPU_TRY(cudaEventRecord(gpu->planned_done[index % DEVICE_PLANNED_AHEAD], gpu->stream));
    return STATUS_OK;
}

/* Waits for a round, tells of it and hears of a cancel. */
template <typename semiring>
MUST_CHECK static enum status planned_finish(const struct planned_rounds<semiring> *rounds,
                                             uint32_t index)
{
    const struct observer *observer = rounds->observer;
    GPU_TRY(cudaEventSynchronize(rounds->gpu->planned_done[index % DEVICE_PLANNED_AHEAD]));
    STATUS_TRY(device_alarm(rounds->gpu));
    if (observer != NULL && observer->progress != NULL) {
        observer->progress(observer->context, index + 1, rounds->schedule->round_count);
    }
    return device_cancelled(observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* All rounds. Ends when the last is done. */
template <typename semiring>
MUST_CHECK static enum status planned_run(const struct planned_rounds<semiring> *rounds)
{
    const uint32_t count = rounds->schedule->round_count;
    const uint32_t ahead = count < DEVICE_PLANNED_AHEAD ? count : DEVICE_PLANNED_AHEAD;
    for (uint32_t round = 0; round < count; ++round) {
        if (round >= ahead) {
            STATUS_TRY(planned_finish(rounds, round - ahead));
        }
        STATUS_TRY(planned_start(rounds, round));
    }
    for (uint32_t round = count - ahead; round < count; ++round) {
        STATUS_TRY(planned_finish(rounds, round));
    }
    return STATUS_OK;
}
