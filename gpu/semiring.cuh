/* The tropical semiring in the number formats that the kernels compute in: addition is the sum of
 * two lengths, min chooses the shorter.
 *
 * A semiring says what the matrix holds (`element`), what a register of the interior phase holds
 * (`word`: one element, or two that lie side by side in a row), and what the operations are on
 * each. `scalar` is the format in which single tiles are closed.
 *
 * After a negative cycle numbers may wrap around: the solve is over, and they are thrown away.
 *
 * Measured on an H200 (132 multiprocessors, 1.98 GHz), in registers alone, T = 1e12 relaxations per
 * second: int32 VIADDMNMX 16.6, 16-bit pairs 33.3, FADD + FMNMX 16.6, two FADD + VIMNMX3 22.1. */
#pragma once

#include "gpu/tile.cuh"

#include <math.h>

/* int32. Unreachable + unreachable stays within an int32. */
struct semiring_i4 {
    typedef int32_t element;
    typedef int32_t word;
    typedef int32_t scalar;

    static __device__ __forceinline__ element unreachable(void)
    {
        return UNREACHABLE_I4;
    }
    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return __viaddmin_s32(to, from, distance);
    }
    /* Two pivots at once. VIADDMNMX keeps the ALU pipe busy alone while the multiplier pipe is
     * idle; so in two columns of eight the sums are made there, as to * 1 + from, and one VIMNMX3
     * replaces two of the fused instructions. `column`, 0 to 7, is known to the compiler; `one`,
     * which is 1, only at run time, or it would see through it. */
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        if (column < 2) {
            return __vimin3_s32(distance, to0 * one + from0, to1 * one + from1);
        }
        return __viaddmin_s32(to1, from1, __viaddmin_s32(to0, from0, distance));
    }
};

/* float32 of which none is below 0: their order is the order of their bits read as integers, so
 * that one three-way integer minimum serves two pivots. */
struct semiring_f4 {
    typedef float element;
    typedef float word;
    typedef float scalar;

    static __device__ __forceinline__ element unreachable(void)
    {
        return INFINITY;
    }
    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return fminf(distance, to + from);
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        (void)column;
        (void)one;
        return __int_as_float(__vimin3_s32(__float_as_int(distance), __float_as_int(to0 + from0),
                                           __float_as_int(to1 + from1)));
    }
};

/* float32 of any sign. */
struct semiring_f4_signed : semiring_f4 {
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        (void)column;
        (void)one;
        return fminf(fminf(distance, to0 + from0), to1 + from1);
    }
};

struct semiring_f8 {
    typedef double element;
    typedef double word;
    typedef double scalar;

    static __device__ __forceinline__ element unreachable(void)
    {
        return INFINITY;
    }
    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        const scalar sum = to + from;
        return sum < distance ? sum : distance;
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        (void)column;
        (void)one;
        return relax(relax(distance, to0, from0), to1, from1);
    }
};

/* 16 bits, unsigned, two columns in a word: only where every finite distance is proven to fit. The
 * left operand of a product holds its element twice, so that no word has to be permuted. */
struct semiring_u2 {
    typedef uint16_t element;
    typedef uint32_t word;
    typedef int32_t scalar;

    static __device__ __forceinline__ element unreachable(void)
    {
        return NARROW_UNREACHABLE;
    }
    static __device__ __forceinline__ scalar relax(scalar distance, scalar to, scalar from)
    {
        return __viaddmin_s32(to, from, distance);
    }
    static __device__ __forceinline__ word relax_pair(word distance, word to0, word from0, word to1,
                                                      word from1, uint32_t column, int32_t one)
    {
        (void)column;
        (void)one;
        return __viaddmin_u16x2(to1, from1, __viaddmin_u16x2(to0, from0, distance));
    }
};

/* One pivot on words. */
template <typename semiring>
static __device__ __forceinline__ typename semiring::word
semiring_relax_word(typename semiring::word distance, typename semiring::word to,
                    typename semiring::word from)
{
    return semiring::relax(distance, to, from);
}

template <>
__device__ __forceinline__ uint32_t semiring_relax_word<semiring_u2>(uint32_t distance, uint32_t to,
                                                                     uint32_t from)
{
    return __viaddmin_u16x2(to, from, distance);
}

/* Elements side by side in a word. */
template <typename semiring> static __host__ __device__ constexpr uint32_t semiring_packing(void)
{
    return sizeof(typename semiring::word) / sizeof(typename semiring::element);
}
