/* The rounds of a dense solve by a group of devices: those of rounds.cuh, each member having the
 * tile rows that are dealt to it (struct tile_rows).
 *
 * The owner of the next round's pivot rows computes these first (NEXT), closes the diagonal tile,
 * makes the row panel and sends both to the others, one round ahead of their use, while all finish
 * REST. Each member makes the column panel of its own rows itself, with the closed tile. In a
 * symmetric solve the panel of a tile below the pivot is a column tile, which its member sends to
 * all others, and one above it is a row tile, which serves as both operands. A round's operands lie
 * in each member's memory where those of a device alone would, by tiles of the whole matrix.
 *
 * Events order it all, and one thread launches for all members: a member's stream waits for what
 * is sent to it; who sends waits until the receiver has left the operands of two rounds before. */
#pragma once

#include "gpu/rounds.cuh"

/* Kinds of time on a member's stream, and all else there is. */
enum lap { LAP_OTHER, LAP_PANELS, LAP_COPIES, LAP_WAITING, LAP_COUNT };

/* For each pivot of a round: the owner's begin, wait, diagonal, copies, panels, copies, wait. */
#define LAPS_MOST (7 * DEVICE_PIVOTS)
#define LAP_EVENTS (DEVICE_ROUND_EVENTS * LAPS_MOST)

/* The time of one member: events with timing in its stream, each the end of a lap. */
struct lap_timer {
    cudaEvent_t events[LAP_EVENTS];
    enum lap laps[LAP_EVENTS];
    uint32_t counts[DEVICE_ROUND_EVENTS];
    double seconds[LAP_COUNT];
};

template <typename semiring> struct group_rounds {
    uint32_t count; /* members */
    struct rounds<semiring> members[GPU_MEMBERS_MAX];
    struct tile_rows rows[GPU_MEMBERS_MAX];
    const struct observer *observer;
    struct lap_timer *timers; /* of each member; NULL: nobody asks */
};

/* The member that has the pivot rows of a round. */
template <typename semiring>
static uint32_t group_owner(const struct group_rounds<semiring> *group, uint32_t round)
{
    const uint32_t tile = rounds_tile(&group->members[0], round, 0);
    uint32_t owner = 0;
    while (!tile_rows_owns(group->rows[owner], tile)) {
        owner++;
    }
    return owner;
}

/* Bytes of a tile in the left or the right operand. */
template <typename semiring> static uint64_t group_slot_bytes(bool left)
{
    const uint64_t blocks = left ? GPU_TILE / OPERAND_WORDS : operand_right_blocks<semiring>();
    return blocks * OPERAND_BLOCK_WORDS * sizeof(typename semiring::word);
}

/* The memory of a member's operands of one pivot. */
template <typename semiring>
static struct group_place group_operand(const struct group_rounds<semiring> *group, uint32_t member,
                                        uint32_t round, uint32_t pivot, bool left)
{
    const struct rounds<semiring> *own = &group->members[member];
    const struct operand<typename semiring::word> operand = rounds_operand(own, round, pivot);
    return group_place{own->gpu, left ? operand.left : operand.right, 0};
}

/* ---- Times ---- */

/* Ends a lap: the time since the one before it, of the same round, is of this kind. */
template <typename semiring>
MUST_CHECK static enum status group_lap(const struct group_rounds<semiring> *group, uint32_t member,
                                        uint32_t round, enum lap lap)
{
    if (group->timers == NULL) {
        return STATUS_OK;
    }
    struct lap_timer *timer = &group->timers[member];
    const struct gpu *gpu = group->members[member].gpu;
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    CHECK(timer->counts[slot] < LAPS_MOST);
    const uint32_t index = slot * LAPS_MOST + timer->counts[slot]++;
    timer->laps[index] = lap;
    STATUS_TRY(group_enter(gpu));
    GPU_TRY(cudaEventRecord(timer->events[index], gpu->stream));
    return STATUS_OK;
}

/* Sums the laps of a round that is done. */
MUST_CHECK static inline enum status lap_timer_read(struct lap_timer *timer, uint32_t round)
{
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    for (uint32_t i = slot * LAPS_MOST + 1; i < slot * LAPS_MOST + timer->counts[slot]; i++) {
        float elapsed_ms = 0;
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, timer->events[i - 1], timer->events[i]));
        timer->seconds[timer->laps[i]] += (double)elapsed_ms * 1e-3;
    }
    timer->counts[slot] = 0;
    return STATUS_OK;
}

