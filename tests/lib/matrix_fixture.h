/* Reads entries of a matrix of any kind. */
#pragma once

#include "proto/matrix.h"

#include <math.h>

/* Reads the distance from row to column; returns false if the column is unreachable. */
static inline bool matrix_distance(const struct matrix *matrix, uint32_t row, uint32_t column,
                                   double *ret_distance)
{
    const double distance =
        kind_element(matrix->kind, matrix->elements, (size_t)row * matrix->vertex_count + column);
    if (isinf(distance)) {
        return false;
    }
    *ret_distance = distance;
    return true;
}
