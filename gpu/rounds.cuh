/* The rounds of a large solve on one device: blocked Floyd-Warshall (Katz and Kider 2008: diagonal,
 * panels, interior), by the dense plan with one round of look-ahead. Those of other plans are at
 * the end, for a group of devices too.
 *
 * A dense round has one or two pivot tiles. Its interior is two parts. NEXT, the rows and columns
 * of the next round's pivot tiles, is computed first; from then on the next round's diagonal and
 * panels are made in the stream that goes first, beside REST, everything else. REST is two halves
 * of the rows in a stream each: a half depends on its own half of the round before and on the
 * panels, so while the last blocks of one half end, those of the other fill the device.
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
#include "gpu/kernel_planned.cuh"
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
    struct diagonal_step diagonal = {};
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

/* ---- Plans that leave tiles out ---- */

/* On one stream of each device (proto/plan.h): a round is three launches, of all its diagonal
 * tiles, all its panels and all its targets. The host runs ahead and waits only to tell of progress
 * and to hear of a cancel. Tiles that no round reaches are never touched.
 *
 * The members of a group have a schedule each, of their own tile rows. They close their diagonal
 * tiles and send them to all others, then make the panels in their rows and send of these what
 * others read: the row tiles, and where half of the matrix is computed all. Two rounds' operands
 * are in memory: who sends waits until the others have left those of two rounds before. */

/* The schedule's lists on the device. */
struct planned_lists {
    const struct schedule_tile *fills;
    const struct schedule_pivot *pivots;
    const struct schedule_panel *panels;
    const struct schedule_target *targets;
    const struct schedule_product *products;
    struct tile_order order;
};

template <typename semiring> struct planned_member {
    struct gpu *gpu;
    const struct schedule *schedule;
    const struct planned_lists *lists;
    const struct workspace *workspace;
    struct tile_matrix<typename semiring::element> matrix;
};

template <typename semiring> struct planned_rounds {
    uint32_t count; /* 1: a device alone */
    struct planned_member<semiring> members[GPU_MEMBERS_MAX];
    const struct observer *observer;
    bool clamp_diagonal;
};

/* memory: schedule_bytes_most on the device. The arrays lie in pageable memory: they have been read
 * when the call returns. lists: have the device's rows. */
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

/* ---- Between members ---- */

/* Lets a member's stream wait for an event of each other one: event_of(gpu). */
template <typename semiring, typename event_of_member>
MUST_CHECK static enum status planned_await(const struct planned_rounds<semiring> *rounds,
                                            uint32_t member, event_of_member event_of)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        if (i != member) {
            GPU_TRY(cudaStreamWaitEvent(rounds->members[member].gpu->stream,
                                        event_of(rounds->members[i].gpu), 0));
        }
    }
    return STATUS_OK;
}

/* Slots [first, first + count) of an array of the workspace, from one member to all others. */
template <typename semiring>
MUST_CHECK static enum status
planned_send(const struct planned_rounds<semiring> *rounds, uint32_t sender,
             void *(workspace::*array)[WORKSPACE_PARITIES][OPERAND_PIVOTS], uint32_t parity,
             uint64_t slot_bytes, uint32_t first, uint32_t count)
{
    const struct planned_member<semiring> *own = &rounds->members[sender];
    const uint64_t bytes = count * slot_bytes;
    for (uint32_t i = 0; i < rounds->count && count > 0; i++) {
        const struct planned_member<semiring> *other = &rounds->members[i];
        char *const from = (char *)(own->workspace->*array)[parity][0] + first * slot_bytes;
        char *const to = (char *)(other->workspace->*array)[parity][0] + first * slot_bytes;
        if (i != sender) {
            STATUS_TRY(group_copy(group_place{other->gpu, to, bytes},
                                  group_place{own->gpu, from, bytes}, bytes, 1));
        }
    }
    return STATUS_OK;
}

/* ---- Rounds ---- */