/* ---- Sending ---- */

/* The operands of the first `slots` tiles, from the pivot's owner to all others. */
template <typename semiring>
MUST_CHECK static enum status group_send_first(const struct group_rounds<semiring> *group,
                                               uint32_t owner, uint32_t round, uint32_t pivot,
                                               bool left, uint32_t slots)
{
    const uint64_t bytes = slots * group_slot_bytes<semiring>(left);
    for (uint32_t member = 0; member < group->count; member++) {
        if (member != owner) {
            struct group_place from = group_operand(group, owner, round, pivot, left);
            struct group_place to = group_operand(group, member, round, pivot, left);
            from.pitch = bytes;
            to.pitch = bytes;
            STATUS_TRY(group_copy(to, from, bytes, 1));
        }
    }
    return STATUS_OK;
}

/* The operands of a member's own tiles in the blocks of rows after this one, to all others: the
 * blocks of every other deal are as far from each other. */
template <typename semiring>
MUST_CHECK static enum status group_send_own(const struct group_rounds<semiring> *group,
                                             uint32_t sender, uint32_t round, uint32_t pivot,
                                             bool left, uint32_t after_block)
{
    const struct tile_rows *rows = &group->rows[sender];
    const uint32_t tiles = group->members[0].plan->tile_count;
    const uint32_t blocks = (tiles + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    const uint32_t step = 2 * rows->members;
    const uint64_t block_bytes = TILE_ROWS_BLOCK * group_slot_bytes<semiring>(left);
    for (uint32_t parity = 0; parity < 2; parity++) {
        uint32_t first = parity * rows->members + tile_rows_place(*rows, parity);
        first += first > after_block ? 0 : ((after_block - first) / step + 1) * step;
        const uint32_t count = first < blocks ? (blocks - 1 - first) / step + 1 : 0;
        for (uint32_t member = 0; member < group->count && count > 0; member++) {
            struct group_place from = group_operand(group, sender, round, pivot, left);
            struct group_place to = group_operand(group, member, round, pivot, left);
            from.memory = (char *)from.memory + first * block_bytes;
            to.memory = (char *)to.memory + first * block_bytes;
            from.pitch = step * block_bytes;
            to.pitch = step * block_bytes;
            if (member != sender) {
                STATUS_TRY(group_copy(to, from, block_bytes, count));
            }
        }
    }
    return STATUS_OK;
}

/* Before a member sends its part of a round: the others no longer read what it writes over. */
template <typename semiring>
MUST_CHECK static enum status group_await_room(const struct group_rounds<semiring> *group,
                                               uint32_t sender, uint32_t round)
{
    cudaStream_t stream = group->members[sender].gpu->stream;
    for (uint32_t member = 0; member < group->count; member++) {
        const struct gpu *gpu = group->members[member].gpu;
        for (uint32_t half = 0; half < DEVICE_HALVES && round > 1 && member != sender; half++) {
            GPU_TRY(cudaStreamWaitEvent(
                stream, gpu->half_done[half][(round - 2) % DEVICE_ROUND_EVENTS], 0));
        }
        if (round > 0 && member != sender) {
            GPU_TRY(cudaStreamWaitEvent(stream, gpu->panels_done[(round - 1) % DEVICE_ROUND_EVENTS],
                                        0));
        }
    }
    return group_lap(group, sender, round, LAP_WAITING);
}

/* ---- Panels ---- */

/* The owner's tile of the pivot, in its memory. */
template <typename semiring>
static struct tile_matrix<typename semiring::element>
group_pivot(const struct group_rounds<semiring> *group, uint32_t owner, uint32_t tile) {
    struct tile_matrix<typename semiring::element> matrix = group->members[owner].matrix;
    const uint64_t row = (uint64_t)tile_rows_local(group->rows[owner], tile) * GPU_TILE;
    matrix.elements += row * matrix.stride + (uint64_t)tile * GPU_TILE;
    return matrix;
}

/* Closes the pivot tile and sends it to all. */
template <typename semiring>
MUST_CHECK static enum status group_close(const struct group_rounds<semiring> *group,
                                          uint32_t owner, uint32_t round, uint32_t pivot)
{
    typedef typename semiring::element element;
    const struct rounds<semiring> *own = &group->members[owner];
    const uint32_t tile = rounds_tile(own, round, pivot);
    const struct tile_matrix<element> home = group_pivot(group, owner, tile);
    struct diagonal_step step;
    memset(&step, 0, sizeof(step));
    step.count = 1;
    step.tile = 0; /* of `home` */
    step.depth = rounds_depth(own, tile);
    step.clamp = own->clamp_diagonal;
    step.control = own->gpu->control;
    step.negative = &own->gpu->alarm_device->negative;
    STATUS_TRY(group_enter(own->gpu));
    STATUS_TRY(diagonal_launch<semiring>(home, step, own->gpu->stream));
    STATUS_TRY(group_lap(group, owner, round, LAP_PANELS));
    const uint64_t width = GPU_TILE * sizeof(element);
    const struct group_place from = {own->gpu, home.elements, home.stride * sizeof(element)};
    for (uint32_t member = 0; member < group->count; member++) {
        const struct rounds<semiring> *other = &group->members[member];
        void *closed = other->workspace->closed[round % WORKSPACE_PARITIES][pivot];
        const struct group_place to = {other->gpu, closed, width};
        if (member != owner) {
            STATUS_TRY(group_copy(to, from, width, GPU_TILE));
        }
    }
    GPU_TRY(cudaEventRecord(own->gpu->closed_sent[round % DEVICE_ROUND_EVENTS][pivot],
                            own->gpu->stream));
    return group_lap(group, owner, round, LAP_COPIES);
}

/* The panels of one pivot that a member makes, once it has the closed tile. */
template <typename semiring>
MUST_CHECK static enum status group_make_panels(const struct group_rounds<semiring> *group,
                                                uint32_t member, uint32_t round, uint32_t pivot)
{
    const struct rounds<semiring> *own = &group->members[member];
    const uint32_t tile = rounds_tile(own, round, pivot);
    const uint32_t tiles = own->plan->tile_count;
    const bool owns = tile_rows_owns(group->rows[member], tile);
    struct panel_step step;
    memset(&step, 0, sizeof(step));
    step.row_count = !owns ? 0 : own->symmetric ? tile + 1 : tiles;
    step.column_count = tile_rows_count(group->rows[member], tiles);
    step.pivot = tile;
    step.depth = rounds_depth(own, tile);
    step.symmetric = own->symmetric;
    step.rows = group->rows[member];
    step.diagonal = own->workspace->closed[round % WORKSPACE_PARITIES][pivot];
    step.diagonal_stride = GPU_TILE;
    step.control = own->gpu->control;
    if (owns) {
        const struct tile_matrix<typename semiring::element> home =
            group_pivot(group, member, tile);
        step.diagonal = home.elements;
        step.diagonal_stride = home.stride;
    }
    STATUS_TRY(group_enter(own->gpu));
    STATUS_TRY((panel_launch<semiring, true>(own->matrix, rounds_operand(own, round, pivot), step,
                                             own->gpu->stream)));
    return group_lap(group, member, round, LAP_PANELS);
}

/* Sends the panels of one pivot that a member has made to those who need them. */
template <typename semiring>
MUST_CHECK static enum status group_send_panels(const struct group_rounds<semiring> *group,
                                                uint32_t member, uint32_t owner, uint32_t round,
                                                uint32_t pivot)
{
    const struct rounds<semiring> *own = &group->members[member];
    const uint32_t block = rounds_tile(own, round, pivot) / TILE_ROWS_BLOCK;
    const uint32_t slots =
        (own->plan->tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK * TILE_ROWS_BLOCK;
    const bool shared = own->symmetric && semiring_packing<semiring>() == 1;
    STATUS_TRY(group_enter(own->gpu));
    if (!own->symmetric) {
        if (member == owner) {
            STATUS_TRY(group_send_first(group, owner, round, pivot, false, slots));
        }
    } else {
        if (member == owner) {
            const uint32_t first = (block + 1) * TILE_ROWS_BLOCK;
            STATUS_TRY(group_send_first(group, owner, round, pivot, true, first));
            if (!shared) {
                STATUS_TRY(group_send_first(group, owner, round, pivot, false, first));
            }
        } else if (pivot == 0) {
            STATUS_TRY(group_await_room(group, member, round));
        }
        STATUS_TRY(group_send_own(group, member, round, pivot, shared, block));
    }
    GPU_TRY(cudaEventRecord(own->gpu->sent[round % DEVICE_ROUND_EVENTS][pivot], own->gpu->stream));
    return group_lap(group, member, round, LAP_COPIES);
}

/* Closes one pivot tile, makes its panels and brings them to all. */
template <typename semiring>
MUST_CHECK static enum status group_start_pivot(const struct group_rounds<semiring> *group,
                                                uint32_t round, uint32_t pivot)
{
    const uint32_t owner = group_owner(group, round);
    STATUS_TRY(group_lap(group, owner, round, LAP_OTHER));
    if (pivot == 0) {
        STATUS_TRY(group_await_room(group, owner, round));
    }
    STATUS_TRY(group_close(group, owner, round, pivot));
    const cudaEvent_t closed =
        group->members[owner].gpu->closed_sent[round % DEVICE_ROUND_EVENTS][pivot];
    for (uint32_t member = 0; member < group->count; member++) {
        const struct gpu *gpu = group->members[member].gpu;
        STATUS_TRY(group_enter(gpu));
        if (member != owner) {
            STATUS_TRY(group_lap(group, member, round, LAP_OTHER));
            GPU_TRY(cudaStreamWaitEvent(gpu->stream, closed, 0));
            STATUS_TRY(group_lap(group, member, round, LAP_WAITING));
        }
        STATUS_TRY(group_make_panels(group, member, round, pivot));
        STATUS_TRY(group_send_panels(group, member, owner, round, pivot));
    }
    for (uint32_t member = 0; member < group->count; member++) {
        for (uint32_t other = 0; other < group->count; other++) {
            const struct gpu *gpu = group->members[other].gpu;
            const bool sends = other == owner || group->members[0].symmetric;
            if (other != member && sends) {
                GPU_TRY(cudaStreamWaitEvent(group->members[member].gpu->stream,
                                            gpu->sent[round % DEVICE_ROUND_EVENTS][pivot], 0));
            }
        }
        STATUS_TRY(group_lap(group, member, round, LAP_WAITING));
    }
    return STATUS_OK;
}

/* ---- Rounds ---- */

/* A member's interior of a round over its pivot tiles [0, pivots), before `next_count` tiles of the
 * round `next` from its pivot `next_first` on. */
template <typename semiring>
static struct interior_step<typename semiring::word>
group_interior(const struct group_rounds<semiring> *group, uint32_t member, uint32_t round,
               uint32_t pivots, uint32_t next, uint32_t next_first, uint32_t next_count) {
    const struct rounds<semiring> *own = &group->members[member];
    struct interior_step<typename semiring::word> step = rounds_interior(own, round, pivots);
    step.rows = group->rows[member];
    step.row_count = tile_rows_count(step.rows, own->plan->tile_count);
    step.next_count = next_count;
    for (uint32_t pivot = 0; pivot < next_count; pivot++) {
        step.next[pivot] = rounds_tile(own, next, next_first + pivot);
    }
    step.owns_next = next_count > 0 && tile_rows_owns(step.rows, step.next[0]);
    return step;
}

/* The panels of a round: pivot tile by pivot tile, the second after it has taken the first. */
template <typename semiring>
MUST_CHECK static enum status group_start_panels(const struct group_rounds<semiring> *group,
                                                 uint32_t round)
{
    STATUS_TRY(group_start_pivot(group, round, 0));
    const bool pair = rounds_width(&group->members[0], round) > 1;
    for (uint32_t member = 0; member < group->count && pair; member++) {
        const struct rounds<semiring> *own = &group->members[member];
        STATUS_TRY(group_enter(own->gpu));
        STATUS_TRY((interior_launch_next<semiring, true>(
            own->matrix, group_interior(group, member, round, 1, round, 1, 1), own->gpu->stream)));
    }
    if (pair) {
        STATUS_TRY(group_start_pivot(group, round, 1));
    }
    for (uint32_t member = 0; member < group->count; member++) {
        struct gpu *gpu = group->members[member].gpu;
        STATUS_TRY(group_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->panels_done[round % DEVICE_ROUND_EVENTS], gpu->stream));
    }
    return STATUS_OK;
}

/* A member's REST of a round whose panels are under way. */
template <typename semiring>
MUST_CHECK static enum status
group_start_rest(const struct rounds<semiring> *own, uint32_t round,
                 const struct interior_step<typename semiring::word> &step)
{
    struct gpu *gpu = own->gpu;
    const uint32_t slot = round % DEVICE_ROUND_EVENTS;
    const uint32_t rows = interior_rest_rows<semiring, true>(&step);
    STATUS_TRY(group_enter(gpu));
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        const uint32_t first = half * rows / DEVICE_HALVES;
        const uint32_t end = (half + 1) * rows / DEVICE_HALVES;
        GPU_TRY(cudaStreamWaitEvent(gpu->half[half], gpu->panels_done[slot], 0));
        STATUS_TRY((interior_launch_rest<semiring, true>(own->matrix, step, first, end - first,
                                                         gpu->half[half])));
        GPU_TRY(cudaEventRecord(gpu->half_done[half][slot], gpu->half[half]));
    }
    if (round + 1 == rounds_count(own)) {
        STATUS_TRY(rounds_await_halves(own, round));
        GPU_TRY(cudaEventRecord(gpu->end, gpu->stream));
    }
    return STATUS_OK;
}

