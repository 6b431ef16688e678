/* Options of one solve, beside the plan and the kind of its matrix. All zero: the distances and
 * nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct solve_options {
    /* Lift a diagonal entry below 0 back to 0: float rounding on a cycle of length 0. Otherwise
     * such an entry ends the solve with STATUS_NEGATIVE_CYCLE. */
    bool clamp_diagonal;
    /* Proven by the caller: no weight is below 0 and every finite distance is at most
     * NARROW_DISTANCE_MAX, so that a solver may compute an integer matrix in 16 bits. */
    bool narrow;
    /* The graph is undirected: the matrix is symmetric and half of it is enough to compute. */
    bool symmetric;
    /* Check the matrix by certificate before it leaves the device, and say so in the account. A
     * solver without a device leaves that to its caller. */
    bool verify;
};

/* 16-bit unreachable is 2^15-1, so that the sum of two still fits. */
#define NARROW_UNREACHABLE 32767
#define NARROW_DISTANCE_MAX (NARROW_UNREACHABLE - 1)
