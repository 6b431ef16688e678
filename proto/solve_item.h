/* One graph of a batch: what is asked of a solver for it, and what the solver says. All that it
 * points to is the caller's, and nothing is shared between two items of a batch. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/solve_account.h"
#include "proto/solve_options.h"

struct solve_item {
    const struct graph *graph;
    const struct plan *plan;
    struct solve_options options;
    /* NULL = nobody watches. Its functions are called by whichever thread solves the item. */
    const struct observer *observer;
    struct matrix *matrix;
    /* What a GPU took for many items at once is shared out to them in proportion to n^3, so that
     * the sum over a batch is its time; on the CPU each has the time of the thread that had it. */
    struct solve_account *account;
    enum status status; /* out: as solve gives it for a single graph */
};
