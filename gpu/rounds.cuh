/* The rounds of a large solve by the dense plan: blocked Floyd-Warshall (Katz and Kider 2008:
 * diagonal, panels, interior) with one round of look-ahead, on a group of devices that share the
 * tile rows (tile_rows.h). A single device is a group of one.
 *
 * A round has one or two pivot tiles. Its interior has two parts. NEXT, the rows and columns of the
 * next round's pivot tiles, is computed first. Then the diagonal and the panels of the next round
 * are computed in the stream of higher priority, at the same time as REST, which is all other
 * tiles. REST is split into two halves of the rows, each in its own stream. A half depends only on
 * the same half of the previous round and on the panels, so blocks of one half fill the device
 * while the last blocks of the other finish.
 *
 *   stream   ... NEXT(k-1) panels(k) | NEXT(k) panels(k+1) | ...
 *   half 0   ... REST0(k-1)  REST0(k)  REST0(k+1) ...
 *   half 1   ...    REST1(k-1)  REST1(k)  REST1(k+1) ...
 *
 * NEXT(k) waits for both halves of REST(k-1); each half of REST(k) waits for panels(k). The
 * operands of two rounds are in memory at the same time.
 *
 * The owner of the pivot rows closes the diagonal tile, makes the row panel, and sends both to the
 * other members. Each member makes the column panel of its own rows from the closed tile. In a
 * symmetric solve the panels have a column tile for each index below the pivot, which its owner
 * sends to all other members, and a row tile for each index above the pivot. Each of these tiles
 * serves as both operands. */
#pragma once

#include "gpu/exchange.cuh"
#include "gpu/kernel_diagonal.cuh"
#include "gpu/kernel_interior.cuh"
#include "gpu/kernel_panel.cuh"
#include "gpu/workspace.cuh"

template <typename semiring> struct rounds {
    const struct exchange *exchange;
    const struct plan *plan;
    const struct observer *observer;
    uint32_t pivots; /* number of pivot tiles per round */
    bool symmetric;
    enum status found; /* with ranks: this rank's alarm or cancellation since the last agreement */
};

/* Returns the number of pivot tiles per round. */
static inline uint32_t rounds_pivots(const struct gpu *gpu, const struct plan *plan)
{
    const bool pair = plan->vertex_count >= gpu->tuning.pair_vertices && plan->tile_count > 1;
    return pair ? OPERAND_PIVOTS : 1;
}

template <typename semiring> static uint32_t rounds_count(const struct rounds<semiring> *rounds)
{
    return (rounds->plan->tile_count + rounds->pivots - 1) / rounds->pivots;
}

/* Returns the number of pivot tiles in one round; the last round may have one fewer. */
template <typename semiring>
static uint32_t rounds_width(const struct rounds<semiring> *rounds, uint32_t round)
{
    const uint32_t left = rounds->plan->tile_count - round * rounds->pivots;
    return left < rounds->pivots ? left : rounds->pivots;
}

template <typename semiring>
static uint32_t rounds_tile(const struct rounds<semiring> *rounds, uint32_t round, uint32_t pivot)
{
    return round * rounds->pivots + pivot;
}

/* Returns the member that owns the pivot rows of a round. */
template <typename semiring>
static uint32_t rounds_owner(const struct rounds<semiring> *rounds, uint32_t round)
{
    return tile_rows_owner(rounds->exchange->members[0].order->rows, rounds_tile(rounds, round, 0));
}

/* Returns the number of vertices in a tile; the last tile may have fewer than GPU_TILE. */
template <typename semiring>
static uint32_t rounds_depth(const struct rounds<semiring> *rounds, uint32_t tile)
{
    const uint32_t left = rounds->plan->vertex_count - tile * GPU_TILE;
    return left < GPU_TILE ? left : GPU_TILE;
}

/* Returns a member's copy of the closed pivot tile, or NULL on a single device. */
static inline void *rounds_closed(const struct exchange *exchange,
                                  const struct exchange_member *member, uint32_t round,
                                  uint32_t pivot)
{
    return exchange_is_alone(exchange)
               ? NULL
               : member->workspace->closed[round % WORKSPACE_PARITIES][pivot];
}

