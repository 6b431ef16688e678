/* One whole solve, as both the daemon's worker and the one-shot command run it: plan, solver,
 * negative cycle by name, narrowing, certificate. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solver.h"

/* Rows that verify checks, spread evenly: all of a smaller matrix. O(m) each. */
#define SOLVE_VERIFY_ROWS 1024

struct solve_request {
    enum kind kind;                      /* resolved by graph_choose_kind, never KIND_AUTO */
    bool verify;                         /* check by certificate before it counts */
    struct order_record *record;         /* see planner_make; NULL = none */
    const struct hierarchy_shape *shape; /* the known shape of a hierarchy; NULL = none */
    uint32_t threads;                    /* threads for a hierarchy; 0 = one a core */
    const struct observer *observer;     /* NULL = none */
};

/* The graph that a solve computes, for distances of a kind: with integers in place of decimals, and
 * undirected where it folds and can. Borrows from the graph. */
struct solve_subject {
    const struct graph *graph; /* the last of these that is there */
    struct graph *scaled;
    struct graph *folded;
    struct scaling scaling;
};
/* STATUS_NO_MEMORY leaves it fit to be finished. */
MUST_CHECK enum status solve_subject_init(const struct graph *graph, enum kind kind, bool folds,
                                          struct solve_subject *ret_subject);
void solve_subject_finish(struct solve_subject *subject);

/* Outcome of a solve, successful or not. Zero it before; solve_outcome_finish frees. To get
 * statistics set account.statistics, of request->kind: filled on STATUS_OK. */
struct solve_outcome {
    struct solve_account account;
    struct solver_device device;
    struct plan_summary plan;
    uint32_t *cycle; /* rows of a negative cycle in walking order, owned */
    size_t cycle_length;
    double cycle_weight;
    uint64_t arc_count; /* arcs of a hierarchy */
};

/* Estimates a solve of this graph with the plan that it would have, which is made for this and
 * summarized in ret_plan. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_estimate_planned(const struct solver *solver,
                                              const struct graph *graph, enum kind kind,
                                              struct solver_estimate *ret_estimate,
                                              struct plan_summary *ret_plan);

/* matrix: storage of request->kind and the graph's size. On failure reterr says why, and for
 * STATUS_NEGATIVE_CYCLE the outcome names the cycle. */
MUST_CHECK enum status solve_graph(struct solver *solver, const struct graph *graph,
                                   const struct solve_request *request, struct matrix *matrix,
                                   struct solve_outcome *outcome, struct problem *reterr);

/* Prints the cycle's vertex names as a JSON array, which the caller frees; NULL without a cycle,
 * names or memory. */
char *solve_outcome_print_cycle(const struct solve_outcome *outcome,
                                const struct vertex_names *names);
void solve_outcome_finish(struct solve_outcome *outcome);

/* Refuses, with its name, an edge from a vertex to itself below 0, and before a solve in numbers
 * that round any negative cycle, which their sums may not show. */
MUST_CHECK enum status solve_refuse_unsolvable(const struct graph *graph,
                                               const struct solve_subject *subject,
                                               const struct observer *observer,
                                               struct solve_outcome *outcome,
                                               struct problem *reterr);
/* After a solve that ended with this status: names the negative cycle that the solver reported, and
 * refuses distances that rounded numbers cannot prove. Any other status is returned unchanged. */
MUST_CHECK enum status solve_judge(const struct graph *graph, const struct solve_subject *subject,
                                   const struct observer *observer, enum status status,
                                   struct solve_outcome *outcome, struct problem *reterr);
/* Names a negative cycle of the graph that a solver has reported. STATUS_NEGATIVE_CYCLE, or
 * STATUS_NOT_VERIFIED if there is none, STATUS_CANCELLED by the observer, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_confirm_cycle(const struct graph *graph,
                                           const struct observer *observer,
                                           struct solve_outcome *outcome, struct problem *reterr);
