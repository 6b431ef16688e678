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

enum status matrix_narrow(const struct matrix *from, struct matrix *to)
{
    const int32_t *wide = from->elements;
    uint16_t *narrow = to->elements;
    size_t count = (size_t)from->vertex_count * from->vertex_count;

    CHECK(from->kind == KIND_I4 && to->kind == KIND_U2);
    CHECK(from->vertex_count == to->vertex_count);
    for (size_t i = 0; i < count; i++) {
        if (wide[i] == UNREACHABLE_I4) {
            narrow[i] = UNREACHABLE_U2;
        } else if (wide[i] >= 0 && wide[i] < UNREACHABLE_U2) {
            narrow[i] = (uint16_t)wide[i];
        } else {
            return STATUS_WEIGHT_RANGE;
        }
    }
    return STATUS_OK;
}
