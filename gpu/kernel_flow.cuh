/* A whole solve of a graph of some hundred to about 2,000 vertices as one launch without barriers:
 * every block stays for the whole solve with tiles of its own, and starts on the next round as soon
 * as what it needs of that is there.
 *
 * Tiles and arithmetic are those of small_tile.cuh. Blocks own pairs of tiles, two in a column,
 * all of which are on the device at once. In a step a block updates its pairs over the last pivot,
 * and then makes of them what the next one has in them: its closed tile D, or panels. Those it
 * copies to a slot, where the others read them while the tiles go on changing, and raises a flag. A
 * pair with a part in the next pivot comes before the others: so the chain of pivots runs beside
 * the interior. A slot is written again when every block has gone past the pivot that was in it.
 *
 * Of the panels L' and R' only R = D (x) R' is made before the interior; as D (x) D = D, that may
 * take L' as it is: L' (x) D (x) D (x) R' = L' (x) R.
 *
 * Every tile is updated pivot by pivot, in order, with what that pivot had when it was current: the
 * result does not depend on who is when where. */
#pragma once

#include "gpu/small_tile.cuh"

/* Pivots whose panels are in memory at once: more than the blocks ever are apart, so that nobody
 * waits for a slot. */
#define FLOW_SLOTS 4
#define FLOW_TILE_ELEMENTS (SMALL_TILE * SMALL_TILE)
/* Kinds of flags begin in cache lines of their own. */
#define FLOW_FLAGS_APART 32

template <typename element> struct flow_step {
    struct small_step small;
    element *slots;  /* of each FLOW_SLOTS pivots: its tile, its left panel, its right panel */
    uint32_t *flags; /* 0 at the start */
};

/* ---- Memory ---- */

static inline __host__ __device__ uint64_t flow_slot_elements(uint32_t tile_count)
{
    return (1 + 2 * (uint64_t)tile_count) * FLOW_TILE_ELEMENTS;
}

static inline __host__ __device__ uint32_t flow_flags_of_kind(uint32_t tile_count)
{
    return (tile_count + FLOW_FLAGS_APART - 1) / FLOW_FLAGS_APART * FLOW_FLAGS_APART;
}

static inline uint64_t flow_flag_bytes(uint32_t tile_count)
{
    return (FLOW_FLAGS_APART + 3 * (uint64_t)flow_flags_of_kind(tile_count)) * sizeof(uint32_t);
}

/* For numbers of 4 bytes, the only ones that are solved like this. */
static inline uint64_t flow_bytes(uint32_t vertex_count)
{
    const uint32_t tile_count = (vertex_count + SMALL_TILE - 1) / SMALL_TILE;
    return FLOW_SLOTS * flow_slot_elements(tile_count) * sizeof(uint32_t) +
           flow_flag_bytes(tile_count);
}

template <typename element>
static __device__ __forceinline__ struct small_view<element>
flow_slot_tile(const struct flow_step<element> &step, uint32_t pivot, uint32_t place) {
    return {step.slots + pivot % FLOW_SLOTS * flow_slot_elements(step.small.tile_count) +
                (uint64_t)place * FLOW_TILE_ELEMENTS,
            SMALL_TILE};
}

template <typename element>
static __device__ __forceinline__ struct small_view<element>
flow_closed(const struct flow_step<element> &step, uint32_t pivot) {
    return flow_slot_tile(step, pivot, 0);
}

template <typename element>
static __device__ __forceinline__ struct small_view<element>
flow_left(const struct flow_step<element> &step, uint32_t pivot, uint32_t row) {
    return flow_slot_tile(step, pivot, 1 + row);
}

template <typename element>
static __device__ __forceinline__ struct small_view<element>
flow_right(const struct flow_step<element> &step, uint32_t pivot, uint32_t column) {
    return flow_slot_tile(step, pivot, 1 + step.small.tile_count + column);
}

/* ---- Flags ---- */

/* Progress counters, which only grow. Closed: pivots whose tile is closed; left and right: pivots
 * whose panel tile of this row or column is in its slot; past: blocks that no longer read the slot
 * of this pivot. */
