/* The rounds of a solve by a plan that leaves tiles out (proto/plan.h), on one stream of each
 * device. A round is three launches: all its diagonal tiles, all its panels, all its targets. The
 * host runs ahead and waits only to report progress and to check for a cancel. Tiles that hold no
 * edge and that no round reaches are never touched.
 *
 * Each member of a group has a schedule for its own tile rows. It closes its diagonal tiles and
 * sends them to all others, then makes the panels in its rows and sends those that others read: the
 * row tiles, or in a symmetric solve all of them. The operands of two rounds are in memory: before
 * a member sends, it waits until the others no longer read those of two rounds before. */
#pragma once

#include "gpu/exchange.cuh"
#include "gpu/kernel_planned.cuh"
#include "gpu/schedule.h"

/* The lists of a schedule in device memory. */
struct planned_lists {
    const struct schedule_tile *fills;
    const struct schedule_pivot *pivots;
    const struct schedule_panel *panels;
    const struct schedule_target *targets;
    const struct schedule_product *products;
    struct tile_order order;
};

template <typename semiring> struct planned_rounds {
    struct exchange exchange;
    const struct schedule *schedules[GPU_MEMBERS_MAX];
    const struct planned_lists *lists[GPU_MEMBERS_MAX];
    struct tile_matrix<typename semiring::element> matrices[GPU_MEMBERS_MAX];
    const struct observer *observer;
};

/* Uploads the lists. memory: schedule_bytes_most of device memory. The arrays on the host are
 * pageable and are no longer read once the call returns. lists->order.rows must be set. */
MUST_CHECK static inline enum status planned_upload(const struct schedule *schedule,
                                                    const struct plan *plan, void *memory,
                                                    cudaStream_t stream,
                                                    struct planned_lists *lists)
{
    const uint64_t bits = (uint64_t)schedule->tile_count * schedule->tile_count;
    const struct {
        const void *from;
        uint64_t bytes;
        const void **to;
    } arrays[] = {
        {schedule->fills, schedule->fill_count * sizeof(*lists->fills),
         (const void **)&lists->fills},
        {schedule->pivots, schedule->pivot_count * sizeof(*lists->pivots),
         (const void **)&lists->pivots},
        {schedule->panels, schedule->panel_count * sizeof(*lists->panels),
         (const void **)&lists->panels},
        {schedule->targets, schedule->target_count * sizeof(*lists->targets),
         (const void **)&lists->targets},
        {schedule->products, schedule->product_count * sizeof(*lists->products),
         (const void **)&lists->products},
        {schedule->position, plan->vertex_count * sizeof(*schedule->position),
         (const void **)&lists->order.position},
        {schedule->vertices, schedule->vertex_count * sizeof(*schedule->vertices),
         (const void **)&lists->order.vertices},
        {plan->reached_tiles, (bits + 63) / 64 * sizeof(*plan->reached_tiles),
         (const void **)&lists->order.held},
    };
    char *rest = (char *)memory;
    for (const auto &array : arrays) {
        *array.to = workspace_cut(&rest, workspace_align(array.bytes));
        GPU_TRY(cudaMemcpyAsync((void *)*array.to, array.from, array.bytes, cudaMemcpyHostToDevice,
                                stream));
    }
    lists->order.tile_count = schedule->tile_count;
    return STATUS_OK;
}

/* Index of a round's operands and closed tiles: two sets alternate; a single device has one. */
template <typename semiring>
static uint32_t planned_parity(const struct planned_rounds<semiring> *rounds, uint32_t index)
{
    return exchange_is_alone(&rounds->exchange) ? 0 : index % WORKSPACE_PARITIES;
}

/* A member's copy of the closed diagonal tiles of a round; NULL on a single device. */
template <typename semiring>
static typename semiring::element *planned_closed(const struct planned_rounds<semiring> *rounds,
                                                  uint32_t member, uint32_t index)
{
    const struct workspace *workspace = rounds->exchange.members[member].workspace;
    return exchange_is_alone(&rounds->exchange)
               ? NULL
               : (typename semiring::element *)workspace->closed[index % WORKSPACE_PARITIES][0];
}

