/* The kernel for any processor, with 16-byte vectors of the compiler's vector extension. The
 * extension has no vector minimum, so a comparison selects bits; on x86 the kernel uses the SSE2
 * instructions that every 64-bit processor has. */
#include "proto/solve.h"
#include "server/solver/cpu/kernel.h"

#define KERNEL_ROWS 4
#define KERNEL_VECTORS 2
#define VECTOR_BYTES 16

typedef long long select_mask __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* Selects in each lane a if a < b, else b. All vectors have the same type. */
#define SELECT_LESS(vector, a, b)                                                                  \
    (vector)(((select_mask)(a) & (select_mask)((a) < (b))) |                                       \
             ((select_mask)(b) & ~(select_mask)((a) < (b))))

#ifdef __SSE2__
#include <emmintrin.h>
/* Non-negative i4 have the same order as the floats with the same bits, so MINPS can compare them.
 * Two unreachable numbers add up to the bits of a NaN, for which MINPS returns the entry. */
#define MINIMUM_I4(entry, sum) (vector_i4) _mm_min_ps((__m128)(sum), (__m128)(entry))
#define RELAX_NARROW(entry, left, right)                                                           \
    (vector_narrow)                                                                                \
        _mm_min_epi16((__m128i)(entry), _mm_adds_epi16(_mm_set1_epi32(left), (__m128i)(right)))
#define MINIMUM_F4(entry, sum) (vector_f4) _mm_min_ps((__m128)(entry), (__m128)(sum))
#define MINIMUM_F8(entry, sum) (vector_f8) _mm_min_pd((__m128d)(entry), (__m128d)(sum))
#else
typedef uint16_t unsigned_narrow __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t doubled_narrow __attribute__((vector_size(VECTOR_BYTES), may_alias));
#define MINIMUM_I4(entry, sum) SELECT_LESS(vector_i4, sum, entry)
/* The addition is unsigned, so that the sum of two unreachable numbers fits in 16 bits. */
#define SUM_NARROW(left, right)                                                                    \
    ((unsigned_narrow)((left) - (doubled_narrow){0}) + (unsigned_narrow)(right))
#define RELAX_NARROW(entry, left, right)                                                           \
    SELECT_LESS(vector_narrow, SUM_NARROW(left, right), (unsigned_narrow)(entry))
#define MINIMUM_F4(entry, sum) SELECT_LESS(vector_f4, sum, entry)
#define MINIMUM_F8(entry, sum) SELECT_LESS(vector_f8, sum, entry)
#endif

#define RELAX_I4(entry, left, right) MINIMUM_I4(entry, (left) + (right))
#define RELAX_I4_SIGNED(entry, left, right) SELECT_LESS(vector_i4_signed, (left) + (right), entry)
#define RELAX_F4(entry, left, right) MINIMUM_F4(entry, (left) + (right))
#define RELAX_F8(entry, left, right) MINIMUM_F8(entry, (left) + (right))
#include "server/solver/cpu/kernel_arithmetics.h"

const struct cpu_kernel cpu_kernel_portable = {
    .isa = "portable",
    .relaxations_per_s = 6e9,
    .of = {[ARITHMETIC_I4] = &operations_i4,
           [ARITHMETIC_NARROW] = &operations_narrow,
           [ARITHMETIC_F4] = &operations_f4,
           [ARITHMETIC_F8] = &operations_f8},
    .i4_signed = &operations_i4_signed,
};
