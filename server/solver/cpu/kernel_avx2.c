/* The kernel for AVX2, compiled with flags for AVX2: no function in this file may be called unless
 * the processor supports AVX2. */
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"

#include <immintrin.h>

/* The tile uses all 16 registers: 12 for the tile, two for vectors of the right operand (the
 * addition reads the third from memory), one for a broadcast and one for a sum. A 4 x 3 tile needs
 * 2.8 instructions per vector relaxation; a 4 x 2 tile needs 3.3, more than processors with four
 * vector units and six instructions per cycle can issue. */
#define KERNEL_ROWS 4
#define KERNEL_VECTORS 3
#define VECTOR_BYTES 32

#define RELAX_I4(entry, left, right)                                                               \
    (vector_i4) _mm256_min_epi32((__m256i)(entry), (__m256i)((left) + (right)))
/* The comparison is unsigned, so that the sum of two unreachable numbers fits in 16 bits. */
#define RELAX_NARROW(entry, left, right)                                                           \
    (vector_narrow) _mm256_min_epu16((__m256i)(entry),                                             \
                                     _mm256_add_epi16(_mm256_set1_epi32(left), (__m256i)(right)))
#define RELAX_F4(entry, left, right)                                                               \
    (vector_f4) _mm256_min_ps((__m256)(entry), (__m256)((left) + (right)))
#define RELAX_F8(entry, left, right)                                                               \
    (vector_f8) _mm256_min_pd((__m256d)(entry), (__m256d)((left) + (right)))
#include "server/solver/cpu/kernel_arithmetics.h"

const struct cpu_kernel cpu_kernel_avx2 = {
    .isa = "avx2",
    .relaxations_per_s = 30e9,
    .of = {[ARITHMETIC_I4] = &operations_i4,
           [ARITHMETIC_NARROW] = &operations_narrow,
           [ARITHMETIC_F4] = &operations_f4,
           [ARITHMETIC_F8] = &operations_f8},
    .i4_signed = &operations_i4,
};
