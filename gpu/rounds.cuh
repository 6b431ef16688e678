/* The rounds of a large dense solve: blocked Floyd-Warshall (Katz and Kider 2008: diagonal, panels,
 * interior) with one round of look-ahead.
 *
 * A round has one or two pivot tiles. Its interior is two parts. NEXT, the rows and columns of the
 * next round's pivot tiles, is computed first; from then on the next round's diagonal and panels
 * are made in the stream that goes first, beside REST, everything else. REST is two halves of the
 * rows in a stream each: a half depends on its own half of the round before and on the panels, so
 * while the last blocks of one half end, those of the other fill the device.
 *
 *   stream   ... NEXT(k-1) panels(k) | NEXT(k) panels(k+1) | ...
 *   half 0   ... REST0(k-1)  REST0(k)  REST0(k+1) ...
 *   half 1   ...    REST1(k-1)  REST1(k)  REST1(k+1) ...
 *
 * NEXT(k) waits for both halves of k-1; a half of k waits for panels(k). The operands of two rounds
 * are in memory at once. */
#pragma once

#include "gpu/kernel_diagonal.cuh"
#include "gpu/kernel_interior.cuh"
#include "gpu/kernel_panel.cuh"
#include "gpu/workspace.cuh"

template <typename semiring> struct rounds {
    struct gpu *gpu;
    const struct plan *plan;
    const struct observer *observer;
    const struct workspace *workspace;
    struct tile_matrix<typename semiring::element> matrix;
    uint32_t pivots; /* pivot tiles per round */
    bool symmetric;
    bool clamp_diagonal;
};

/* Pivot tiles per round. */
static inline uint32_t rounds_pivots(const struct gpu *gpu, const struct plan *plan)
{
    const bool pair = plan->vertex_count >= gpu->tuning.pair_vertices && plan->tile_count > 1;
    return pair ? OPERAND_PIVOTS : 1;
}

template <typename semiring> static uint32_t rounds_count(const struct rounds<semiring> *rounds)
{
    return (rounds->plan->tile_count + rounds->pivots - 1) / rounds->pivots;
}

/* Pivot tiles of a round: the last may have one less. */
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

/* Pivots of a tile that are vertices: the last may have fewer. */
template <typename semiring>
static uint32_t rounds_depth(const struct rounds<semiring> *rounds, uint32_t tile)
{
    const uint32_t left = rounds->plan->vertex_count - tile * GPU_TILE;
    return left < GPU_TILE ? left : GPU_TILE;
}

template <typename semiring>
static struct operand<typename semiring::word> rounds_operand(const struct rounds<semiring> *rounds,
                                                              uint32_t round, uint32_t pivot) {
    typedef typename semiring::word word;
    struct operand<word> operand;
    operand.left = (word *)rounds->workspace->left[round % WORKSPACE_PARITIES][pivot];
    operand.right = (word *)rounds->workspace->right[round % WORKSPACE_PARITIES][pivot];
    return operand;
}

/* The interior of a round over its pivot tiles [0, count). */
template <typename semiring>
static struct interior_step<typename semiring::word>
rounds_interior(const struct rounds<semiring> *rounds, uint32_t round, uint32_t count) {
    typedef typename semiring::word word;
    const uint32_t per_slab = ring_pivots<word>();
    struct interior_step<word> step;
    memset(&step, 0, sizeof(step));
    for (uint32_t pivot = 0; pivot < count; pivot++) {
        const uint32_t tile = rounds_tile(rounds, round, pivot);
        step.operands[pivot] = rounds_operand(rounds, round, pivot);
        step.pivots[pivot] = tile;
        step.slabs[pivot] = (rounds_depth(rounds, tile) + per_slab - 1) / per_slab;
    }
    step.pivot_count = count;
    step.tile_count = rounds->plan->tile_count;
    step.symmetric = rounds->symmetric;
    step.one = 1;
    step.control = rounds->gpu->control;
    return step;
}

/* Closes one pivot tile and makes its panels. */
template <typename semiring>
MUST_CHECK static enum status rounds_start_pivot(const struct rounds<semiring> *rounds,
                                                 uint32_t round, uint32_t pivot)
{
    struct gpu *gpu = rounds->gpu;
    const uint32_t tile = rounds_tile(rounds, round, pivot);
    struct diagonal_step diagonal;
    diagonal.pivots = NULL;
    diagonal.count = 1;
    diagonal.tile = tile;
    diagonal.depth = rounds_depth(rounds, tile);
    diagonal.clamp = rounds->clamp_diagonal;
    diagonal.control = gpu->control;
    diagonal.negative = &gpu->alarm_device->negative;
    STATUS_TRY(diagonal_launch<semiring>(rounds->matrix, diagonal, gpu->stream));
    struct panel_step panel = {};
    panel.panels = NULL;
    panel.row_count = rounds->plan->tile_count;
    panel.column_count = rounds->symmetric ? 0 : rounds->plan->tile_count;
    panel.pivot = tile;
    panel.depth = diagonal.depth;
    panel.symmetric = rounds->symmetric;
    panel.control = gpu->control;
    return panel_launch<semiring>(rounds->matrix, rounds_operand(rounds, round, pivot), panel,
                                  gpu->stream);
}