/* Makes each member's stream wait until no other member reads operands that this round
 * overwrites. */
template <typename semiring>
MUST_CHECK static enum status rounds_await_room(const struct rounds<semiring> *rounds,
                                                uint32_t round)
{
    for (uint32_t i = 0; i < rounds->exchange->count; i++) {
        for (uint32_t half = 0; half < DEVICE_HALVES && round > 1; half++) {
            STATUS_TRY(
                exchange_await(rounds->exchange, i, EXCHANGE_ALL, [=](const struct gpu *gpu) {
                    return gpu->half_done[half][(round - 2) % DEVICE_ROUND_EVENTS];
                }));
        }
        if (round > 0) {
            STATUS_TRY(
                exchange_await(rounds->exchange, i, EXCHANGE_ALL, [=](const struct gpu *gpu) {
                    return gpu->panels_done[(round - 1) % DEVICE_ROUND_EVENTS];
                }));
        }
    }
    return STATUS_OK;
}

/* Makes the owner close the pivot tile and send it to all members. */
template <typename semiring>
MUST_CHECK static enum status rounds_close(const struct rounds<semiring> *rounds, uint32_t round,
                                           uint32_t pivot)
{
    const struct exchange *exchange = rounds->exchange;
    const uint32_t tile = rounds_tile(rounds, round, pivot);
    const uint32_t owner = rounds_owner(rounds, round);
    const uint32_t index = exchange_index(exchange, owner);
    const uint64_t bytes = GPU_TILE * GPU_TILE * sizeof(typename semiring::element);
    const struct exchange_piece piece = {
        EXCHANGE_CLOSED, round % WORKSPACE_PARITIES, pivot, bytes, 0, 1};
    if (exchange_has(exchange, owner)) {
        const struct exchange_member *own = &exchange->members[index];
        struct diagonal_step step = {};
        step.count = 1;
        step.row = tile_rows_local(own->order->rows, tile);
        step.tile = tile;
        step.depth = rounds_depth(rounds, tile);
        step.control = own->gpu->control;
        step.negative = &own->gpu->alarm_device->negative;
        step.closed = rounds_closed(exchange, own, round, pivot);
        STATUS_TRY(exchange_enter(own->gpu));
        STATUS_TRY(diagonal_launch<semiring>(workspace_matrix<semiring>(own->workspace), step,
                                             own->gpu->stream));
    }
    STATUS_TRY(exchange_send(exchange, owner, EXCHANGE_ALL, piece));
    if (exchange->count > 1) {
        const struct gpu *gpu = exchange->members[index].gpu;
        const cudaEvent_t sent = gpu->closed_sent[round % DEVICE_ROUND_EVENTS][pivot];
        GPU_TRY(cudaEventRecord(sent, gpu->stream));
    }
    return STATUS_OK;
}

/* Makes a member compute its panels of one pivot after the closed tile has arrived. */
template <typename semiring>
MUST_CHECK static enum status rounds_make_panels(const struct rounds<semiring> *rounds,
                                                 uint32_t index, uint32_t round, uint32_t pivot)
{
    const struct exchange_member *own = &rounds->exchange->members[index];
    const uint32_t tile = rounds_tile(rounds, round, pivot);
    const uint32_t tiles = rounds->plan->tile_count;
    struct panel_step step = {};
    step.rows = own->order->rows;
    step.pivot = tile;
    step.depth = rounds_depth(rounds, tile);
    step.symmetric = rounds->symmetric;
    step.first_column = rounds->symmetric ? tile_rows_count(own->order->rows, tile + 1) : 0;
    step.column_count = tile_rows_count(own->order->rows, tiles) - step.first_column;
    if (tile_rows_owns(own->order->rows, tile)) {
        step.row_count = rounds->symmetric ? tile + 1 : tiles;
    }
    step.diagonal = rounds_closed(rounds->exchange, own, round, pivot);
    step.control = own->gpu->control;
    STATUS_TRY(exchange_enter(own->gpu));
    return panel_launch<semiring>(workspace_matrix<semiring>(own->workspace),
                                  workspace_operand<semiring>(own->workspace, round, pivot), step,
                                  own->gpu->stream);
}

