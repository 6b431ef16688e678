/* Account of one solve: all that a solver returns beside the matrix. Zero it before; solvers add to
 * it. */
#pragma once

#include "proto/observer.h"
#include "proto/statistics.h"
#include "proto/verification.h"

struct solve_account {
    struct timings timings; /* fill_s, h2d_s, compute_s, d2h_s are the solver's */
    /* By the solver; while it is not done, it may say which rows are proven. */
    struct verification verification;
    /* Storage of the caller, for the matrix of the solve; NULL = not wanted. */
    struct statistics *statistics;
    /* The solver has filled them, all of them: it may also leave them to whoever called it. */
    bool statistics_filled;
};
