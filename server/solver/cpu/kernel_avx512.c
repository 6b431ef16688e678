/* The kernel for AVX-512 (F and BW), compiled with flags for AVX-512: no function in this file may
 * be called unless the processor supports it. */
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"

#include <immintrin.h>

#define KERNEL_ROWS 8
#define KERNEL_VECTORS 2
#define VECTOR_BYTES 64

#define ELEMENT int32_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) (x)
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define RELAX(entry, left, right)                                                                  \
    (vector_i4) _mm512_min_epi32((__m512i)(entry), (__m512i)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

/* The left element is stored twice, because a load can broadcast 32 bits but not 16. The sum of two
 * unreachable numbers fits in unsigned 16 bits. */
#define ELEMENT int16_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) ((x)*0x10001)
#define UNREACHABLE NARROW_UNREACHABLE
#define NAME(verb) verb##_narrow
#define RELAX(entry, left, right)                                                                  \
    (vector_narrow) _mm512_min_epu16((__m512i)(entry),                                             \
                                     _mm512_add_epi16(_mm512_set1_epi32(left), (__m512i)(right)))
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT float
#define PACKED_LEFT float
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define RELAX(entry, left, right)                                                                  \
    (vector_f4) _mm512_min_ps((__m512)(entry), (__m512)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT double
#define PACKED_LEFT double
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define RELAX(entry, left, right)                                                                  \
    (vector_f8) _mm512_min_pd((__m512d)(entry), (__m512d)((left) + (right)))
#include "server/solver/cpu/kernel_body.h"

const struct cpu_kernel cpu_kernel_avx512 = {
    .isa = "avx512",
    .relaxations_per_s = 45e9,
    .i4 = &operations_i4,
    .i4_signed = &operations_i4,
    .narrow = &operations_narrow,
    .f4 = &operations_f4,
    .f8 = &operations_f8,
};