/* Sends the left or the right panels of one pivot from their owners to the other members. */
template <typename semiring>
MUST_CHECK static enum status rounds_send_operand(const struct rounds<semiring> *rounds,
                                                  uint32_t round, uint32_t pivot, bool left)
{
    const struct exchange *exchange = rounds->exchange;
    const struct tile_rows dealt = exchange->members[0].order->rows;
    const uint32_t tiles = rounds->plan->tile_count;
    const uint32_t tile = rounds_tile(rounds, round, pivot);
    const uint32_t owner = rounds_owner(rounds, round);
    const uint64_t blocks = left ? GPU_TILE / OPERAND_WORDS : operand_right_blocks<semiring>();
    const uint64_t bytes = blocks * OPERAND_BLOCK_WORDS * sizeof(typename semiring::word);
    struct exchange_piece piece = {left ? EXCHANGE_LEFT : EXCHANGE_RIGHT,
                                   round % WORKSPACE_PARITIES,
                                   pivot,
                                   bytes,
                                   0,
                                   dealt.members * dealt.most};
    if (!rounds->symmetric) {
        return exchange_send(exchange, owner, EXCHANGE_ALL, piece);
    }
    for (uint32_t member = 0; member < dealt.members; member++) {
        const struct tile_rows rows = tile_rows_of(dealt, member);
        const uint32_t above = tile_rows_count(rows, tile + 1);
        piece.first = member * dealt.most;
        piece.count = member == owner ? tile_rows_count(rows, tiles) : above;
        STATUS_TRY(exchange_send(exchange, owner, EXCHANGE_ALL, piece));
        piece.first += above;
        piece.count = member == owner ? 0 : tile_rows_count(rows, tiles) - above;
        STATUS_TRY(exchange_send(exchange, member, EXCHANGE_ALL, piece));
    }
    return STATUS_OK;
}

template <typename semiring>
MUST_CHECK static enum status rounds_send_panels(const struct rounds<semiring> *rounds,
                                                 uint32_t round, uint32_t pivot)
{
    const struct exchange *exchange = rounds->exchange;
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    const uint32_t owner = exchange_index(exchange, rounds_owner(rounds, round));
    if (exchange_is_alone(exchange)) {
        return STATUS_OK;
    }
    STATUS_TRY(rounds_send_operand(rounds, round, pivot, rounds->symmetric));
    if (rounds->symmetric && semiring_packing<semiring>() > 1) {
        STATUS_TRY(rounds_send_operand(rounds, round, pivot, false));
    }
    for (uint32_t i = 0; i < exchange->count; i++) {
        const struct gpu *gpu = exchange->members[i].gpu;
        STATUS_TRY(exchange_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->sent[slot][pivot], gpu->stream));
    }
    for (uint32_t i = 0; i < exchange->count; i++) {
        STATUS_TRY(exchange_await(exchange, i, rounds->symmetric ? EXCHANGE_ALL : owner,
                                  [=](const struct gpu *gpu) { return gpu->sent[slot][pivot]; }));
    }
    return STATUS_OK;
}

/* Closes one pivot tile, makes its panels, and sends them to all members. */
template <typename semiring>
MUST_CHECK static enum status rounds_start_pivot(const struct rounds<semiring> *rounds,
                                                 uint32_t round, uint32_t pivot)
{
    const struct exchange *exchange = rounds->exchange;
    const uint32_t owner = exchange_index(exchange, rounds_owner(rounds, round));
    STATUS_TRY(rounds_close(rounds, round, pivot));
    for (uint32_t i = 0; i < exchange->count; i++) {
        STATUS_TRY(exchange_await(exchange, i, owner, [=](const struct gpu *gpu) {
            return gpu->closed_sent[round % DEVICE_ROUND_EVENTS][pivot];
        }));
        STATUS_TRY(rounds_make_panels(rounds, i, round, pivot));
    }
    return rounds_send_panels(rounds, round, pivot);
}

