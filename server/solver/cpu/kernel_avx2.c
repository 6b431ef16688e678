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

#define ELEMENT int32_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) (x)
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define RELAX(entry, left, right)                                                                  \
    (vector_i4) _mm256_min_epi32((__m256i)(entry), (__m256i)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

/* The left element is stored twice, because a load can broadcast 32 bits but not 16. The sum of two
 * unreachable numbers fits in unsigned 16 bits. */
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
