#include "proto/verification.h"

#include "proto/status.h"

#include <float.h>

double verification_tolerance(enum kind kind)
{
    return kind == KIND_F4 ? 1e-5 : kind == KIND_F8 ? 1e-12 : 0;
}

double verification_epsilon(enum kind kind)
{
    return kind == KIND_F4 ? (double)FLT_EPSILON : kind == KIND_F8 ? DBL_EPSILON : 0;
}

double verification_least(enum kind kind)
{
    return kind == KIND_F4 ? (double)FLT_MIN : kind == KIND_F8 ? DBL_MIN : 0;
}

uint32_t verification_row(uint32_t vertex_count, uint32_t row_count, uint32_t index)
{
    CHECK(index < row_count && row_count <= vertex_count);
    return (uint32_t)((uint64_t)index * vertex_count / row_count);
}