template <typename element>
static __device__ __forceinline__ uint32_t *flow_closed_flag(const struct flow_step<element> &step)
{
    return step.flags;
}

template <typename element>
static __device__ __forceinline__ uint32_t *flow_flag(const struct flow_step<element> &step,
                                                      uint32_t kind, uint32_t tile)
{
    return step.flags + FLOW_FLAGS_APART + kind * flow_flags_of_kind(step.small.tile_count) + tile;
}

template <typename element>
static __device__ __forceinline__ uint32_t *flow_left_flag(const struct flow_step<element> &step,
                                                           uint32_t row)
{
    return flow_flag(step, 0, row);
}

template <typename element>
static __device__ __forceinline__ uint32_t *flow_right_flag(const struct flow_step<element> &step,
                                                            uint32_t column)
{
    return flow_flag(step, 1, column);
}

template <typename element>
static __device__ __forceinline__ uint32_t *flow_past_flag(const struct flow_step<element> &step,
                                                           uint32_t pivot)
{
    return flow_flag(step, 2, pivot);
}

static __device__ __forceinline__ uint32_t flow_read(const uint32_t *flag)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

/* A condition to wait for: the flag has reached `least`. NULL: there is nothing to wait for. */
struct flow_need {
    const uint32_t *flag;
    uint32_t least;
};

#define FLOW_NEEDS 3

/* False, for all threads alike, when the solve ends before all needs are met. Acquires: data
 * written before the flags were raised is visible to all threads afterwards. */
static __device__ __forceinline__ bool flow_wait(const struct flow_need (&needs)[FLOW_NEEDS],
                                                 const struct tile_control *control)
{
    bool stopped = false;
#pragma unroll
    for (uint32_t i = 0; i < FLOW_NEEDS; i++) {
        if (threadIdx.x == i * WARP_THREADS && needs[i].flag != nullptr) {
            while (!stopped && flow_read(needs[i].flag) < needs[i].least) {
                stopped = tile_stopped(control);
            }
        }
    }
    return __syncthreads_or(stopped) == 0;
}

/* Release: all threads' earlier writes are visible before the flag is. */
static __device__ __forceinline__ void flow_raise(uint32_t *flag, uint32_t value)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
    }
}

/* Release: all threads' earlier reads are done before the flag is counted up, so the slot may be
 * reused. */
static __device__ __forceinline__ void flow_pass(uint32_t *flag)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(flag) : "memory");
    }
}

/* ---- A pair ---- */

struct flow_pair {
    uint32_t row; /* the upper one; below the last there may be none */
    uint32_t column;
};

/* 0: it has the pivot's tile; 1: panels of it; 2: neither. */
static __device__ __forceinline__ uint32_t flow_urgency(const struct flow_pair &pair,
                                                        uint32_t pivot)
{
    const bool across = pair.row == pivot || pair.row + 1 == pivot;
    const bool down = pair.column == pivot;
    return across && down ? 0 : across || down ? 1 : 2;
}

/* The pivot's product for what of the pair is not in its row, as far as `rows` allows: bit 0 the
 * upper tile, bit 1 the lower. The left operand is the panel before its product with the closed
 * tile, which is in the right one already; a left panel itself is updated with the closed tile. */
template <typename semiring>
static __device__ __forceinline__ bool
flow_update(struct tile_matrix<typename semiring::element> matrix,
            const struct flow_step<typename semiring::element> &step, const struct flow_pair &pair,
            uint32_t rows, uint32_t pivot, struct small_shared<typename semiring::element> *shared)
{
    typedef typename semiring::element element;
    const uint32_t row0 = pair.row;
    const uint32_t row1 = pair.row + 1;
    const bool upper = (rows & 1) != 0 && row0 != pivot;
    const bool lower = (rows & 2) != 0 && row1 != pivot && row1 < step.small.tile_count;
    const bool down = pair.column == pivot;
    if (!upper && !lower) {
        return true;
    }
    const struct flow_need needs[FLOW_NEEDS] = {
        {down ? flow_closed_flag(step) : flow_right_flag(step, pair.column), pivot + 1},
        {upper ? flow_left_flag(step, row0) : nullptr, pivot + 1},
        {lower ? flow_left_flag(step, row1) : nullptr, pivot + 1},
    };
    const struct small_view<element> right =
        down ? flow_closed(step, pivot) : flow_right(step, pivot, pair.column);
    if (upper && lower) {
        const struct small_pair<element> both = {
            {flow_left(step, pivot, row0), flow_left(step, pivot, row1)}, right,
            {
                small_tile(matrix, row0, pair.column), small_tile(matrix, row1, pair.column)
            }
        };
        small_copy_homes(both, shared);
        if (!flow_wait(needs, step.small.control)) {
            return false;
        }
        small_interior_pair<semiring, true>(both, shared);
        return true;
    }
    if (!flow_wait(needs, step.small.control)) {
        return false;
    }
    const uint32_t row = upper ? row0 : row1;
    small_interior_tile<semiring>(flow_left(step, pivot, row), right,
                                  small_tile(matrix, row, pair.column), shared);
    return true;
}

