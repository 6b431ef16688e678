/* Executes a plan in the simplest way, in doubles. It follows only the rules in proto/plan.h, and
 * is the reference for the executors and the planner, with which it shares no code. */
#pragma once

#include "proto/plan.h"
#include "tests/solver/edge_list.h"

/* Returns whether the plan obeys every rule that can be checked without a matrix: the vertex order
 * is a permutation, the tiles are valid, each tile is a pivot once, and the lists are consistent.
 * If not, prints the violated rule on standard error. The plan must have rounds, so it must not be
 * the dense plan. */
bool plan_reference_judge(const struct plan *plan, uint32_t vertex_count);

enum plan_verdict {
    PLAN_SOLVED,
    PLAN_NEGATIVE_CYCLE, /* a pivot tile has a negative entry on its diagonal */
    PLAN_BROKEN          /* pivots of a round depend on each other, or an edge is in no tile;
                          * the reason is printed on standard error */
};

/* Executes the plan and fills distances (vertex_count^2 entries, by vertex, +infinity for
 * unreachable). Entries that the plan does not fill have an invalid value, so a plan that reads one
 * gives wrong distances. */
enum plan_verdict plan_reference_solve(const struct edge_list *list, const struct plan *plan,
                                       double *distances);
