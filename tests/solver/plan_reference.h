/* Executes a plan in the simplest way, in doubles, following only proto/plan.h: the reference for
 * executors and plans. Shares no code with either. */
#pragma once

#include "proto/plan.h"
#include "tests/solver/edge_list.h"

/* Returns whether the plan obeys every rule that can be checked without a matrix: a permutation,
 * valid tiles, each tile a pivot once, consistent lists. If not, prints the violated rule on
 * standard error. The plan must have rounds, so it must not be the dense plan. */
bool plan_reference_judge(const struct plan *plan, uint32_t vertex_count);

enum plan_verdict {
    PLAN_SOLVED,
    PLAN_NEGATIVE_CYCLE, /* a pivot tile has a negative entry on its diagonal */
    PLAN_BROKEN          /* reported: pivots of a round depend on each other, or an edge is in no
                          * tile */
};

/* Executes the plan and fills distances (vertex_count^2 entries, by vertex, +infinity for
 * unreachable). Memory that the plan does not fill has invalid values, so that a plan or tile list
 * that relies on it gives wrong distances. */
enum plan_verdict plan_reference_solve(const struct edge_list *list, const struct plan *plan,
                                       double *distances);
