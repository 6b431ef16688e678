/* The kernel for any processor: 16-byte vectors in the compiler's own notation. There is no vector
 * minimum in it, so it is a comparison that selects bits. */
#include "server/solver/cpu_kernel.h"

#define KERNEL_ROWS 4
#define VECTOR_BYTES 16

#define SELECT_MINIMUM(vector, mask, a, b)                                                         \
    (vector)(((mask)(a) & (mask)((a) < (b))) | ((mask)(b) & ~(mask)((a) < (b))))

#define ELEMENT int32_t
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define MINIMUM(a, b) SELECT_MINIMUM(NAME(vector), NAME(mask), a, b)
#include "server/solver/cpu_kernel_body.h"

#define ELEMENT float
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define MINIMUM(a, b) SELECT_MINIMUM(NAME(vector), NAME(mask), a, b)
#include "server/solver/cpu_kernel_body.h"

#define ELEMENT double
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define MINIMUM(a, b) SELECT_MINIMUM(NAME(vector), NAME(mask), a, b)
#include "server/solver/cpu_kernel_body.h"

const struct cpu_kernel cpu_kernel_portable = {
    .isa = "portable",
    .relaxations_per_s = 3e9,
    .operations_i4 = {pack_left_i4, pack_right_i4, multiply_i4, close_i4, chain_i4},
    .operations_f4 = {pack_left_f4, pack_right_f4, multiply_f4, close_f4, chain_f4},
    .operations_f8 = {pack_left_f8, pack_right_f8, multiply_f8, close_f8, chain_f8},
};
