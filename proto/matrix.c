#include "proto/matrix.h"

#include <math.h>

enum status matrix_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes)
{
    size_t bytes;

    CHECK(kind != KIND_AUTO);
    if (__builtin_mul_overflow((size_t)vertex_count, (size_t)vertex_count, &bytes) ||
        __builtin_mul_overflow(bytes, kind_size(kind), &bytes)) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}

bool matrix_distance(const struct matrix *matrix, uint32_t row, uint32_t column,
                     double *ret_distance)
{
    size_t index = (size_t)row * matrix->vertex_count + column;
    CHECK(matrix->kind != KIND_AUTO && matrix->kind != KIND_COUNT);
    CHECK(row < matrix->vertex_count && column < matrix->vertex_count);
    const double distance = kind_element(matrix->kind, matrix->elements, index);
    if (isinf(distance)) {
        return false;
    }
    *ret_distance = distance;
    return true;
}
