/* One whole solve, as both the daemon's worker and the one-shot command run it: plan, solver,
 * negative cycle by name, narrowing, certificate. */
#pragma once

#include "proto/hierarchy.h"
#include "server/solver/solver.h"

/* Rows that verify checks, spread evenly: all of a smaller matrix. O(m) each. */
#define SOLVE_VERIFY_ROWS 1024

struct solve_request {
    enum kind kind;             /* resolved by graph_choose_kind, never KIND_AUTO */
    bool verify;                /* check by certificate before it counts */
    struct plan_record *record; /* see planner_make; NULL = none */
    int file;                   /* of which the matrix is a mapping, shared; 0 = of none */
    uint64_t file_offset;       /* where it begins there */
};

/* Outcome of a solve, successful or not. Zero it before; solve_outcome_finish frees. To get
 * statistics set account.statistics, of request->kind: filled on STATUS_OK. */
struct solve_outcome {
    struct solve_account account;
    struct solver_device device;
    struct plan_summary plan;
    uint32_t *cycle; /* rows of a negative cycle in walking order, owned */
    size_t cycle_length;
    double cycle_weight;
    uint64_t arc_count; /* of a hierarchy */
};

/* Estimates a solve of this graph with the plan that it would have, which is made for this and
 * summarized in ret_plan. kind: one that the solver computes, or u2 where it computes i4. record:
 * as in struct solve_request. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_estimate_planned(const struct solver *solver,
                                              const struct graph *graph, enum kind kind,
                                              struct plan_record *record,
                                              struct solver_estimate *ret_estimate,
                                              struct plan_summary *ret_plan);

/* fallback: a CPU solver used for kinds that `solver` does not support; may be NULL or the same.
 * matrix: storage of request->kind and the graph's size. On failure reterr tells why and, for
 * STATUS_NEGATIVE_CYCLE, the outcome names the cycle. */
MUST_CHECK enum status solve_graph(struct solver *solver, struct solver *fallback,
                                   const struct graph *graph, const struct solve_request *request,
                                   const struct observer *observer, struct matrix *matrix,
                                   struct solve_outcome *outcome, struct problem *reterr);

void solve_outcome_finish(struct solve_outcome *outcome);

/* Refuse the negative cycle that the outcome has, and an edge from a vertex to itself below 0, with
 * its name; the second is STATUS_OK where there is none. */
MUST_CHECK enum status solve_refuse_cycle(const struct graph *graph,
                                          const struct solve_outcome *outcome,
                                          struct problem *reterr);
MUST_CHECK enum status solve_refuse_loop(const struct graph *graph, struct solve_outcome *outcome,
                                         struct problem *reterr);

/* ---- solve_update.c ---- */

/* An edge that has come, or whose weight is lower than it was. */
struct solve_arc {
    uint32_t source;
    uint32_t target;
    double weight;
};

/* The distances of the graph before. row: of a vertex, elements of the kind, or NULL when they are
 * damaged; any thread. copy: makes the matrix and its statistics those of the graph before, of
 * which the rows that are then written alone take memory; false: they are as they were. */
struct solve_base {
    const void *(*row)(void *context, uint32_t row);
    bool (*copy)(void *context, struct matrix *matrix, struct statistics *statistics);
    void *context;
    const struct solve_arc *arcs; /* each leads one way */
    size_t arc_count;
    const struct statistics_summary *summary; /* of its distances; NULL = unknown */
};

/* Arcs that are worth an update at most. */
#define SOLVE_UPDATE_ARCS 128
/* The matrix after these changes, by so many threads (0: one a core), with its statistics: for each
 * arc (u, v) of weight w, d(i,j) becomes d(i,u) + w + d(v,j) where that is less. O(k n^2) for k
 * arcs, k n elements of memory. i4, f4 or f8.
 * STATUS_NOT_VERIFIED: it must be solved anew, as some cycle may be negative or a row is damaged.
 * STATUS_CANCELLED, STATUS_NO_MEMORY. */
MUST_CHECK enum status solve_update(const struct solve_base *base, uint32_t threads,
                                    const struct observer *observer, struct matrix *matrix,
                                    struct solve_outcome *outcome);

/* The same of a hierarchy, whose arcs are computed again from where they may have changed up to
 * where they have not: the weights that a whole customization gives the arcs of the base. arcs: the
 * edges that differ, in either way; at most SOLVE_UPDATE_HIERARCHY_ARCS are worth it. bytes: a copy
 * of the base's, undefined after a failure. Statuses as of solve_update; STATUS_NOT_VERIFIED also
 * where an edge is new to the order. STATUS_TOO_LARGE: all weights take no longer, by
 * solve_customize. */
#define SOLVE_UPDATE_HIERARCHY_ARCS 4096
MUST_CHECK enum status solve_update_hierarchy(const struct hierarchy *base,
                                              const struct graph *graph,
                                              const struct solve_arc *arcs, size_t arc_count,
                                              const struct observer *observer, void *bytes,
                                              struct solve_outcome *outcome);

/* ---- solve_hierarchy.c ---- */

/* A hierarchy in place of a matrix, computed here by so many threads (0: one a core). kind: i4, f4
 * or f8. record: NULL, or words that may be any; an order of the vertices is taken, else the one
 * that is found put in their place. ret_bytes: of ret_size, to be freed; hierarchy_open takes them.
 * As solve_graph on failure; STATUS_TOO_LARGE when it would take more memory than there is. */
MUST_CHECK enum status solve_hierarchy(const struct graph *graph, enum kind kind, uint32_t threads,
                                       struct plan_record *record, const struct observer *observer,
                                       void **ret_bytes, uint64_t *ret_size,
                                       struct solve_outcome *outcome, struct problem *reterr);

/* The same over the shape of a base, whose graph has the edges of this one, and the kind. Statuses
 * as of solve_update. */
MUST_CHECK enum status solve_customize(const struct hierarchy *base, const struct graph *graph,
                                       uint32_t threads, const struct observer *observer,
                                       void **ret_bytes, uint64_t *ret_size,
                                       struct solve_outcome *outcome);
