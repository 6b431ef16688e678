/* The kernel for AVX-512 (F and BW), compiled with flags for AVX-512: no function in this file may
 * be called unless the processor supports AVX-512. */
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"

#include <immintrin.h>

#define KERNEL_ROWS 8
#define KERNEL_VECTORS 2
#define VECTOR_BYTES 64

#define RELAX_I4(entry, left, right)                                                               \
    (vector_i4) _mm512_min_epi32((__m512i)(entry), (__m512i)((left) + (right)))
/* The comparison is unsigned, so that the sum of two unreachable numbers fits in 16 bits. */
#define RELAX_NARROW(entry, left, right)                                                           \
    (vector_narrow) _mm512_min_epu16((__m512i)(entry),                                             \
                                     _mm512_add_epi16(_mm512_set1_epi32(left), (__m512i)(right)))
#define RELAX_F4(entry, left, right)                                                               \
    (vector_f4) _mm512_min_ps((__m512)(entry), (__m512)((left) + (right)))
#define RELAX_F8(entry, left, right)                                                               \
    (vector_f8) _mm512_min_pd((__m512d)(entry), (__m512d)((left) + (right)))
#include "server/solver/cpu/kernel_arithmetics.h"

const struct cpu_kernel cpu_kernel_avx512 = {
    .isa = "avx512",
    .relaxations_per_s = 45e9,
    .of = {[ARITHMETIC_I4] = &operations_i4,
           [ARITHMETIC_NARROW] = &operations_narrow,
           [ARITHMETIC_F4] = &operations_f4,
           [ARITHMETIC_F8] = &operations_f8},
    .i4_signed = &operations_i4,
};