/* The closed diagonal tiles of a round as a member has them; NULL on a device alone. */
template <typename semiring>
static typename semiring::element *planned_closed(const struct planned_rounds<semiring> *rounds,
                                                  uint32_t member, uint32_t index)
{
    const struct workspace *workspace = rounds->members[member].workspace;
    return rounds->count == 1
               ? NULL
               : (typename semiring::element *)workspace->closed[index % WORKSPACE_PARITIES][0];
}

/* On a device alone one set of operands is enough. */
template <typename semiring>
static struct operand<typename semiring::word>
planned_operand(const struct planned_rounds<semiring> *rounds, uint32_t member, uint32_t index) {
    const struct workspace *workspace = rounds->members[member].workspace;
    const uint32_t parity = rounds->count == 1 ? 0 : index % WORKSPACE_PARITIES;
    struct operand<typename semiring::word> operand;
    operand.left = (typename semiring::word *)workspace->left[parity][0];
    operand.right = (typename semiring::word *)workspace->right[parity][0];
    return operand;
}

/* Closes a member's diagonal tiles of a round and sends them. */
template <typename semiring>
MUST_CHECK static enum status planned_close(const struct planned_rounds<semiring> *rounds,
                                            uint32_t member, uint32_t index)
{
    const struct planned_member<semiring> *own = &rounds->members[member];
    const struct schedule_round *round = &own->schedule->rounds[index];
    const uint32_t tile_elements = GPU_TILE * GPU_TILE;
    typename semiring::element *const closed = planned_closed(rounds, member, index);
    struct diagonal_step step = {};
    STATUS_TRY(group_enter(own->gpu));
    if (index >= WORKSPACE_PARITIES) {
        const uint32_t before = (index - WORKSPACE_PARITIES) % DEVICE_PLANNED_AHEAD;
        STATUS_TRY(planned_await(
            rounds, member, [before](const struct gpu *gpu) { return gpu->planned_done[before]; }));
    }
    step.pivots = own->lists->pivots + round->pivots.begin;
    step.closed = closed != NULL ? closed + (uint64_t)round->first_pivot * tile_elements : NULL;
    step.count = round->pivots.count;
    step.clamp = rounds->clamp_diagonal;
    step.control = own->gpu->control;
    step.negative = &own->gpu->alarm_device->negative;
    STATUS_TRY(diagonal_launch<semiring>(own->matrix, step, own->gpu->stream));
    STATUS_TRY(planned_send(rounds, member, &workspace::closed, index % WORKSPACE_PARITIES,
                            tile_elements * sizeof(*closed), round->first_pivot,
                            round->pivots.count));
    GPU_TRY(
        cudaEventRecord(own->gpu->closed_sent[index % DEVICE_ROUND_EVENTS][0], own->gpu->stream));
    return STATUS_OK;
}

/* Makes a member's panels of a round, once all diagonal tiles are there, and sends them. A left one
 * is read by the targets of its own row alone, unless it serves as both operands. */
template <typename semiring>
MUST_CHECK static enum status planned_make_panels(const struct planned_rounds<semiring> *rounds,
                                                  uint32_t member, uint32_t index)
{
    typedef typename semiring::word word;
    const struct planned_member<semiring> *own = &rounds->members[member];
    const struct schedule_round *round = &own->schedule->rounds[index];
    const struct operand<word> operand = planned_operand(rounds, member, index);
    const uint64_t block_bytes = OPERAND_BLOCK_WORDS * sizeof(word);
    const uint32_t parity = index % WORKSPACE_PARITIES;
    const uint32_t slot = index % DEVICE_ROUND_EVENTS;
    const bool symmetric = own->schedule->symmetric;
    struct panel_step step = {};
    STATUS_TRY(group_enter(own->gpu));
    STATUS_TRY(planned_await(rounds, member,
                             [slot](const struct gpu *gpu) { return gpu->closed_sent[slot][0]; }));
    step.panels = own->lists->panels + round->rights.begin;
    step.row_count = symmetric ? round->lefts.count : round->rights.count;
    step.column_count = symmetric ? 0 : round->lefts.count;
    step.first_row = symmetric ? round->first_left : round->first_right;
    step.first_column = round->first_left;
    step.symmetric = symmetric;
    step.control = own->gpu->control;
    step.diagonal = planned_closed(rounds, member, index);
    step.diagonal_stride = GPU_TILE;
    STATUS_TRY(panel_launch<semiring>(own->matrix, operand, step, own->gpu->stream));
    if (symmetric) {
        STATUS_TRY(planned_send(rounds, member, &workspace::left, parity,
                                GPU_TILE / OPERAND_WORDS * block_bytes, step.first_row,
                                step.row_count));
    }
    if (!symmetric || operand.right != operand.left) {
        STATUS_TRY(planned_send(rounds, member, &workspace::right, parity,
                                operand_right_blocks<semiring>() * block_bytes, step.first_row,
                                step.row_count));
    }
    GPU_TRY(cudaEventRecord(own->gpu->sent[slot][0], own->gpu->stream));
    return STATUS_OK;
}

