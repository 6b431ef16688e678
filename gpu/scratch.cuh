/* The device memory that a solve without panels has beside its matrix: one piece, first the solve's
 * and then that of the check of its result. */
#pragma once

#include "gpu/kernel_flow.cuh"
#include "gpu/matrix_certificate.cuh"

/* flow: it is one launch without barriers; certified: its result is checked. */
static inline uint64_t scratch_bytes(uint32_t vertex_count, uint64_t element_bytes, bool flow,
                                     bool certified)
{
    const uint64_t solve = flow ? flow_bytes(vertex_count) : 0;
    const uint64_t certificate = certified ? certificate_bytes_min(vertex_count, element_bytes) : 0;
    return solve > certificate ? solve : certificate;
}
