/* A ring of stages in shared memory, into which slabs of the operands are loaded while earlier
 * slabs are in use. A stage has four pieces (from two left and two right blocks) for the same run
 * of pivots.
 *
 * In code for compute capability 9.0, one thread issues a bulk copy of each piece, and every warp
 * waits for the slab by itself. The loop needs no barrier of the whole block. In the PTX for other
 * cards, all threads copy 16 bytes at a time (cp.async), and a barrier separates the slabs. On an
 * H200 the first form was measured to be 9 % faster. */
#pragma once

#include "gpu/semiring.cuh"

#define RING_THREADS 256
#define RING_WARPS (RING_THREADS / WARP_THREADS)
#define RING_PIECES 4
#define RING_PIECE_BYTES 8192
#define RING_STAGE_BYTES (RING_PIECES * RING_PIECE_BYTES)
#define RING_STAGES 3
/* Bytes of shared memory of the ring: the stages, then two barriers for each stage. */
#define RING_BYTES (RING_STAGES * RING_STAGE_BYTES + 2 * RING_STAGES * sizeof(uint64_t))

/* Returns the number of pivots in a slab. */
template <typename word> static __host__ __device__ constexpr uint32_t ring_pivots(void)
{
    return RING_PIECE_BYTES / (OPERAND_WORDS * sizeof(word));
}

/* Addresses of the four pieces of a slab. */
template <typename word> struct ring_source {
    const word *left;    /* the tile's first left block, at the slab's first pivot */
    const word *right;   /* the tile's first right block, at the same pivot */
    uint64_t next_right; /* number of words from the first right block to the second */
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RING_BULK 1
#else
#define RING_BULK 0
#endif

/* Number of slabs whose copies are issued before the first slab is used. With bulk copies it is one
 * smaller, so that all warps have left the next stage one slab earlier and the issuing thread
 * seldom waits. */
#define RING_AHEAD (RING_BULK ? RING_STAGES - 2 : RING_STAGES - 1)

static __device__ __forceinline__ unsigned char *ring_stage(unsigned char *ring, uint32_t slab)
{
    return ring + slab % RING_STAGES * RING_STAGE_BYTES;
}

#if RING_BULK

/* Returns the address of one of the two barriers of a slab's stage. One signals that the slab has
 * arrived; the other (`empty`) signals that the stage may be filled again. */
static __device__ __forceinline__ uint32_t ring_barrier(unsigned char *ring, uint32_t slab,
                                                        bool empty)
{
    const uint32_t index = slab % RING_STAGES + (empty ? RING_STAGES : 0);
    return (uint32_t)__cvta_generic_to_shared(ring + RING_STAGES * RING_STAGE_BYTES) +
           index * (uint32_t)sizeof(uint64_t);
}

/* Waits until the phase of the barrier with this parity is complete. */
static __device__ __forceinline__ void ring_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void ring_bulk_copy(unsigned char *shared, const void *global,
                                                      uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(RING_PIECE_BYTES), "r"(barrier)
                 : "memory");
}

#else

template <typename word>
static __device__ __forceinline__ void ring_copy_piece(unsigned char *shared, const word *global)
{
#pragma unroll
    for (uint32_t at = 0; at < RING_PIECE_BYTES; at += RING_THREADS * 16) {
        tile_copy_16(shared + at + threadIdx.x * 16,
                     reinterpret_cast<const unsigned char *>(global) + at + threadIdx.x * 16);
    }
}

#endif

static __device__ __forceinline__ void ring_init([[maybe_unused]] unsigned char *ring)
{
#if RING_BULK
    if (threadIdx.x == 0) {
        for (uint32_t stage = 0; stage < RING_STAGES; stage++) {
            asm volatile(
                "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ring_barrier(ring, stage, false)),
                "r"(1));
            asm volatile(
                "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ring_barrier(ring, stage, true)),
                "r"(RING_WARPS));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
}

/* Waits until every warp has finished with the previous slab of the stage. Without bulk copies no
 * wait is needed, because copies are issued after the barrier that follows that slab. */
static __device__ __forceinline__ void ring_await_room([[maybe_unused]] unsigned char *ring,
                                                       [[maybe_unused]] uint32_t slab)
{
#if RING_BULK
    if (slab >= RING_STAGES) {
        ring_wait(ring_barrier(ring, slab, true), (slab / RING_STAGES - 1) % 2);
    }
#endif
}

/* Issues the copies of a slab. With bulk copies, thread 0 issues them alone when the stage is free.
 * Without bulk copies all threads take part, and every iteration commits, so that waiting for all
 * but the newest groups of copies always includes the current slab. */
template <typename word>
static __device__ __forceinline__ void ring_send(unsigned char *ring, uint32_t slab,
                                                 struct ring_source<word> source)
{
    unsigned char *const stage = ring_stage(ring, slab);
#if RING_BULK
    const uint32_t barrier = ring_barrier(ring, slab, false);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(RING_STAGE_BYTES)
                 : "memory");
    ring_bulk_copy(stage, source.left, barrier);
    ring_bulk_copy(stage + RING_PIECE_BYTES, source.left + OPERAND_BLOCK_WORDS, barrier);
    ring_bulk_copy(stage + 2 * RING_PIECE_BYTES, source.right, barrier);
    ring_bulk_copy(stage + 3 * RING_PIECE_BYTES, source.right + source.next_right, barrier);
#else
    ring_copy_piece(stage, source.left);
    ring_copy_piece(stage + RING_PIECE_BYTES, source.left + OPERAND_BLOCK_WORDS);
    ring_copy_piece(stage + 2 * RING_PIECE_BYTES, source.right);
    ring_copy_piece(stage + 3 * RING_PIECE_BYTES, source.right + source.next_right);
    __pipeline_commit();
#endif
}

template <typename word>
static __device__ __forceinline__ void ring_order(unsigned char *ring, uint32_t slab,
                                                  struct ring_source<word> source)
{
    if (!RING_BULK || threadIdx.x == 0) {
        ring_await_room(ring, slab);
        ring_send(ring, slab, source);
    }
}

/* Called instead of ring_order in an iteration that issues no copies. */
static __device__ __forceinline__ void ring_order_none(void)
{
#if !RING_BULK
    __pipeline_commit();
#endif
}

/* Waits until the slab has arrived and, without bulk copies, all threads have left the next
 * stage. */
static __device__ __forceinline__ void ring_await_slab([[maybe_unused]] unsigned char *ring,
                                                       [[maybe_unused]] uint32_t slab)
{
#if RING_BULK
    ring_wait(ring_barrier(ring, slab, false), slab / RING_STAGES % 2);
#else
    __pipeline_wait_prior(RING_STAGES - 2);
    __syncthreads();
#endif
}

/* Signals that this warp has finished with the slab. */
static __device__ __forceinline__ void ring_leave([[maybe_unused]] unsigned char *ring,
                                                  [[maybe_unused]] uint32_t slab)
{
#if RING_BULK
    __syncwarp();
    if (threadIdx.x % WARP_THREADS == 0) {
        asm volatile(
            "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ring_barrier(ring, slab, true))
            : "memory");
    }
#endif
}

/* Synchronizes the block. Must be called between ring_init and the first ring_await_slab; copies
 * may be issued before. Returns true to all threads if `stopped` is true for any of them. */
static __device__ __forceinline__ bool ring_ready(bool stopped)
{
    return __syncthreads_or(stopped) != 0;
}
