#include "proto/matrix.h"

enum status matrix_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes)
{
    size_t bytes;

    if (__builtin_mul_overflow((size_t)vertex_count, (size_t)vertex_count, &bytes) ||
        __builtin_mul_overflow(bytes, kind_size(kind), &bytes)) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}
