/* Phase 3 of a round of a plan that omits tiles: for each target tile of a list, computes C =
 * min(C, A0 x B0, A1 x B1, ...) over its products, with A and B from the round's operands
 * (semiring.cuh).
 *
 * One block computes one target, or two 16-bit targets in one tile row, with the accumulators, the
 * slab ring and the inner loop of kernel_interior.cuh. The slabs of all its products pass through
 * the ring without a pause; the last slab of a product may have fewer pivots. A fresh tile starts
 * as unreachable and is not read. A warp skips quads that are padding for all of its threads, so
 * most padding costs nothing. */
#pragma once

#include "gpu/kernel_diagonal.cuh"
#include "gpu/kernel_interior.cuh"
#include "gpu/kernel_panel.cuh"
#include "gpu/schedule.h"
#include "gpu/workspace.cuh"

template <typename word> struct planned_step {
    const struct schedule_target *targets; /* targets of the round */
    const struct schedule_product *products;
    struct operand<word> operand;
    int32_t one; /* always 1; see semiring.cuh */
    const struct tile_control *control;
};

/* The slab whose copies are issued next. */
struct planned_cursor {
    uint32_t product;
    uint32_t slab; /* index of the slab in the product */
};

/* State of a block that is stored in shared memory, after the ring, to save registers. */
struct planned_kept {
    struct planned_cursor cursor;
    uint32_t pivots[RING_STAGES]; /* number of pivots in the slab of each stage */
};

#define PLANNED_SHARED_BYTES (RING_BYTES + sizeof(struct planned_kept))

template <typename semiring>
static __device__ __forceinline__ struct ring_source<typename semiring::word>
planned_source(const struct planned_step<typename semiring::word> &step,
               const struct schedule_product &product, uint32_t slab) {
    typedef typename semiring::word word;
    constexpr uint32_t right_blocks = operand_right_blocks<semiring>();
    const uint32_t offset = slab * ring_pivots<word>() * OPERAND_WORDS;
    struct ring_source<word> source;
    source.left = step.operand.left + (uint64_t)product.left * 2 * OPERAND_BLOCK_WORDS + offset;
    source.right = step.operand.right +
                   (uint64_t)product.right[0] * right_blocks * OPERAND_BLOCK_WORDS + offset;
    source.next_right = right_blocks == 2
                            ? (uint64_t)OPERAND_BLOCK_WORDS
                            : ((uint64_t)product.right[1] - product.right[0]) * OPERAND_BLOCK_WORDS;
    return source;
}

/* Issues the copies of the slab at the cursor, then advances the cursor. Either every thread has a
 * cursor, or only thread 0. */
template <typename semiring, typename cursor>
static __device__ __forceinline__ void
planned_order(unsigned char *ring, uint32_t turn,
              const struct planned_step<typename semiring::word> &step, cursor *at,
              volatile struct planned_kept *kept)
{
    typedef typename semiring::word word;
    const uint32_t slab = at->slab;
    const int4 quad = __ldg(reinterpret_cast<const int4 *>(step.products + at->product));
    struct schedule_product product;
    product.left = (uint32_t)quad.x;
    product.right[0] = (uint32_t)quad.y;
    product.right[1] = (uint32_t)quad.z;
    product.depth = (uint32_t)quad.w;
    const uint32_t rest = product.depth - slab * ring_pivots<word>();
    const bool last = rest <= ring_pivots<word>();
    ring_await_room(ring, turn);
    if (threadIdx.x == 0) {
        kept->pivots[turn % RING_STAGES] = last ? rest : ring_pivots<word>();
    }
    ring_send(ring, turn, planned_source<semiring>(step, product, slab));
    at->product += last ? 1 : 0;
    at->slab = last ? 0 : slab + 1;
}

/* Relaxes the thread's words over `slabs` slabs as they arrive in the ring. The copies of the first
 * RING_AHEAD slabs have been issued. A warp whose words are all padding skips the arithmetic. */