template <typename semiring>
static struct operand<typename semiring::word>
planned_operand(const struct planned_rounds<semiring> *rounds, uint32_t member, uint32_t index) {
    const struct workspace *workspace = rounds->exchange.members[member].workspace;
    const uint32_t parity = planned_parity(rounds, index);
    struct operand<typename semiring::word> operand;
    operand.left = (typename semiring::word *)workspace->left[parity][0];
    operand.right = (typename semiring::word *)workspace->right[parity][0];
    return operand;
}

/* Closes a member's diagonal tiles of a round, and sends them. */
template <typename semiring>
MUST_CHECK static enum status planned_close(const struct planned_rounds<semiring> *rounds,
                                            uint32_t member, uint32_t index)
{
    const struct gpu *gpu = rounds->exchange.members[member].gpu;
    const struct schedule_round *round = &rounds->schedules[member]->rounds[index];
    const uint32_t tile_elements = GPU_TILE * GPU_TILE;
    typename semiring::element *const closed = planned_closed(rounds, member, index);
    struct diagonal_step step = {};
    STATUS_TRY(exchange_enter(gpu));
    if (index >= WORKSPACE_PARITIES) {
        const uint32_t before = (index - WORKSPACE_PARITIES) % DEVICE_PLANNED_AHEAD;
        STATUS_TRY(
            exchange_await(&rounds->exchange, member, EXCHANGE_ALL,
                           [=](const struct gpu *other) { return other->planned_done[before]; }));
    }
    step.pivots = rounds->lists[member]->pivots + round->pivots.begin;
    step.closed = closed != NULL ? closed + (uint64_t)round->first_pivot * tile_elements : NULL;
    step.count = round->pivots.count;
    step.control = gpu->control;
    step.negative = &gpu->alarm_device->negative;
    STATUS_TRY(diagonal_launch<semiring>(rounds->matrices[member], step, gpu->stream));
    STATUS_TRY(
        exchange_send(&rounds->exchange, member, EXCHANGE_ALL,
                      {EXCHANGE_CLOSED, planned_parity(rounds, index), 0,
                       tile_elements * sizeof(*closed), round->first_pivot, round->pivots.count}));
    return try_translate(
        cudaEventRecord(gpu->closed_sent[index % DEVICE_ROUND_EVENTS][0], gpu->stream));
}

/* Makes a member's panels of a round, once all diagonal tiles have arrived, and sends them. Left
 * panels are read only by targets in their own row and are not sent, unless they serve as both
 * operands. */
template <typename semiring>
MUST_CHECK static enum status planned_make_panels(const struct planned_rounds<semiring> *rounds,
                                                  uint32_t member, uint32_t index)
{
    typedef typename semiring::word word;
    const struct gpu *gpu = rounds->exchange.members[member].gpu;
    const struct schedule_round *round = &rounds->schedules[member]->rounds[index];
    const struct operand<word> operand = planned_operand(rounds, member, index);
    const uint64_t block_bytes = OPERAND_BLOCK_WORDS * sizeof(word);
    const uint32_t parity = planned_parity(rounds, index);
    const uint32_t slot = index % DEVICE_ROUND_EVENTS;
    const bool symmetric = rounds->schedules[member]->symmetric;
    struct panel_step step = {};
    STATUS_TRY(exchange_enter(gpu));
    STATUS_TRY(
        exchange_await(&rounds->exchange, member, EXCHANGE_ALL,
                       [=](const struct gpu *other) { return other->closed_sent[slot][0]; }));
    step.panels = rounds->lists[member]->panels + round->rights.begin;
    step.row_count = symmetric ? round->lefts.count : round->rights.count;
    step.column_count = symmetric ? 0 : round->lefts.count;
    step.first_row = symmetric ? round->first_left : round->first_right;
    step.first_column = round->first_left;
    step.symmetric = symmetric;
    step.control = gpu->control;
    step.diagonal = planned_closed(rounds, member, index);
    STATUS_TRY(panel_launch<semiring>(rounds->matrices[member], operand, step, gpu->stream));
    if (symmetric) {
        STATUS_TRY(exchange_send(&rounds->exchange, member, EXCHANGE_ALL,
                                 {EXCHANGE_LEFT, parity, 0, GPU_TILE / OPERAND_WORDS * block_bytes,
                                  step.first_row, step.row_count}));
    }
    if (!symmetric || operand.right != operand.left) {
        STATUS_TRY(exchange_send(&rounds->exchange, member, EXCHANGE_ALL,
                                 {EXCHANGE_RIGHT, parity, 0,
                                  operand_right_blocks<semiring>() * block_bytes, step.first_row,
                                  step.row_count}));
    }
    return try_translate(cudaEventRecord(gpu->sent[slot][0], gpu->stream));
}

