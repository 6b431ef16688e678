/* One whole solve to a matrix: plan, solver, report of a negative cycle, narrowing, certificate.
 * The daemon's worker and the command apsp call it, on the thread that owns the solver. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solver.h"

/* Largest number of rows that `verify` checks, spread evenly over the matrix. O(m) per row. */
#define SOLVE_VERIFY_ROWS 1024

struct solve_request {
    enum kind kind;              /* resolved by graph_choose_kind, never KIND_AUTO */
    bool verify;                 /* prove the matrix by a certificate before the solve succeeds */
    struct order_record *record; /* see planner_make; NULL = none */
    uint32_t threads;            /* threads that compute a hierarchy; 0 = one per core */
    const struct observer *observer; /* NULL = none */
};

/* The graph that a solve computes for distances of a kind: decimal weights are scaled to integers,
 * and a directed graph is folded to an undirected one if possible. Borrows from the graph. */
struct solve_subject {
    const struct graph *graph; /* folded, or else scaled, or else the original graph */
    struct graph *scaled;
    struct graph *folded;
    struct scaling scaling;
};
/* folds: fold the graph if possible. Finish the subject also on failure. STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_subject_init(const struct graph *graph, enum kind kind, bool folds,
                                          struct solve_subject *ret_subject);
void solve_subject_finish(struct solve_subject *subject);

/* Outcome of a solve, successful or not. The caller zeroes the struct before the solve and calls
 * solve_outcome_finish after it. To get statistics, the caller sets account.statistics, with
 * request->kind; they are filled on STATUS_OK. */
struct solve_outcome {
    struct solve_account account;
    struct solver_device device;
    struct plan_summary plan;
    uint32_t *cycle; /* rows of a negative cycle in walking order, owned */
    size_t cycle_length;
    double cycle_weight;
    uint64_t arc_count; /* of a hierarchy */
};

/* Estimates a solve of this graph. The function makes the plan that the solve would use, and
 * summarizes it in ret_plan. kind: one that the solver computes, or u2 if it computes i4. Any
 * thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_estimate_planned(const struct solver *solver,
                                              const struct graph *graph, enum kind kind,
                                              struct solver_estimate *ret_estimate,
                                              struct plan_summary *ret_plan);

/* Solves the graph. matrix: storage of request->kind and the graph's size. On failure reterr has
 * the reason, and for STATUS_NEGATIVE_CYCLE the outcome has the vertices of the cycle. */
MUST_CHECK enum status solve_graph(struct solver *solver, const struct graph *graph,
                                   const struct solve_request *request, struct matrix *matrix,
                                   struct solve_outcome *outcome, struct problem *reterr);

void solve_outcome_finish(struct solve_outcome *outcome);

/* Refuses a graph with a negative edge from a vertex to itself, and names the vertex. If the
 * arithmetic rounds, refuses any negative cycle, which rounded sums may hide. */
MUST_CHECK enum status solve_refuse_unsolvable(const struct graph *graph,
                                               const struct solve_subject *subject,
                                               struct solve_outcome *outcome,
                                               struct problem *reterr);
/* Interprets the status of a solve. STATUS_NEGATIVE_CYCLE: finds and names the cycle.
 * STATUS_WEIGHT_RANGE replaces STATUS_NEGATIVE_CYCLE or STATUS_NOT_VERIFIED if the numbers round
 * and cannot decide. Other statuses are returned unchanged. */
MUST_CHECK enum status solve_judge(const struct graph *graph, const struct solve_subject *subject,
                                   enum status status, struct solve_outcome *outcome,
                                   struct problem *reterr);