template <typename semiring, uint32_t ROW_QUADS, uint32_t WORD_QUADS, typename cursor>
static __device__ __forceinline__ void
planned_slabs(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
              const struct planned_step<typename semiring::word> &step, uint32_t slabs, bool idle,
              cursor *at, volatile struct planned_kept *kept, unsigned char *ring)
{
    typedef typename semiring::word word;
    constexpr uint32_t piece_words = RING_PIECE_BYTES / sizeof(word);
    /* Number of pivots per pass of the inner loop. */
    constexpr uint32_t pass = 2 * interior_unroll<semiring>::turns;
    const struct tile_place place = tile_place_of_thread<OPERAND_WORDS>();
    for (uint32_t turn = 0; turn < slabs; turn++) {
        ring_await_slab(ring, turn);
        if (turn + RING_AHEAD >= slabs) {
            ring_order_none();
        } else if (!RING_BULK || threadIdx.x == 0) {
            planned_order<semiring>(ring, turn + RING_AHEAD, step, at, kept);
        }
        const uint32_t pivots = idle ? 0 : kept->pivots[turn % RING_STAGES];
        const word *const stage = reinterpret_cast<const word *>(ring_stage(ring, turn));
        interior_product<semiring, ROW_QUADS, WORD_QUADS>(
            tile, stage + place.row, stage + 2 * piece_words + place.column,
            (pivots + pass - 1) / pass * pass, step.one);
        ring_leave(ring, turn);
    }
}

/* Which words of a warp are in use. Without bulk copies, tall and wide apply to the whole block. */
struct planned_share {
    bool idle; /* whether all words are padding */
    bool tall; /* whether the second quads of rows are in use */
    bool wide; /* whether the second quads of words are in use */
};

template <typename semiring, typename cursor>
static __device__ __forceinline__ void
planned_products(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
                 const struct planned_step<typename semiring::word> &step,
                 const struct planned_share &share, uint32_t slabs, cursor *at,
                 volatile struct planned_kept *kept, unsigned char *ring)
{
    if (share.tall && share.wide) {
        planned_slabs<semiring, 2, 2>(tile, step, slabs, share.idle, at, kept, ring);
    } else if (share.tall) {
        planned_slabs<semiring, 2, 1>(tile, step, slabs, share.idle, at, kept, ring);
    } else if (share.wide) {
        planned_slabs<semiring, 1, 2>(tile, step, slabs, share.idle, at, kept, ring);
    } else {
        planned_slabs<semiring, 1, 1>(tile, step, slabs, share.idle, at, kept, ring);
    }
}

template <typename semiring>
static __device__ __forceinline__ typename semiring::word planned_far(void)
{
    const typename semiring::element far = semiring_unreachable<typename semiring::element>();
    if constexpr (semiring_packing<semiring>() == 2) {
        return (uint32_t)far << 16 | far;
    } else {
        return far;
    }
}

/* Loads a thread's first or second quads of words. In a fresh tile they are unreachable. */
template <typename semiring>
static __device__ __forceinline__ void
planned_load(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE], uint32_t half,
             const typename semiring::word *home, uint64_t stride, bool fresh)
{
    typedef typename semiring::word word;
#pragma unroll
    for (uint32_t i = 0; i < INTERIOR_EDGE; i++) {
        if (fresh) {
#pragma unroll
            for (uint32_t j = 0; j < QUAD; j++) {
                tile[i][half * QUAD + j] = planned_far<semiring>();
            }
        } else {
            const uint64_t line = (i / QUAD * OPERAND_WORDS + i % QUAD) * stride;
            tile_load_quad(home + line, reinterpret_cast<word(&)[QUAD]>(tile[i][half * QUAD]));
        }
    }
}

/* Stores a thread's first or second quads of words. */
template <typename semiring>
static __device__ __forceinline__ void
planned_store(const typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE], uint32_t half,
              typename semiring::word *home, uint64_t stride)
{
#pragma unroll
    for (uint32_t i = 0; i < INTERIOR_EDGE; i++) {
        const typename semiring::word *const from = &tile[i][half * QUAD];
        tile_store_quad(home + (i / QUAD * OPERAND_WORDS + i % QUAD) * stride, from[0], from[1],
                        from[2], from[3]);
    }
}

/* Sets home[] to the first word of each of the thread's two quads, in the thread's first row. */
template <typename semiring>
static __device__ __forceinline__ void
planned_home(struct tile_matrix<typename semiring::element> matrix,
             const struct schedule_target *target, typename semiring::word *home[2])
{
    struct interior_tile work;
    work.own_row = target->row;
    work.columns[0] = target->columns[0];
    work.columns[1] = target->columns[1];
    interior_home<semiring>(matrix, &work, home);
}

