/* The rounds of a solve by a plan that omits tiles (proto/plan.h), on one stream of one device.
 * Even in a group a single device runs them, because the rounds are short and most of the time is
 * spent on copying the rows to the host. A round consists of three launches: for its diagonal
 * tiles, its panels and its targets. The host runs ahead, and waits only to report progress and to
 * check for cancellation. Tiles without edges that no round reaches are never touched. */
#pragma once

#include "gpu/kernel_planned.cuh"
#include "gpu/schedule.h"

/* Addresses of the lists of a schedule in device memory. */
struct planned_lists {
    const struct schedule_tile *fills;
    const struct schedule_pivot *pivots;
    const struct schedule_panel *panels;
    const struct schedule_target *targets;
    const struct schedule_product *products;
    struct tile_order order;
};

template <typename semiring> struct planned_rounds {
    const struct gpu *gpu;
    const struct schedule *schedule;
    const struct planned_lists *lists;
    struct tile_matrix<typename semiring::element> matrix;
    struct operand<typename semiring::word> operand;
    const struct observer *observer;
};

/* Uploads the lists. memory: schedule_bytes_most bytes of device memory. The caller may free the
 * lists in host memory on return, because cudaMemcpyAsync has then copied their pageable memory. */
MUST_CHECK static inline enum status planned_upload(const struct schedule *schedule,
                                                    const struct plan *plan, void *memory,
                                                    cudaStream_t stream,
                                                    struct planned_lists *lists)
{
    const uint64_t bits = (uint64_t)plan->tile_count * plan->tile_count;
    char *rest = (char *)memory;
    const auto upload = [&rest, stream](const auto *from, uint64_t count, auto **ret_list) {
        const uint64_t bytes = count * sizeof(*from);
        void *const to = workspace_cut(&rest, workspace_align(bytes));
        *ret_list = (decltype(from))to;
        return try_translate(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    };
    STATUS_TRY(upload(schedule->fills, schedule->fill_count, &lists->fills));
    STATUS_TRY(upload(schedule->pivots, schedule->pivot_count, &lists->pivots));
    STATUS_TRY(upload(schedule->panels, schedule->panel_count, &lists->panels));
    STATUS_TRY(upload(schedule->targets, schedule->target_count, &lists->targets));
    STATUS_TRY(upload(schedule->products, schedule->product_count, &lists->products));
    STATUS_TRY(upload(schedule->position, plan->vertex_count, &lists->order.position));
    STATUS_TRY(upload(plan->reached_tiles, (bits + 63) / 64, &lists->order.held));
    lists->order.tile_count = plan->tile_count;
    return STATUS_OK;
}

template <typename semiring>
MUST_CHECK static enum status planned_close(const struct planned_rounds<semiring> *rounds,
                                            const struct schedule_round *round)
{
    const struct gpu *gpu = rounds->gpu;
    struct diagonal_step step = {};
    step.pivots = rounds->lists->pivots + round->pivots.begin;
    step.count = round->pivots.count;
    step.control = gpu->control;
    step.negative = &gpu->alarm_device->negative;
    return diagonal_launch<semiring>(rounds->matrix, step, gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_make_panels(const struct planned_rounds<semiring> *rounds,
                                                  const struct schedule_round *round)
{
    const bool symmetric = rounds->schedule->symmetric;
    struct panel_step step = {};
    step.panels = rounds->lists->panels + round->rights.begin;
    step.row_count = symmetric ? round->lefts.count : round->rights.count;
    step.column_count = symmetric ? 0 : round->lefts.count;
    step.symmetric = symmetric;
    step.control = rounds->gpu->control;
    return panel_launch<semiring>(rounds->matrix, rounds->operand, step, rounds->gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_compute(const struct planned_rounds<semiring> *rounds,
                                              const struct schedule_round *round)
{
    struct planned_step<typename semiring::word> step;
    step.targets = rounds->lists->targets + round->targets.begin;
    step.products = rounds->lists->products;
    step.operand = rounds->operand;
    step.one = 1;
    step.control = rounds->gpu->control;
    return planned_launch<semiring>(rounds->matrix, step, round->targets.count,
                                    rounds->gpu->stream);
}

/* Waits for a round, reports progress, and checks for cancellation. */
template <typename semiring>
MUST_CHECK static enum status planned_finish(const struct planned_rounds<semiring> *rounds,
                                             uint32_t index)
{
    const struct gpu *gpu = rounds->gpu;
    GPU_TRY(cudaEventSynchronize(gpu->planned_done[index % DEVICE_PLANNED_AHEAD]));
    STATUS_TRY(device_alarm(gpu));
    observer_tell_rounds(rounds->observer, index + 1, rounds->schedule->round_count);
    return observer_is_cancelled(rounds->observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* Runs all rounds; returns when the last one is finished. */
template <typename semiring>
MUST_CHECK static enum status planned_run(const struct planned_rounds<semiring> *rounds)
{
    const struct gpu *gpu = rounds->gpu;
    const uint32_t count = rounds->schedule->round_count;
    const uint32_t ahead = count < DEVICE_PLANNED_AHEAD ? count : DEVICE_PLANNED_AHEAD;
    for (uint32_t index = 0; index < count; index++) {
        const struct schedule_round *round = &rounds->schedule->rounds[index];
        if (index >= ahead) {
            STATUS_TRY(planned_finish(rounds, index - ahead));
        }
        STATUS_TRY(planned_close(rounds, round));
        STATUS_TRY(planned_make_panels(rounds, round));
        STATUS_TRY(planned_compute(rounds, round));
        GPU_TRY(cudaEventRecord(gpu->planned_done[index % DEVICE_PLANNED_AHEAD], gpu->stream));
    }
    for (uint32_t index = count - ahead; index < count; index++) {
        STATUS_TRY(planned_finish(rounds, index));
    }
    return STATUS_OK;
}