/* Computes a member's targets of a round, once all panels have arrived. */
template <typename semiring>
MUST_CHECK static enum status planned_compute(const struct planned_rounds<semiring> *rounds,
                                              uint32_t member, uint32_t index)
{
    const struct gpu *gpu = rounds->exchange.members[member].gpu;
    const struct schedule_round *round = &rounds->schedules[member]->rounds[index];
    const uint32_t slot = index % DEVICE_ROUND_EVENTS;
    struct planned_step<typename semiring::word> step;
    STATUS_TRY(exchange_enter(gpu));
    STATUS_TRY(exchange_await(&rounds->exchange, member, EXCHANGE_ALL,
                              [=](const struct gpu *other) { return other->sent[slot][0]; }));
    step.targets = rounds->lists[member]->targets + round->targets.begin;
    step.products = rounds->lists[member]->products;
    step.operand = planned_operand(rounds, member, index);
    step.one = 1;
    step.control = gpu->control;
    STATUS_TRY(planned_launch<semiring>(rounds->matrices[member], step, round->targets.count,
                                        gpu->stream));
    return try_translate(
        cudaEventRecord(gpu->planned_done[index % DEVICE_PLANNED_AHEAD], gpu->stream));
}

/* Launches one round on all members. The loops are separate because an event must be recorded
 * before another stream is told to wait for it. */
template <typename semiring>
MUST_CHECK static enum status planned_start(const struct planned_rounds<semiring> *rounds,
                                            uint32_t index)
{
    for (uint32_t member = 0; member < rounds->exchange.count; member++) {
        STATUS_TRY(planned_close(rounds, member, index));
    }
    for (uint32_t member = 0; member < rounds->exchange.count; member++) {
        STATUS_TRY(planned_make_panels(rounds, member, index));
    }
    for (uint32_t member = 0; member < rounds->exchange.count; member++) {
        STATUS_TRY(planned_compute(rounds, member, index));
    }
    return STATUS_OK;
}

/* Waits for a round, reports progress, and checks for a cancel. */
template <typename semiring>
MUST_CHECK static enum status planned_finish(const struct planned_rounds<semiring> *rounds,
                                             uint32_t index)
{
    const struct observer *observer = rounds->observer;
    for (uint32_t member = 0; member < rounds->exchange.count; member++) {
        const struct gpu *gpu = rounds->exchange.members[member].gpu;
        GPU_TRY(cudaEventSynchronize(gpu->planned_done[index % DEVICE_PLANNED_AHEAD]));
        STATUS_TRY(device_alarm(gpu));
    }
    observer_tell_rounds(observer, index + 1, rounds->schedules[0]->round_count);
    return device_cancelled(observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* Runs all rounds; returns when the last one is finished. */
template <typename semiring>
MUST_CHECK static enum status planned_run(const struct planned_rounds<semiring> *rounds)
{
    const uint32_t count = rounds->schedules[0]->round_count;
    const uint32_t ahead = count < DEVICE_PLANNED_AHEAD ? count : DEVICE_PLANNED_AHEAD;
    for (uint32_t round = 0; round < count; round++) {
        if (round >= ahead) {
            STATUS_TRY(planned_finish(rounds, round - ahead));
        }
        STATUS_TRY(planned_start(rounds, round));
    }
    for (uint32_t round = count - ahead; round < count; round++) {
        STATUS_TRY(planned_finish(rounds, round));
    }
    return STATUS_OK;
}
