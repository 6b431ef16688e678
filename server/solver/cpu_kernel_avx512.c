/* The kernel for AVX-512, compiled with its own flags: nothing here may run before the processor
 * was asked for it. */
#include "server/solver/cpu_kernel.h"

#include <immintrin.h>

#define KERNEL_ROWS 8
#define VECTOR_BYTES 64

#define ELEMENT int32_t
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define MINIMUM(a, b) (vector_i4) _mm512_min_epi32((__m512i)(a), (__m512i)(b))
#include "server/solver/cpu_kernel_body.h"

#define ELEMENT float
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define MINIMUM(a, b) (vector_f4) _mm512_min_ps((__m512)(a), (__m512)(b))
#include "server/solver/cpu_kernel_body.h"

#define ELEMENT double
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define MINIMUM(a, b) (vector_f8) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#include "server/solver/cpu_kernel_body.h"

const struct cpu_kernel cpu_kernel_avx512 = {
    .isa = "avx512",
    .relaxations_per_s = 40e9,
    .operations_i4 = {pack_left_i4, pack_right_i4, multiply_i4, close_i4, chain_i4},
    .operations_f4 = {pack_left_f4, pack_right_f4, multiply_f4, close_f4, chain_f4},
    .operations_f8 = {pack_left_f8, pack_right_f8, multiply_f8, close_f8, chain_f8},
};