/* The pivot tiles whose rows and columns are NEXT, the part of the interior that is computed first:
 * `count` tiles of a round, from `pivot` on. */
struct rounds_next {
    uint32_t round;
    uint32_t pivot;
    uint32_t count;
};

/* Returns the parameters of a member's interior phase over pivot tiles [0, pivots) of a round. */
template <typename semiring>
static struct interior_step<typename semiring::word>
rounds_interior(const struct rounds<semiring> *rounds, uint32_t index, uint32_t round,
                uint32_t pivots, struct rounds_next next) {
    typedef typename semiring::word word;
    const struct exchange_member *own = &rounds->exchange->members[index];
    const uint32_t per_slab = ring_pivots<word>();
    struct interior_step<word> step = {
    };
    for (uint32_t pivot = 0; pivot < pivots; pivot++) {
        const uint32_t tile = rounds_tile(rounds, round, pivot);
        step.operands[pivot] = workspace_operand<semiring>(own->workspace, round, pivot);
        step.pivots[pivot] = tile;
        step.slabs[pivot] = (rounds_depth(rounds, tile) + per_slab - 1) / per_slab;
    }
    step.pivot_count = pivots;
    step.tile_count = rounds->plan->tile_count;
    step.rows = own->order->rows;
    step.row_count = tile_rows_count(own->order->rows, step.tile_count);
    step.symmetric = rounds->symmetric;
    step.one = 1;
    step.control = own->gpu->control;
    step.next_count = next.count;
    for (uint32_t pivot = 0; pivot < next.count; pivot++) {
        step.next[pivot] = rounds_tile(rounds, next.round, next.pivot + pivot);
    }
    step.owns_next = next.count > 0 && tile_rows_owns(own->order->rows, step.next[0]);
    return step;
}

template <typename semiring>
MUST_CHECK static enum status rounds_launch_next(const struct rounds<semiring> *rounds,
                                                 uint32_t index, uint32_t round, uint32_t pivots,
                                                 struct rounds_next next)
{
    const struct exchange_member *own = &rounds->exchange->members[index];
    STATUS_TRY(exchange_enter(own->gpu));
    return interior_launch_next<semiring>(workspace_matrix<semiring>(own->workspace),
                                          rounds_interior(rounds, index, round, pivots, next),
                                          own->gpu->stream);
}

/* Computes the panels of a round, one pivot tile after another. The rows and columns of the second
 * pivot tile are relaxed over the first pivot tile before the second is closed. */
template <typename semiring>
MUST_CHECK static enum status rounds_start_panels(struct rounds<semiring> *rounds, uint32_t round)
{
    const struct exchange *exchange = rounds->exchange;
    STATUS_TRY(ranks_agree(exchange->ranks, rounds->found));
    STATUS_TRY(rounds_await_room(rounds, round));
    STATUS_TRY(rounds_start_pivot(rounds, round, 0));
    if (rounds_width(rounds, round) > 1) {
        for (uint32_t i = 0; i < exchange->count; i++) {
            STATUS_TRY(rounds_launch_next(rounds, i, round, 1, {round, 1, 1}));
        }
        STATUS_TRY(rounds_start_pivot(rounds, round, 1));
    }
    for (uint32_t i = 0; i < exchange->count; i++) {
        const struct gpu *gpu = exchange->members[i].gpu;
        STATUS_TRY(exchange_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->panels_done[round % DEVICE_ROUND_EVENTS], gpu->stream));
    }
    return STATUS_OK;
}

MUST_CHECK static inline enum status rounds_await_halves(const struct gpu *gpu, uint32_t round)
{
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        GPU_TRY(
            cudaStreamWaitEvent(gpu->stream, gpu->half_done[half][round % DEVICE_ROUND_EVENTS], 0));
    }
    return STATUS_OK;
}

