/* The element kinds of a distance matrix: little-endian, named as in the .npy type string. Pure
 * functions for any thread; C and CUDA code include this header. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { KIND_AUTO = 0, KIND_I4, KIND_U2, KIND_F4, KIND_F8, KIND_COUNT };

/* Elements that mean "unreachable". Float kinds use +infinity. For i4, 2^30-1 is chosen so that the
 * sum of two unreachable distances still fits an int32. */
#define UNREACHABLE_I4 1073741823
#define UNREACHABLE_U2 65535

/* Entries above this limit count as unreachable and become UNREACHABLE_I4 when the matrix leaves
 * the solver. With negative weights the entry of an unreachable pair decreases during the solve,
 * but never below half of UNREACHABLE_I4. */
#define UNREACHABLE_I4_DRIFT (UNREACHABLE_I4 / 2)

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the size of an element in bytes; 0 for KIND_AUTO. */
size_t kind_size(enum kind kind);
/* Converts between a kind and its name: "i4", "u2", "f4", "f8", "auto". */
const char *kind_name(enum kind kind);
bool kind_from_name(const char *name, enum kind *ret_kind);
bool kind_is_float(enum kind kind);

/* Returns an element of an array as a double, +infinity for unreachable. A double represents every
 * value of every kind exactly. */
static inline double kind_element(enum kind kind, const void *elements, size_t index)
{
    const double infinity = __builtin_inf();
    const int32_t *i4 = (const int32_t *)elements;
    const uint16_t *u2 = (const uint16_t *)elements;
    return kind == KIND_I4   ? (i4[index] != UNREACHABLE_I4 ? i4[index] : infinity)
           : kind == KIND_U2 ? (u2[index] != UNREACHABLE_U2 ? u2[index] : infinity)
           : kind == KIND_F4 ? (double)((const float *)elements)[index]
                             : ((const double *)elements)[index];
}
/* Stores a double as an element, which kind_element reads back. Not available for u2. */
static inline void kind_put_element(enum kind kind, void *elements, size_t index, double value)
{
    if (kind == KIND_I4) {
        ((int32_t *)elements)[index] = value < UNREACHABLE_I4 ? (int32_t)value : UNREACHABLE_I4;
    } else if (kind == KIND_F4) {
        ((float *)elements)[index] = (float)value;
    } else {
        ((double *)elements)[index] = value;
    }
}

#ifdef __cplusplus
}
#endif