/* Whether the slot of a pivot may be written: all have gone past the one that was in it. */
template <typename element>
static __device__ __forceinline__ struct flow_need flow_free(const struct flow_step<element> &step,
                                                             uint32_t pivot)
{
    return {pivot >= FLOW_SLOTS ? flow_past_flag(step, pivot - FLOW_SLOTS) : nullptr, gridDim.x};
}

/* The last product of the next pivot's tile, and its closing. False, for all threads alike, on a
 * negative cycle too. */
template <typename semiring>
static __device__ __forceinline__ bool
flow_close(struct tile_matrix<typename semiring::element> matrix,
           const struct flow_step<typename semiring::element> &step, uint32_t next,
           struct small_shared<typename semiring::element> *shared)
{
    const bool first = next == 0;
    const struct tile_place place = tile_place_of_thread<SMALL_TILE>();
    const struct small_view<typename semiring::element> home = small_tile(matrix, next, next);
    const struct flow_need needs[FLOW_NEEDS] = {
        {first ? nullptr : flow_right_flag(step, next), next},
        {first ? nullptr : flow_left_flag(step, next), next},
        flow_free(step, next)};
    struct small_part<typename semiring::element, QUAD, QUAD, 1> part;
    if (!flow_wait(needs, step.small.control)) {
        return false;
    }
    if (first) {
        small_load(part, small_inside(home, place.row, place.column));
    } else {
        small_relax_tile<semiring>(part, place, flow_left(step, next - 1, next),
                                   flow_right(step, next - 1, next), home, shared);
    }
    if (!small_close<semiring>(part, step.small.clamp, shared)) {
        small_stop(step.small);
        return false;
    }
    small_store(part, small_inside(home, place.row, place.column));
    small_store(part, small_inside(flow_closed(step, next), place.row, place.column));
    flow_raise(flow_closed_flag(step), next + 1);
    return true;
}

/* A tile of the right panel: the product of the closed tile with it. */
template <typename semiring>
static __device__ __forceinline__ bool
flow_lead_right(struct tile_matrix<typename semiring::element> matrix,
                const struct flow_step<typename semiring::element> &step, uint32_t next,
                uint32_t column, struct small_shared<typename semiring::element> *shared)
{
    const struct flow_need needs[FLOW_NEEDS] = {
        flow_free(step, next), {flow_closed_flag(step), next + 1}, {nullptr, 0}};
    const struct tile_place place = small_place<QUAD>();
    const struct small_view<typename semiring::element> home = small_tile(matrix, next, column);
    struct small_part<typename semiring::element, QUAD, QUAD, 4> part;
    if (!flow_wait(needs, step.small.control)) {
        return false;
    }
    small_relax_tile<semiring>(part, place, flow_closed(step, next), home, home, shared);
    small_store(part, small_inside(home, place.row, place.column));
    small_store(part, small_inside(flow_right(step, next, column), place.row, place.column));
    flow_raise(flow_right_flag(step, column), next + 1);
    return true;
}

