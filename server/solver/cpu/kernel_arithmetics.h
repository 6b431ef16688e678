/* Compiles kernel_body.h once for each arithmetic. This file has no include guard. Before it is
 * included, kernel_<isa>.c defines the macros that kernel_body.h leaves defined, and RELAX for each
 * arithmetic: RELAX_I4, RELAX_NARROW, RELAX_F4, RELAX_F8, and RELAX_I4_SIGNED if RELAX_I4 is only
 * for non-negative numbers. */

#define ELEMENT int32_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) (x)
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define RELAX RELAX_I4
#include "server/solver/cpu/kernel_body.h"

#ifdef RELAX_I4_SIGNED
#define ELEMENT int32_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) (x)
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4_signed
#define RELAX RELAX_I4_SIGNED
#include "server/solver/cpu/kernel_body.h"
#endif

/* The left element is stored twice, because a load can broadcast 32 bits but not 16. */
#define ELEMENT int16_t
#define PACKED_LEFT int32_t
#define LEFT_OF(x) ((x)*0x10001)
#define UNREACHABLE NARROW_UNREACHABLE
#define NAME(verb) verb##_narrow
#define RELAX RELAX_NARROW
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT float
#define PACKED_LEFT float
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define RELAX RELAX_F4
#include "server/solver/cpu/kernel_body.h"

#define ELEMENT double
#define PACKED_LEFT double
#define LEFT_OF(x) (x)
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define RELAX RELAX_F8
#include "server/solver/cpu/kernel_body.h"
