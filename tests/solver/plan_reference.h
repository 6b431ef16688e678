/* Executes a plan in the plainest way, in doubles, by the words of proto/plan.h and nothing else:
 * what real executors and plans are compared with. Shares no code with either. */
#pragma once

#include "proto/plan.h"
#include "tests/solver/edge_list.h"

/* The plan keeps every rule that needs no matrix to be judged: a permutation, its tiles, each tile
 * a pivot once, lists that fit together. Else false, with the rule on standard error. A plan with
 * rounds, so not the dense one. */
bool plan_reference_judge(const struct plan *plan, uint32_t vertex_count);

enum plan_verdict {
    PLAN_SOLVED,
    PLAN_NEGATIVE_CYCLE, /* a pivot tile has an entry below 0 on its diagonal */
    PLAN_BROKEN          /* pivots of a round depend on each other, or an edge lies nowhere; told */
};

/* distances: vertex_count^2, by vertex, +infinity where unreachable. Storage that the plan does not
 * fill has garbage in it, so that a plan or tile list that leans on it gives wrong distances. */
enum plan_verdict plan_reference_solve(const struct edge_list *list, const struct plan *plan,
                                       double *distances);