/* Tiles of the left panel, as they are. */
template <typename element>
static __device__ __forceinline__ bool flow_lead_left(struct tile_matrix<element> matrix,
                                                      const struct flow_step<element> &step,
                                                      const struct flow_pair &pair, uint32_t next)
{
    const struct flow_need needs[FLOW_NEEDS] = {flow_free(step, next), {nullptr, 0}, {nullptr, 0}};
    const struct tile_place place = small_place<QUAD>();
    struct small_part<element, QUAD, QUAD, 4> part;
    if (!flow_wait(needs, step.small.control)) {
        return false;
    }
    for (uint32_t row = pair.row; row < pair.row + 2 && row < step.small.tile_count; row++) {
        if (row != next) {
            small_load(part, small_inside(small_tile(matrix, row, next), place.row, place.column));
            small_store(part, small_inside(flow_left(step, next, row), place.row, place.column));
            flow_raise(flow_left_flag(step, row), next + 1);
        }
    }
    return true;
}

/* ---- The solve ---- */

/* A pair's part in a step: over the pivot before, then for the next one. False: the solve is over.
 */
template <typename semiring>
static __device__ __forceinline__ bool
flow_advance(struct tile_matrix<typename semiring::element> matrix,
             const struct flow_step<typename semiring::element> &step, const struct flow_pair &pair,
             uint32_t next, struct small_shared<typename semiring::element> *shared)
{
    const bool last = next == step.small.tile_count;
    const uint32_t urgency = last ? 2 : flow_urgency(pair, next);
    const uint32_t rows = urgency > 0 ? 3 : pair.row == next ? 2 : 1;
    if (urgency == 0 && !flow_close<semiring>(matrix, step, next, shared)) {
        return false;
    }
    if (next > 0 && !flow_update<semiring>(matrix, step, pair, rows, next - 1, shared)) {
        return false;
    }
    if (urgency == 2) {
        return true;
    }
    return pair.column == next ? flow_lead_left(matrix, step, pair, next)
                               : flow_lead_right<semiring>(matrix, step, next, pair.column, shared);
}

template <typename semiring>
__global__ void __launch_bounds__(SMALL_THREADS, SMALL_BLOCKS_PER_MULTIPROCESSOR)
    flow_kernel(struct tile_matrix<typename semiring::element> matrix,
                const __grid_constant__ struct flow_step<typename semiring::element> step)
{
    extern __shared__ __align__(128) unsigned char block_storage[];
    struct small_shared<typename semiring::element> *const shared =
        reinterpret_cast<struct small_shared<typename semiring::element> *>(block_storage);
    const uint32_t tile_count = step.small.tile_count;
    const uint32_t down = (tile_count + 1) / 2;
    for (uint32_t next = 0; next <= tile_count; next++) {
        for (uint32_t urgency = 0; urgency <= 2; urgency++) {
            for (uint32_t index = blockIdx.x; index < down * tile_count; index += gridDim.x) {
                const struct flow_pair pair = {index % down * 2, index / down};
                if (flow_urgency(pair, next) == urgency &&
                    !flow_advance<semiring>(matrix, step, pair, next, shared)) {
                    return;
                }
            }
        }
        if (next > 0) {
            flow_pass(flow_past_flag(step, next - 1));
        }
    }
}

/* Once per device and semiring, before the first launch. */
template <typename semiring> MUST_CHECK static enum status flow_prepare(void)
{
    return small_prepare_kernel<semiring>((const void *)flow_kernel<semiring>);
}

/* memory: flow_bytes on the device, for the time of the solve. */
template <typename semiring>
MUST_CHECK static enum status flow_launch(struct tile_matrix<typename semiring::element> matrix,
                                          struct small_step small, void *memory,
                                          uint32_t multiprocessors, cudaStream_t stream)
{
    typedef typename semiring::element element;
    const uint64_t slot_elements = flow_slot_elements(small.tile_count);
    const uint32_t pairs = (small.tile_count + 1) / 2 * small.tile_count;
    struct flow_step<element> step;
    step.small = small;
    step.slots = (element *)memory;
    step.flags = (uint32_t *)(step.slots + FLOW_SLOTS * slot_elements);
    GPU_TRY(cudaMemsetAsync(step.flags, 0, flow_flag_bytes(small.tile_count), stream));
    return small_launch_kernel<semiring>((const void *)flow_kernel<semiring>, &matrix, &step, pairs,
                                         multiprocessors, stream);
}