template <typename semiring>
static __device__ __forceinline__ void
planned_load_target(typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
                    struct tile_matrix<typename semiring::element> matrix,
                    const struct schedule_target *target)
{
    const uint64_t stride = matrix.stride / semiring_packing<semiring>();
    const uint32_t flags = target->flags;
    typename semiring::word *home[2];
    planned_home<semiring>(matrix, target, home);
    planned_load<semiring>(tile, 0, home[0], stride, (flags & SCHEDULE_FRESH_FIRST) != 0);
    planned_load<semiring>(tile, 1, home[1], stride, (flags & SCHEDULE_FRESH_SECOND) != 0);
}

/* Stores the one or two tiles of a target. */
template <typename semiring>
static __device__ __forceinline__ void
planned_store_target(const typename semiring::word (&tile)[INTERIOR_EDGE][INTERIOR_EDGE],
                     struct tile_matrix<typename semiring::element> matrix,
                     const struct schedule_target *target)
{
    const uint64_t stride = matrix.stride / semiring_packing<semiring>();
    typename semiring::word *home[2];
    planned_home<semiring>(matrix, target, home);
    planned_store<semiring>(tile, 0, home[0], stride);
    if (semiring_packing<semiring>() == 1 || target->words[1] > 0) {
        planned_store<semiring>(tile, 1, home[1], stride);
    }
}

template <typename semiring>
__global__ void __launch_bounds__(RING_THREADS, interior_blocks<semiring>())
    planned_kernel(struct tile_matrix<typename semiring::element> matrix,
                   const __grid_constant__ struct planned_step<typename semiring::word> step)
{
    extern __shared__ __align__(128) unsigned char block_storage[];
    unsigned char *const ring = block_storage;
    volatile struct planned_kept *const kept =
        reinterpret_cast<volatile struct planned_kept *>(block_storage + RING_BYTES);
    const struct schedule_target *const target = step.targets + blockIdx.x;
    const bool stopped = tile_stopped(step.control);
    uint32_t slabs = target->slabs;
    ring_init(ring);
#if RING_BULK
    volatile struct planned_cursor *const at = &kept->cursor;
#else
    struct planned_cursor own;
    struct planned_cursor *const at = &own;
#endif
    if (!RING_BULK || threadIdx.x == 0) {
        at->product = target->product_begin;
        at->slab = 0;
    }
    for (uint32_t turn = 0; turn < RING_AHEAD; turn++) {
        if (turn >= slabs) {
            ring_order_none();
        } else if (!RING_BULK || threadIdx.x == 0) {
            planned_order<semiring>(ring, turn, step, at, kept);
        }
    }
    typename semiring::word tile[INTERIOR_EDGE][INTERIOR_EDGE];
    planned_load_target<semiring>(tile, matrix, target);
    /* Without bulk copies, a barrier of the whole block separates the slabs, so all warps must take
     * the same branch. Only `idle` may differ between warps. */
    const uint32_t row = threadIdx.x / WARP_THREADS / 2 * 16;
    const uint32_t column = threadIdx.x / WARP_THREADS % 2 * 32;
    struct planned_share share;
    share.idle = row >= target->rows || (column >= target->words[0] && column >= target->words[1]);
    share.tall = (RING_BULK ? row : 0) + OPERAND_WORDS < target->rows;
    share.wide = (RING_BULK ? column : 0) < target->words[1];
    /* Even in a stopped block, all warps must use every slab whose copies have been issued. */
    if (ring_ready(stopped)) {
        slabs = min(slabs, (uint32_t)RING_AHEAD);
    }
    planned_products<semiring>(tile, step, share, slabs, at, kept, ring);
    planned_store_target<semiring>(tile, matrix, step.targets + blockIdx.x);
}

template <typename semiring>
MUST_CHECK static enum status
planned_launch(struct tile_matrix<typename semiring::element> matrix,
               const struct planned_step<typename semiring::word> &step, uint32_t count,
               cudaStream_t stream)
{
    if (count == 0) {
        return STATUS_OK;
    }
    planned_kernel<semiring><<<count, RING_THREADS, PLANNED_SHARED_BYTES, stream>>>(matrix, step);
    return try_translate(cudaGetLastError());
}
