/* One whole solve, as both the daemon's worker and the one-shot command run it: plan, solver, names
 * of a negative cycle, narrowing, certificate. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solver.h"

/* Number of evenly spread rows that `verify` checks; all rows if there are fewer. O(m) per row. */
#define SOLVE_VERIFY_ROWS 1024

struct solve_request {
    enum kind kind;                      /* resolved by graph_choose_kind, never KIND_AUTO */
    bool verify;                         /* check the result by certificate */
    struct order_record *record;         /* see planner_make; NULL = none */
    const struct hierarchy_shape *shape; /* the known shape of a hierarchy; NULL = none */
    uint32_t threads;                    /* threads for a hierarchy; 0 = one per core */
    const struct observer *observer;     /* NULL = none */
};

/* The graph as it is solved for a kind: decimals are scaled to integers and, with `folds`, a
 * directed graph whose edges all have equal reverses becomes undirected. Borrows from the original
 * graph. */
struct solve_subject {
    const struct graph *graph; /* the graph to solve: folded, else scaled, else the original */
    struct graph *scaled;
    struct graph *folded;
    struct scaling scaling;
};
/* Sets up the subject; call solve_subject_finish even after STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_subject_init(const struct graph *graph, enum kind kind, bool folds,
                                          struct solve_subject *ret_subject);
void solve_subject_finish(struct solve_subject *subject);

/* Outcome of a solve, successful or not. Must be zeroed before use; solve_outcome_finish frees it.
 * To get statistics, the caller sets account.statistics, initialised for request->kind; the solve
 * fills it on STATUS_OK. */
struct solve_outcome {
    struct solve_account account;
    struct solver_device device;
    struct plan_summary plan;
    uint32_t *cycle; /* rows of a negative cycle in walking order, owned */
    size_t cycle_length;
    double cycle_weight;
    uint64_t arc_count; /* number of arcs of a hierarchy */
};

/* Estimates a solve of this graph. Makes the plan that the solve would use, and returns its summary
 * in ret_plan. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_estimate_planned(const struct solver *solver,
                                              const struct graph *graph, enum kind kind,
                                              struct solver_estimate *ret_estimate,
                                              struct plan_summary *ret_plan);

/* Solves the graph. matrix: storage for the distances, of request->kind and the graph's size. On
 * failure reterr gives the reason; after STATUS_NEGATIVE_CYCLE the outcome contains the cycle. */
MUST_CHECK enum status solve_graph(struct solver *solver, const struct graph *graph,
                                   const struct solve_request *request, struct matrix *matrix,
                                   struct solve_outcome *outcome, struct problem *reterr);

/* Prints the vertex names of the outcome's cycle as a JSON array, which the caller frees. Returns
 * NULL if there is no cycle, no names or no memory. */
char *solve_outcome_print_cycle(const struct solve_outcome *outcome,
                                const struct vertex_names *names);
void solve_outcome_finish(struct solve_outcome *outcome);

/* Refuses an edge of negative weight from a vertex to itself. If the solve would round sums, also
 * refuses any other negative cycle, because rounded sums may hide it. Stores the cycle in the
 * outcome. */
MUST_CHECK enum status solve_refuse_unsolvable(const struct graph *graph,
                                               const struct solve_subject *subject,
                                               const struct observer *observer,
                                               struct solve_outcome *outcome,
                                               struct problem *reterr);
/* Checks the outcome of a solve that ended with this status: finds the negative cycle that the
 * solver reported, and refuses distances that rounding has made unreliable. Any other status is
 * returned unchanged. */
MUST_CHECK enum status solve_judge(const struct graph *graph, const struct solve_subject *subject,
                                   const struct observer *observer, enum status status,
                                   struct solve_outcome *outcome, struct problem *reterr);
/* Finds a negative cycle after a solver has reported one. STATUS_NEGATIVE_CYCLE, or
 * STATUS_NOT_VERIFIED if there is none, STATUS_CANCELLED by the observer, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_confirm_cycle(const struct graph *graph,
                                           const struct observer *observer,
                                           struct solve_outcome *outcome, struct problem *reterr);
