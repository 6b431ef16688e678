/* The element kinds of a distance matrix: little-endian, named as in the .npy type string. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum kind { KIND_AUTO = 0, KIND_I4, KIND_U2, KIND_F4, KIND_F8, KIND_COUNT };

/* Unreachable: one value per integer kind; for floats it is +infinity. 2^30-1 so that the sum of
 * two unreachable distances still fits an int32. */
#define UNREACHABLE_I4 1073741823
#define UNREACHABLE_U2 65535

/* Every entry above this is unreachable and made canonical when the matrix leaves the solver: with
 * negative weights an unreachable entry drifts below UNREACHABLE_I4, never below half of it. */
#define UNREACHABLE_I4_DRIFT (UNREACHABLE_I4 / 2)

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes per element; 0 for KIND_AUTO. */
size_t kind_size(enum kind kind);
/* "i4", "u2", "f4", "f8", "auto". */
const char *kind_name(enum kind kind);
bool kind_from_name(const char *name, enum kind *ret_kind);
bool kind_is_float(enum kind kind);

#ifdef __cplusplus
}
#endif
