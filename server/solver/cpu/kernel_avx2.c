/* The kernel for AVX2, compiled with its own flags: nothing here may run before the processor
 * was asked for it. */
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"

#include <immintrin.h>

/* 16 registers: 12 of the tile, two vectors of the right operand (the addition reads the third from
 * memory), a broadcast and a sum. 2.8 instructions for each vector relaxation; 4 x 2 needs 3.3,
 * more than processors with four vector units and six instructions per cycle can start. */
#define KERNEL_ROWS 4
#define KERNEL_VECTORS 3
#define VECTOR_BYTES 32

#define ELEMENT int32_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) (x)
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define RELAX(entry, left, right)                                                                  \
    (vector_i4) _mm256_min_epi32((__m256i)(entry), (__m256i)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

/* The left element is stored twice: 32 bits are broadcast on the way from memory, 16 are not. Sums
 * of two unreachable numbers fit 16 bits without a sign. */
#define ELEMENT int16_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) ((x)*0x10001)
#define UNREACHABLE NARROW_UNREACHABLE
#define NAME(verb) verb##_narrow
#define RELAX(entry, left, right)                                                                  \
    (vector_narrow) _mm256_min_epu16((__m256i)(entry),                                             \
                                     _mm256_add_epi16(_mm256_set1_epi32(left), (__m256i)(right)))
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT float
#define PACKED_LEFT float
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define RELAX(entry, left, right)                                                                  \
    (vector_f4) _mm256_min_ps((__m256)(entry), (__m256)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT double
#define PACKED_LEFT double
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define RELAX(entry, left, right)                                                                  \
    (vector_f8) _mm256_min_pd((__m256d)(entry), (__m256d)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

const struct cpu_kernel cpu_kernel_avx2 = {
    .isa = "avx2",
    .relaxations_per_s = 30e9,
    .i4 = &operations_i4,
    .i4_signed = &operations_i4,
    .narrow = &operations_narrow,
    .f4 = &operations_f4,
    .f8 = &operations_f8,
};