/* The interior of a round whose panels are under way. */
template <typename semiring>
MUST_CHECK static enum status group_start(const struct group_rounds<semiring> *group,
                                          uint32_t round)
{
    const struct rounds<semiring> *first = &group->members[0];
    const bool last = round + 1 == rounds_count(first);
    const uint32_t next_count = last ? 0 : rounds_width(first, round + 1);
    const uint32_t pivots = rounds_width(first, round);
    for (uint32_t member = 0; member < group->count; member++) {
        STATUS_TRY(group_start_rest(
            &group->members[member], round,
            group_interior(group, member, round, pivots, round + 1, 0, next_count)));
    }
    for (uint32_t member = 0; member < group->count && !last; member++) {
        const struct rounds<semiring> *own = &group->members[member];
        STATUS_TRY(group_enter(own->gpu));
        if (round > 0) {
            STATUS_TRY(rounds_await_halves(own, round - 1));
        }
        STATUS_TRY((interior_launch_next<semiring, true>(
            own->matrix, group_interior(group, member, round, pivots, round + 1, 0, next_count),
            own->gpu->stream)));
    }
    return STATUS_OK;
}

/* Waits for a round on all members, tells of it and hears of a cancel. */
template <typename semiring>
MUST_CHECK static enum status group_finish(const struct group_rounds<semiring> *group,
                                           uint32_t round)
{
    const struct rounds<semiring> *first = &group->members[0];
    for (uint32_t member = 0; member < group->count; member++) {
        const struct gpu *gpu = group->members[member].gpu;
        for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
            GPU_TRY(cudaEventSynchronize(gpu->half_done[half][round % DEVICE_ROUND_EVENTS]));
        }
        STATUS_TRY(device_alarm(gpu));
        if (group->timers != NULL) {
            STATUS_TRY(lap_timer_read(&group->timers[member], round));
        }
    }
    observer_tell_rounds(group->observer, round * first->pivots + rounds_width(first, round),
                         first->plan->tile_count);
    return device_cancelled(group->observer) ? STATUS_CANCELLED : STATUS_OK;
}

/* All rounds. Ends when the last is done on all members. */
template <typename semiring>
MUST_CHECK static enum status group_rounds_run(const struct group_rounds<semiring> *group)
{
    const struct rounds<semiring> *first = &group->members[0];
    const uint32_t count = rounds_count(first);
    const uint32_t most = first->matrix.stride >= ROUNDS_LONG_STRIDE ? 2 : DEVICE_ROUNDS_AHEAD;
    const uint32_t ahead = count < most ? count : most;
    STATUS_TRY(group_start_panels(group, 0));
    for (uint32_t round = 0; round < count; round++) {
        if (round >= ahead) {
            STATUS_TRY(group_finish(group, round - ahead));
        }
        STATUS_TRY(group_start(group, round));
        if (round + 1 < count) {
            STATUS_TRY(group_start_panels(group, round + 1));
        }
    }
    for (uint32_t round = count - ahead; round < count; round++) {
        STATUS_TRY(group_finish(group, round));
    }
    return STATUS_OK;
}