/* Computes a member's targets of a round, once all panels are there. */
template <typename semiring>
MUST_CHECK static enum status planned_compute(const struct planned_rounds<semiring> *rounds,
                                              uint32_t member, uint32_t index)
{
    const struct planned_member<semiring> *own = &rounds->members[member];
    const struct schedule_round *round = &own->schedule->rounds[index];
    const uint32_t slot = index % DEVICE_ROUND_EVENTS;
    struct planned_step<typename semiring::word> step;
    STATUS_TRY(group_enter(own->gpu));
    STATUS_TRY(planned_await(rounds, member,
                             [slot](const struct gpu *gpu) { return gpu->sent[slot][0]; }));
    step.targets = own->lists->targets + round->targets.begin;
    step.products = own->lists->products;
    step.operand = planned_operand(rounds, member, index);
    step.one = 1;
    step.control = own->gpu->control;
    STATUS_TRY(planned_launch<semiring>(own->matrix, step, round->targets.count, own->gpu->stream));
    GPU_TRY(
        cudaEventRecord(own->gpu->planned_done[index % DEVICE_PLANNED_AHEAD], own->gpu->stream));
    if (index + 1 == own->schedule->round_count) {
        GPU_TRY(cudaEventRecord(own->gpu->end, own->gpu->stream));
    }
    return STATUS_OK;
}

/* An event is recorded before others are told to wait for it. */
template <typename semiring>
MUST_CHECK static enum status planned_start(const struct planned_rounds<semiring> *rounds,
                                            uint32_t index)
{
    for (uint32_t member = 0; member < rounds->count; member++) {
        STATUS_TRY(planned_close(rounds, member, index));
    }
    for (uint32_t member = 0; member < rounds->count; member++) {
        STATUS_TRY(planned_make_panels(rounds, member, index));
    }
    for (uint32_t member = 0; member < rounds->count; member++) {
        STATUS_TRY(planned_compute(rounds, member, index));
    }
    return STATUS_OK;
}

/* Waits for a round, tells of it and hears of a cancel. */
template <typename semiring>
MUST_CHECK static enum status planned_finish(const struct planned_rounds<semiring> *rounds,
                                             uint32_t index)
{
    const struct observer *observer = rounds->observer;
    for (uint32_t member = 0; member < rounds->count; member++) {
        const struct gpu *gpu = rounds->members[member].gpu;
        GPU_TRY(cudaEventSynchronize(gpu->planned_done[index % DEVICE_PLANNED_AHEAD]));
        STATUS_TRY(device_alarm(gpu));
    }
    observer_tell_rounds(observer, index + 1, rounds->members[0].schedule->round_count);
    return device_cancelled(observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* All rounds. Ends when the last is done. */
template <typename semiring>
MUST_CHECK static enum status planned_run(const struct planned_rounds<semiring> *rounds)
{
    const uint32_t count = rounds->members[0].schedule->round_count;
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
