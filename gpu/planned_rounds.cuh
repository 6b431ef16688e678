/* The rounds of a solve by a plan that omits tiles (proto/plan.h), on one stream of one device.
 * Even in a group a single device runs them, because the rounds are short and most of the time is
 * spent on copying the rows to the host. A round consists of three launches: for its diagonal
 * tiles, its panels and its targets. The host runs ahead, and waits only to report progress and to
 * check for cancellation. Tiles without edges that no round reaches are never touched. */
#pragma once

#include "gpu/solve.cuh"

template <typename semiring>
MUST_CHECK static enum status planned_close(const struct solve *solve,
                                            const struct schedule_round *round)
{
    const struct gpu *gpu = solve->gpu;
    struct diagonal_step step = {};
    step.pivots = solve->lists.pivots + round->pivots.begin;
    step.count = round->pivots.count;
    step.control = gpu->control;
    step.negative = &gpu->alarm_device->negative;
    return diagonal_launch<semiring>(workspace_matrix<semiring>(&solve->workspace), step,
                                     gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_make_panels(const struct solve *solve,
                                                  const struct schedule_round *round)
{
    const bool symmetric = solve->plan->symmetric;
    struct panel_step step = {};
    step.panels = solve->lists.panels + round->rights.begin;
    step.row_count = symmetric ? round->lefts.count : round->rights.count;
    step.column_count = symmetric ? 0 : round->lefts.count;
    step.symmetric = symmetric;
    step.control = solve->gpu->control;
    return panel_launch<semiring>(workspace_matrix<semiring>(&solve->workspace),
                                  workspace_operand<semiring>(&solve->workspace, 0, 0), step,
                                  solve->gpu->stream);
}

template <typename semiring>
MUST_CHECK static enum status planned_compute(const struct solve *solve,
                                              const struct schedule_round *round)
{
    struct planned_step<typename semiring::word> step;
    step.targets = solve->lists.targets + round->targets.begin;
    step.products = solve->lists.products;
    step.operand = workspace_operand<semiring>(&solve->workspace, 0, 0);
    step.one = 1;
    step.control = solve->gpu->control;
    return planned_launch<semiring>(workspace_matrix<semiring>(&solve->workspace), step,
                                    round->targets.count, solve->gpu->stream);
}

/* Waits for a round, reports progress, and checks for cancellation. */
MUST_CHECK static inline enum status planned_finish(const struct solve *solve,
                                                    const struct observer *observer, uint32_t index)
{
    const struct gpu *gpu = solve->gpu;
    GPU_TRY(cudaEventSynchronize(gpu->planned_done[index % DEVICE_PLANNED_AHEAD]));
    STATUS_TRY(device_alarm(gpu));
    observer_tell_rounds(observer, index + 1, solve->plan->round_count);
    return observer_is_cancelled(observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* Runs all rounds; returns when the last one is finished. observer: the caller's. */
template <typename semiring>
MUST_CHECK static enum status planned_run(const struct solve *solve,
                                          const struct observer *observer)
{
    const struct gpu *gpu = solve->gpu;
    const uint32_t count = solve->plan->round_count;
    const uint32_t ahead = count < DEVICE_PLANNED_AHEAD ? count : DEVICE_PLANNED_AHEAD;
    for (uint32_t index = 0; index < count; index++) {
        const struct schedule_round *round = &solve->schedule->rounds[index];
        if (index >= ahead) {
            STATUS_TRY(planned_finish(solve, observer, index - ahead));
        }
        STATUS_TRY(planned_close<semiring>(solve, round));
        STATUS_TRY(planned_make_panels<semiring>(solve, round));
        STATUS_TRY(planned_compute<semiring>(solve, round));
        GPU_TRY(cudaEventRecord(gpu->planned_done[index % DEVICE_PLANNED_AHEAD], gpu->stream));
    }
    for (uint32_t index = count - ahead; index < count; index++) {
        STATUS_TRY(planned_finish(solve, observer, index));
    }
    return STATUS_OK;
}
