/* A weighted graph, validated and in canonical form. Uploads are converted to it; solvers read it.
 *
 * The edges are in compressed sparse rows: row v has the edges [row_offset[v], row_offset[v+1]),
 * with ascending targets, without self-loops and parallel edges. An undirected edge is stored once,
 * in the row of its smaller endpoint. A graph is immutable after graph_builder_finish, except in
 * edge_changes_apply; any thread may read it. The holder of the pointer owns the graph. */
#pragma once

#include "proto/decimals.h"
#include "proto/kind.h"
#include "proto/problem.h"
#include "proto/status.h"
#include "proto/vertex_names.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_VERTEX UINT32_MAX
/* Upper limit on vertices, whatever the options allow: no machine can store the distances of a
 * larger graph, and a header that declares more vertices must not cause an allocation. */
#define GRAPH_VERTEX_LIMIT (1u << 26)

/* Integer weights are stored as int32. If any weight has a fraction or exceeds the int32 range, all
 * weights are stored as doubles. */
enum weight_type { WEIGHT_INTEGER = 1, WEIGHT_REAL = 2 };

struct graph_summary {
    uint64_t parallel_differing; /* number of merged edges whose weight differed; set by readers */
    /* The members from here on are stored in graph files, in this order (graph_file.c). */
    uint64_t edges_read;      /* number of edges listed in the file */
    uint64_t loops_dropped;   /* number of dropped self-loops; their weights are 0 or more */
    uint64_t parallel_merged; /* number of edges dropped because a parallel edge is not longer */
    double min_weight;        /* least weight of the kept edges; 0 if there are no edges */
    double max_weight;
    double distance_bound; /* upper bound on |length| of a shortest path: the sum of the largest
                              |weight| of each row, because a simple path leaves a vertex once;
                              graph_tighten_bound may lower it */
    double negative_loop_weight; /* weight of the loop at negative_loop; 0 if there is none */
    uint32_t components;         /* number of connected components, ignoring direction */
    uint32_t negative_loop; /* first vertex with a negative self-loop; NO_VERTEX if there is none */
    uint32_t negative;      /* 1 if some weight is negative, else 0 */
    uint32_t decimals; /* largest number of digits after the point of a weight; 0: all are integers;
                          NO_DECIMALS: no power of ten makes all distances exact integers */
};

struct graph {
    uint32_t vertex_count;
    bool directed;
    enum weight_type weight_type;
    uint64_t edge_count;
    uint64_t *row_offset; /* vertex_count + 1 entries */
    uint32_t *target;     /* edge_count entries */
    int32_t *weight_i4;   /* edge_count entries if WEIGHT_INTEGER, else NULL */
    double *weight_f8;    /* edge_count entries if WEIGHT_REAL, else NULL */
    struct vertex_names *names;
    struct graph_summary summary;
};

void graph_destroy(struct graph *graph);

/* Returns the weight of the edge with this index, for either weight type. */
double graph_weight(const struct graph *graph, uint64_t edge);

#define NO_EDGE UINT64_MAX
/* Returns the index of the edge, or NO_EDGE. For an undirected graph the source must be the smaller
 * endpoint. O(log d), where d is the degree of the source. */
uint64_t graph_find_edge(const struct graph *graph, uint32_t source, uint32_t target);

/* Returns whether any edge has a reverse edge, of any weight. O(m log d) for degrees up to d. */
bool graph_has_reverse(const struct graph *graph);

/* Distances below this limit are exact as i4 and cannot be confused with unreachable. */
#define GRAPH_BOUND_I4 536870912.0 /* 2^29 */

/* Counts the connected components into summary.components. Uses 4 bytes per vertex during the call.
 * Returns STATUS_NO_MEMORY if they cannot be allocated. */
MUST_CHECK enum status graph_count_components(struct graph *graph);

/* Chooses the kind of the distances. KIND_AUTO: integer weights give i4 if distance_bound < 2^29,
 * else f8 if it is < 2^53; decimal weights give f8. STATUS_WEIGHT_RANGE, with the bound in the
 * problem, if a distance could be wrong in the requested kind. */
MUST_CHECK enum status graph_choose_kind(const struct graph *graph, enum kind requested,
                                         enum kind *ret_kind, struct problem *reterr);

/* The arithmetic in which a solve computes distances of a kind. If decimals > 0, which is possible
 * only for f8, the solve computes scaled integers: bounds and negative cycles are determined from
 * them, and each distance is a scaled integer divided by 10^decimals. */
struct scaling {
    enum kind kind;
    uint32_t decimals; /* exponent of the power of ten; 0: the weights are used unscaled */
};
struct scaling graph_scaling(const struct graph_summary *summary, enum kind kind);
/* Returns the index into tables of limits and rates: the kind of a matrix, or COST_DECIMALS for
 * scaled integers of kind i4, which need the time and device memory of i4 but the storage of f8. */
enum { COST_DECIMALS = KIND_COUNT, COST_COUNT };
uint32_t graph_cost(const struct graph_summary *summary, enum kind kind);
static inline enum kind cost_kind(uint32_t cost)
{
    return cost == COST_DECIMALS ? KIND_F8 : (enum kind)cost;
}
/* Returns the arithmetic of a solve for users, for example "i4 x 0.01" or "f8". */
struct scaling_text {
    char text[40];
};
struct scaling_text graph_scaling_text(struct scaling scaling);
/* graph_digits returns the number of significant digits of a distance, at most 17. GRAPH_DIGITS_F4
 * is the number of digits that f4 preserves. */
#define GRAPH_DIGITS_F4 7
uint32_t graph_digits(const struct graph_summary *summary);

/* Creates a graph with the vertices and the summary of `like`, and with uninitialized arrays for
 * edge_count edges. The new graph borrows the names of `like`, so it must be released before
 * `like`, with graph_destroy_copy, which accepts NULL. Returns NULL when out of memory. */
struct graph *graph_create_like(const struct graph *like, enum weight_type weight_type,
                                uint64_t edge_count);
void graph_destroy_copy(struct graph *copy);

/* Copies the graph with all weights multiplied by 10^decimals, stored as int32 if they fit. Release
 * the copy with graph_destroy_copy. *ret_scaled is NULL when decimals is 0. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_scale(const struct graph *graph, uint32_t decimals,
                                   struct graph **ret_scaled);

/* Returns whether each edge of a directed graph has a reverse edge of the same weight. Returns
 * false if 8 bytes per vertex cannot be allocated. O(n + m). */
bool graph_is_symmetric(const struct graph *graph);

/* Folds a directed graph in which every edge has a reverse edge of the same weight, as in most
 * files of road networks, into the equivalent undirected graph. The distances are the same, and the
 * solve does half of the work. *ret_folded is NULL if the graph is undirected, has a negative
 * weight or loop, or has an edge without such a reverse edge. Uses 8 bytes per vertex during the
 * call. Release the folded graph with graph_destroy_copy. STATUS_NO_MEMORY. */
MUST_CHECK enum status graph_fold(const struct graph *graph, struct graph **ret_folded);
