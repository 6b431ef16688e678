/* The min-plus (tropical) semiring in each number format of the kernels: its product adds the
 * lengths of two paths, and its sum keeps the shorter of two paths.
 *
 * A semiring defines the type of matrix elements (`element`), the type of registers in the interior
 * phase (`word`: one element, or two neighbours in a row), and the operations on both. `scalar` is
 * the type in which diagonal tiles are closed.
 *
 * After a negative cycle, numbers may wrap around. This is harmless, because the solve has failed
 * and its results are discarded.
 *
 * Rates in registers, measured on an H200 (132 multiprocessors, 1.98 GHz), in 1e12 relaxations per
 * second: int32 VIADDMNMX 16.6, 16-bit pairs 33.3, FADD + FMNMX 16.6, two FADD + VIMNMX3 22.1. */
#pragma once

#include "gpu/tile.cuh"

#include <math.h>
#include <type_traits>

/* Returns the distance of an unreachable vertex. */
template <typename element> static __device__ __forceinline__ element semiring_unreachable(void)
{
    if constexpr (std::is_same<element, int32_t>::value) {
        return UNREACHABLE_I4;
    } else if constexpr (std::is_same<element, uint16_t>::value) {
        return NARROW_UNREACHABLE;
    } else {
        return INFINITY;
    }
}

/* The semiring of int32. The sum of two unreachable distances fits an int32. */
struct semiring_i4 {
    typedef int32_t element;
    typedef int32_t word;
    typedef int32_t scalar;

    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return __viaddmin_s32(to, from, distance);
    }
    /* Relaxes over two pivots at once. VIADDMNMX uses only the ALU pipe and leaves the multiplier
     * pipe idle. So in two of eight columns the multiplier computes the sums, as to * one + from,
     * and one VIMNMX3 replaces two VIADDMNMX. The compiler knows `column`, 0 to 7. It must not know
     * that `one` is 1, or it would turn the multiplications into additions. */
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        if (column < 2) {
            return __vimin3_s32(distance, to0 * one + from0, to1 * one + from1);
        }
        return __viaddmin_s32(to1, from1, __viaddmin_s32(to0, from0, distance));
    }
};

/* The semiring of non-negative float32. Such floats have the same order as their bits read as
 * integers, so one three-way integer minimum relaxes over two pivots. */
struct semiring_f4 {
    typedef float element;
    typedef float word;
    typedef float scalar;

    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return fminf(distance, to + from);
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t, int32_t)
    {
        return __int_as_float(__vimin3_s32(__float_as_int(distance), __float_as_int(to0 + from0),
                                           __float_as_int(to1 + from1)));
    }
};

/* The semiring of float32 of any sign. */
struct semiring_f4_signed : semiring_f4 {
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t, int32_t)
    {
        return fminf(fminf(distance, to0 + from0), to1 + from1);
    }
};

struct semiring_f8 {
    typedef double element;
    typedef double word;
    typedef double scalar;

    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        const scalar sum = to + from;
        return sum < distance ? sum : distance;
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t, int32_t)
    {
        return relax(relax(distance, to0, from0), to1, from1);
    }
};

/* The semiring of unsigned 16-bit integers, two columns per word. It is used only if every finite
 * distance is proven to fit. The left operand of a product contains each element twice, so that
 * words need not be permuted. */
struct semiring_u2 {
    typedef uint16_t element;
    typedef uint32_t word;
    typedef int32_t scalar;

    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return __viaddmin_s32(to, from, distance);
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t, int32_t)
    {
        return __viaddmin_u16x2(to1, from1, __viaddmin_u16x2(to0, from0, distance));
    }
};

/* Returns the number of elements per word. */
template <typename semiring> static __host__ __device__ constexpr uint32_t semiring_packing(void)
{
    return sizeof(typename semiring::word) / sizeof(typename semiring::element);
}

/* Relaxes a word over one pivot. */
template <typename semiring>
static __device__ __forceinline__ typename semiring::word
semiring_relax_word(typename semiring::word distance, typename semiring::word to,
                    typename semiring::word from)
{
    if constexpr (semiring_packing<semiring>() == 2) {
        return __viaddmin_u16x2(to, from, distance);
    } else {
        return semiring::relax(distance, to, from);
    }
}

/* The operands of the interior phase: the panels of a round, copied from the matrix into the layout
 * that the interior kernel reads, so that later phases may already change the matrix.
 *
 * A panel is cut into blocks of 64 words over GPU_TILE pivots: a block holds 64 consecutive words
 * of each pivot, pivot after pivot, GPU_TILE * 64 words without a gap. Any run of pivots of a block
 * is contiguous, so one bulk copy transfers it.
 *
 *   left:  64 rows of the column panel, transposed. A word has one element (a 16-bit one twice).
 *   right: 64 words of the row panel. A word has one element, or two neighbouring 16-bit ones.
 * A tile has two left blocks and two right blocks, or one right block of 16-bit elements. If the
 * matrix is symmetric and a word is one element, left and right are equal and are stored once. */

/* Number of words of an operand block for each pivot. */
#define OPERAND_WORDS 64
#define OPERAND_BLOCK_WORDS (GPU_TILE * OPERAND_WORDS)
/* Maximum number of pivot tiles over which one launch of the interior phase relaxes. */
#define OPERAND_PIVOTS 2

static_assert(GPU_TILE == 2 * OPERAND_WORDS, "a tile has two left blocks");

/* The operands made from the panels of one pivot tile. */
template <typename word> struct operand {
    word *left;
    word *right;
};

/* Returns the number of right blocks per tile. */
template <typename semiring>
static __host__ __device__ constexpr uint32_t operand_right_blocks(void)
{
    return GPU_TILE / OPERAND_WORDS / semiring_packing<semiring>();
}

/* Returns the number of words of all left panels, or all right panels, of one pivot tile. */
static inline uint64_t operand_words(uint64_t tile_count, uint32_t blocks_per_tile)
{
    return tile_count * blocks_per_tile * OPERAND_BLOCK_WORDS;
}
