/* A weighted graph, validated and in canonical form: what an upload becomes and a solver reads.
 *
 * Compressed rows: the edges of row v are [row_offset[v], row_offset[v+1]), targets ascending, no
 * loops, no parallel edges. An undirected edge is stored once, in the row of its smaller end.
 * Immutable after graph_builder_finish; owned by whoever holds the pointer. */
#pragma once

#include "proto/decimals.h"
#include "proto/kind.h"
#include "proto/problem.h"
#include "proto/status.h"
#include "proto/vertex_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_VERTEX UINT32_MAX
/* More vertices than this are never read, whatever the options admit: no machine holds their
 * distances, and a header that announces them must not cost memory. */
#define GRAPH_VERTEX_LIMIT (1u << 26)

/* Integer weights are kept as int32; as soon as one weight has a fraction, or leaves the int32
 * range, all are kept as doubles. */
enum weight_type { WEIGHT_INTEGER = 1, WEIGHT_REAL = 2 };

struct graph_summary {
    uint64_t edges_read;         /* as listed in the file */
    uint64_t loops_dropped;      /* edges from a vertex to itself with weight >= 0 */
    uint64_t parallel_merged;    /* edges dropped because a parallel one is not longer */
    uint64_t parallel_differing; /* of these, those of another weight; known after reading only */
    double min_weight;           /* of the edges kept; 0 when there are none */
    double max_weight;
    double distance_bound;  /* no shortest path's |length| exceeds it: sum of the largest |weight|
                               at each vertex, as a simple path leaves a vertex once; or lower, see
                               graph_tighten_bound */
    uint32_t components;    /* connected components, direction ignored */
    uint32_t negative_loop; /* first vertex with a negative self loop, or NO_VERTEX */
    double negative_loop_weight; /* of that loop; 0 without one */
    bool negative;               /* some weight is below 0 */
    uint32_t decimals;           /* digits after the point that every weight has at most, such that
                                    distances times 10^decimals are exact: 0 = integers, whatever
                                    the weight type; NO_DECIMALS = there is no such number */
};

struct graph {
    uint32_t vertex_count;
    bool directed;
    enum weight_type weight_type;
    uint64_t edge_count;
    uint64_t *row_offset; /* vertex_count + 1 */
    uint32_t *target;     /* edge_count */
    int32_t *weight_i4;   /* edge_count when WEIGHT_INTEGER, else NULL */
    double *weight_f8;    /* edge_count when WEIGHT_REAL, else NULL */
    struct vertex_names *names;
    struct graph_summary summary;
};

void graph_destroy(struct graph *graph);

/* The weight of an edge by its index, whatever the weight type. */
double graph_weight(const struct graph *graph, uint64_t edge);

#define NO_EDGE UINT64_MAX
/* The index of the edge in the row of its source, which of an undirected one is the smaller end, or
 * NO_EDGE. O(log d). */
uint64_t graph_find_edge(const struct graph *graph, uint32_t source, uint32_t target);

/* Whether some edge has one back, of any weight. Up to O(m log d), less where it finds one early.
 */
bool graph_has_reverse(const struct graph *graph);

/* Distances below this are exact as i4, and those that are not reached stay apart from them. */
#define GRAPH_BOUND_I4 536870912.0 /* 2^29 */

/* Fills summary.components. 4 bytes a vertex meanwhile. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_count_components(struct graph *graph);

/* Which kind the distances have when `requested` is asked for. KIND_AUTO: integral weights give i4
 * while distance_bound < 2^29, else f8 while it is < 2^53; decimals give f8.
 * Refuses, with the bound in the problem, a kind in which a distance could be wrong:
 * STATUS_WEIGHT_RANGE. */
MUST_CHECK enum status graph_choose_kind(const struct graph *graph, enum kind requested,
                                         enum kind *ret_kind, struct problem *reterr);

/* The numbers in which a solve computes distances of a kind. With decimals, which f8 alone has,
 * they are integers, in which bounds and negative cycles are judged, and each distance is one of
 * them divided by 10^decimals. */
struct scaling {
    enum kind kind;
    uint32_t decimals; /* 0: the weights as they are */
};
struct scaling graph_scaling(const struct graph_summary *summary, enum kind kind);
/* An index of limits and paces: the kind of a matrix, or decimals that are computed as i4, which
 * take the time and the device memory of i4 and the storage of f8. */
enum { COST_DECIMALS = KIND_COUNT, COST_COUNT };
uint32_t graph_cost(const struct graph_summary *summary, enum kind kind);
static inline enum kind cost_kind(uint32_t cost)
{
    return cost == COST_DECIMALS ? KIND_F8 : (enum kind)cost;
}
/* "i4 x 0.01", "f8". */
#define GRAPH_SCALING_TEXT_SIZE 40
void graph_scaling_print(struct scaling scaling, char ret_text[GRAPH_SCALING_TEXT_SIZE]);
/* Digits that a distance may have, of 17 at most, and those that a kind keeps. */
#define GRAPH_DIGITS_F4 7
uint32_t graph_digits(const struct graph_summary *summary);

/* The graph of the weights times 10^decimals, NULL where there are none: weights of 4 bytes where
 * they fit. Borrows all but the weights from the graph: for graph_scale_destroy, before the graph.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_scale(const struct graph *graph, uint32_t decimals,
                                   struct graph **ret_scaled);
void graph_scale_destroy(struct graph *scaled);

/* The undirected graph that a directed one amounts to, when each edge has its reverse of the same
 * weight: road networks usually come so. Its distances are the same and half of the work is enough.
 * NULL where the graph is undirected, has a negative weight or loop, or an edge without such a
 * reverse; the first of them ends the search. Of 8 n bytes while it looks. What it returns borrows
 * the names of the graph: for graph_fold_destroy, before the graph. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_fold(const struct graph *graph, struct graph **ret_folded);
void graph_fold_destroy(struct graph *folded);