/* The panels of a round: pivot tile by pivot tile, the second after it has taken the first. */
template <typename semiring>
MUST_CHECK static enum status rounds_start_panels(const struct rounds<semiring> *rounds,
                                                  uint32_t round)
{
    struct gpu *gpu = rounds->gpu;
    STATUS_TRY(rounds_start_pivot(rounds, round, 0));
    if (rounds_width(rounds, round) > 1) {
        struct interior_step<typename semiring::word> step = rounds_interior(rounds, round, 1);
        step.next_count = 1;
        step.next[0] = rounds_tile(rounds, round, 1);
        STATUS_TRY(interior_launch_next<semiring>(rounds->matrix, step, gpu->stream));
        STATUS_TRY(rounds_start_pivot(rounds, round, 1));
    }
    GPU_TRY(cudaEventRecord(gpu->panels_done[round % DEVICE_ROUND_EVENTS], gpu->stream));
    return STATUS_OK;
}

template <typename semiring>
MUST_CHECK static enum status rounds_await_halves(const struct rounds<semiring> *rounds,
                                                  uint32_t round)
{
    struct gpu *gpu = rounds->gpu;
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        GPU_TRY(
            cudaStreamWaitEvent(gpu->stream, gpu->half_done[half][round % DEVICE_ROUND_EVENTS], 0));
    }
    return STATUS_OK;
}

/* The interior of a round whose panels are under way, and the panels of the next. */
template <typename semiring>
MUST_CHECK static enum status rounds_start(const struct rounds<semiring> *rounds, uint32_t round)
{
    struct gpu *gpu = rounds->gpu;
    const bool last = round + 1 == rounds_count(rounds);
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    struct interior_step<typename semiring::word> step =
        rounds_interior(rounds, round, rounds_width(rounds, round));
    step.next_count = last ? 0 : rounds_width(rounds, round + 1);
    for (uint32_t pivot = 0; pivot < step.next_count; pivot++) {
        step.next[pivot] = rounds_tile(rounds, round + 1, pivot);
    }
    const uint32_t rows = interior_rest_rows<semiring>(&step);
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        const uint32_t first = half * rows / DEVICE_HALVES;
        const uint32_t end = (half + 1) * rows / DEVICE_HALVES;
        GPU_TRY(cudaStreamWaitEvent(gpu->half[half], gpu->panels_done[slot], 0));
        STATUS_TRY(interior_launch_rest<semiring>(rounds->matrix, step, first, end - first,
                                                  gpu->half[half]));
        GPU_TRY(cudaEventRecord(gpu->half_done[half][slot], gpu->half[half]));
    }
    if (last) {
        return rounds_await_halves(rounds, round);
    }
    if (round > 0) {
        STATUS_TRY(rounds_await_halves(rounds, round - 1));
    }
    STATUS_TRY(interior_launch_next<semiring>(rounds->matrix, step, gpu->stream));
    return rounds_start_panels(rounds, round + 1);
}

/* Waits for a round, tells of it and hears of a cancel. */
template <typename semiring>
MUST_CHECK static enum status rounds_finish(const struct rounds<semiring> *rounds, uint32_t round)
{
    struct gpu *gpu = rounds->gpu;
    const struct observer *observer = rounds->observer;
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        GPU_TRY(cudaEventSynchronize(gpu->half_done[half][round % DEVICE_ROUND_EVENTS]));
    }
    STATUS_TRY(device_alarm(gpu));
    observer_tell_rounds(observer, round * rounds->pivots + rounds_width(rounds, round),
                         rounds->plan->tile_count);
    return device_cancelled(observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* From this padded size on a round takes about a millisecond. Two are then under way, as look-ahead
 * needs, and a cancel ends both where they are. Below it the host runs further ahead to keep the
 * device busy. */
#define ROUNDS_LONG_STRIDE 8192

/* All rounds. Ends when the last is done, its kernels' work visible to what follows in the stream.
 */
template <typename semiring>
MUST_CHECK static enum status rounds_run(const struct rounds<semiring> *rounds)
{
    const uint32_t count = rounds_count(rounds);
    const uint32_t most = rounds->matrix.stride >= ROUNDS_LONG_STRIDE ? 2 : DEVICE_ROUNDS_AHEAD;
    const uint32_t ahead = count < most ? count : most;
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
    return STATUS_OK;
}
