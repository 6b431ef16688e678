/* A graph taken apart: its components in the order in which they are best eliminated, and each
 * large one dissected by separators, as trees. Owned by whoever made it; immutable. */
#pragma once

#include "proto/graph.h"
#include "proto/solve.h"

#define NO_NODE UINT32_MAX

/* A set of vertices, contiguous in the order: those of its two sides, then its separator. A leaf is
 * not taken apart and has no sides; its vertices are all its own. */
struct dissection_node {
    uint32_t begin;     /* positions of the order: everything below it */
    uint32_t separator; /* [separator, end) are its own */
    uint32_t end;
    uint32_t child[2]; /* NO_NODE, both, in a leaf; lower than the node itself */
};

/* A component's tree. Between components of one level there are no edges; those to others lead from
 * lower levels to higher ones. */
struct dissection_root {
    uint32_t node;
    uint32_t level;
};

struct dissection {
    uint32_t vertex_count;
    uint32_t *vertex_at; /* the order */
    struct dissection_node *nodes;
    uint32_t node_count;
    struct dissection_root *roots; /* levels ascending, and their vertices stand in this order */
    uint32_t root_count;
    uint32_t largest_separator; /* vertices */
};

struct dissection_options {
    uint32_t leaf;    /* what has at most so many vertices is a leaf */
    uint32_t threads; /* that take sides apart, this one among them; at least 1 */
    /* Take strong components, sources first and sinks last, rather than connected ones. */
    bool directed;
    /* A component is divided only where a breadth-first search has a thin level: a few percent of
     * what the first separator takes, and that is lost on graphs that have none. */
    bool thin_only;
    const struct observer *observer; /* asked before each separator, by any thread; NULL = none */
};

/* A part that cannot be divided well becomes a leaf of any size. Without separators
 * (separator_present) every component is a leaf. With several threads the separators of a large
 * graph are others each time. STATUS_NO_MEMORY, STATUS_CANCELLED. */
MUST_CHECK enum status dissection_make(const struct graph *graph,
                                       const struct dissection_options *options,
                                       struct dissection **ret_dissection);
void dissection_destroy(struct dissection *dissection);

/* ---- plan/strong_components.c ---- */

/* Strongly connected components of a graph: sets of vertices that all reach one another. Of an
 * undirected graph these are its connected components.
 *
 * Numbered from the sinks up: an edge between two components leads to the one of lower number. */
struct strong_components {
    uint32_t count;
    uint32_t *of;     /* vertex -> component */
    uint32_t *member; /* the vertices, component by component */
    uint32_t *first;  /* count + 1: where the members of each begin */
};

/* O(n + m), without recursion (Tarjan 1972). Only STATUS_NO_MEMORY can fail it. */
MUST_CHECK enum status strong_components_find(const struct graph *graph,
                                              struct strong_components *ret_components);
/* Zeroed is allowed. */
void strong_components_finish(struct strong_components *components);

/* ---- plan/pattern.c ---- */

/* A symmetric pattern in compressed rows, without loops or parallel edges. Fewer than 2^31 entries
 * and vertices. */
struct pattern {
    uint32_t vertex_count;
    int32_t *offset; /* vertex_count + 1 */
    int32_t *target;
};

/* Empty rows, and room for so many entries. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_init(struct pattern *pattern, uint32_t vertex_count,
                                    size_t entry_count);
/* Zeroed is allowed. */
void pattern_finish(struct pattern *pattern);

/* Both directions of each edge, those of 2-cycles twice, by source; component: of each vertex, and
 * only edges within one; or NULL. Of at most INT32_MAX / 2 edges. STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_mirror(const struct graph *graph, const uint32_t *component,
                                      struct pattern *ret_pattern);

/* Keeps one of equal entries. mark: vertex_count entries. */
void pattern_drop_parallel(struct pattern *pattern, uint32_t *mark);

/* The part of a pattern on these vertices of it; `local` has their places, NO_VERTEX elsewhere.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status pattern_cut(const struct pattern *whole, const uint32_t *vertices,
                                   uint32_t count, const uint32_t *local, struct pattern *ret_part);

/* ---- plan/separator_metis.c; plan/separator_absent.c stands in where METIS is not built ---- */

/* Vertex separators: a set without which a graph falls apart into two sides of about the same size.
 */

/* Which side a vertex is on. No edge leads from one side to the other. */
enum side { SIDE_FIRST = 0, SIDE_SECOND = 1, SIDE_SEPARATOR = 2 };

/* Whether separators can be found at all in this program. */
bool separator_present(void);

/* ret_side: of each vertex, an enum side. The pattern is only read. The same pattern gives the same
 * separator, unless another thread looks for one at the same time. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status separator_find(const struct pattern *pattern, int32_t *ret_side);

/* ---- plan/reduction.c ---- */

/* A pattern without its vertices of at most two neighbours, which are eliminated again and again;
 * two neighbours of one become neighbours. Of a road network less than half is left, and a
 * separator of that is one of the whole. */
struct reduction {
    const struct pattern *pattern; /* borrowed */
    struct pattern core;
    int32_t *order; /* the vertices: first those eliminated, then those of the core in its order */
    uint32_t eliminated;
    int32_t *neighbour; /* in the rows of the pattern: those left of each */
    int32_t *degree; /* of those of the core; its complement of those eliminated, when they were */
    int32_t *local;  /* vertex -> that of the core */
};

/* To be finished, whatever the status. STATUS_NO_MEMORY. */
MUST_CHECK enum status reduction_make(const struct pattern *pattern,
                                      struct reduction *ret_reduction);
void reduction_finish(struct reduction *reduction);

/* From the sides of the core's vertices to those of all. */
void reduction_expand(const struct reduction *reduction, const int32_t *core_side,
                      int32_t *ret_side);