/* Launches a member's REST of a round. The panels of this round have been launched before. */
template <typename semiring>
MUST_CHECK static enum status rounds_start_rest(const struct rounds<semiring> *rounds,
                                                uint32_t index, uint32_t round,
                                                struct rounds_next next)
{
    const struct exchange_member *own = &rounds->exchange->members[index];
    const struct gpu *gpu = own->gpu;
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    const struct interior_step<typename semiring::word> step =
        rounds_interior(rounds, index, round, rounds_width(rounds, round), next);
    const uint32_t rows = interior_rest_rows<semiring>(&step);
    STATUS_TRY(exchange_enter(gpu));
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        const uint32_t first = half * rows / DEVICE_HALVES;
        const uint32_t end = (half + 1) * rows / DEVICE_HALVES;
        GPU_TRY(cudaStreamWaitEvent(gpu->half[half], gpu->panels_done[slot], 0));
        STATUS_TRY(interior_launch_rest<semiring>(workspace_matrix<semiring>(own->workspace), step,
                                                  first, end - first, gpu->half[half]));
        GPU_TRY(cudaEventRecord(gpu->half_done[half][slot], gpu->half[half]));
    }
    return STATUS_OK;
}

/* Launches the interior of a round, after its panels, and the panels of the next round. */
template <typename semiring>
MUST_CHECK static enum status rounds_start(struct rounds<semiring> *rounds, uint32_t round)
{
    const struct exchange *exchange = rounds->exchange;
    const bool last = round + 1 == rounds_count(rounds);
    const struct rounds_next next = {round + 1, 0, last ? 0 : rounds_width(rounds, round + 1)};
    for (uint32_t i = 0; i < exchange->count; i++) {
        STATUS_TRY(rounds_start_rest(rounds, i, round, next));
    }
    for (uint32_t i = 0; i < exchange->count; i++) {
        const struct gpu *gpu = exchange->members[i].gpu;
        if (last) {
            STATUS_TRY(rounds_await_halves(gpu, round));
            continue;
        }
        if (round > 0) {
            STATUS_TRY(rounds_await_halves(gpu, round - 1));
        }
        STATUS_TRY(rounds_launch_next(rounds, i, round, rounds_width(rounds, round), next));
    }
    return last ? STATUS_OK : rounds_start_panels(rounds, round + 1);
}

/* Waits for a round on all members, reports progress, and checks for cancellation. */
template <typename semiring>
MUST_CHECK static enum status rounds_finish(struct rounds<semiring> *rounds, uint32_t round)
{
    enum status found = STATUS_OK;
    for (uint32_t i = 0; i < rounds->exchange->count; i++) {
        const struct gpu *gpu = rounds->exchange->members[i].gpu;
        for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
            GPU_TRY(cudaEventSynchronize(gpu->half_done[half][round % DEVICE_ROUND_EVENTS]));
        }
        found = found == STATUS_OK ? device_alarm(gpu) : found;
    }
    if (found == STATUS_OK) {
        observer_tell_rounds(rounds->observer, round * rounds->pivots + rounds_width(rounds, round),
                             rounds->plan->tile_count);
        found = observer_is_cancelled(rounds->observer) ? STATUS_CANCELLED : STATUS_OK;
    }
    if (rounds->exchange->ranks == NULL) {
        return found;
    }
    rounds->found = rounds->found == STATUS_OK ? found : rounds->found;
    return STATUS_OK;
}

/* Runs all rounds. Returns when the last round is complete on all members. Later work in each
 * member's stream sees the results. */
template <typename semiring>
MUST_CHECK static enum status rounds_run(struct rounds<semiring> *rounds)
{
    const uint32_t count = rounds_count(rounds);
    const uint32_t ahead = count < DEVICE_ROUNDS_AHEAD ? count : DEVICE_ROUNDS_AHEAD;
    rounds->found = STATUS_OK;
    STATUS_TRY(rounds_start_panels(rounds, 0));
    for (uint32_t round = 0; round < count; round++) {
        if (round >= ahead) {
            STATUS_TRY(rounds_finish(rounds, round - ahead));
        }
        STATUS_TRY(rounds_start(rounds, round));
    }
    for (uint32_t round = count - ahead; round < count; round++) {
        STATUS_TRY(rounds_finish(rounds, round));
    }
    return ranks_agree(rounds->exchange->ranks, rounds->found);
}
