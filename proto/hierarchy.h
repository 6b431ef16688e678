/* A customizable contraction hierarchy: exact distances of graphs whose matrix would be too large
 * (Dibbelt, Strasser, Wagner 2014). Vertices are eliminated one by one in an order that keeps the
 * fill small; the hierarchy consists of the arcs from each vertex to vertices eliminated later. The
 * pattern of the arcs depends only on the pattern of the graph; server/solver/hierarchy computes
 * their weights from the weights of the graph in one pass.
 *
 * The pass is the min-plus form of a multifrontal factorization (Liu 1992): consecutive vertices in
 * the order that reach the same later vertices form one supernode, whose arcs are a dense block. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NO_SUPERNODE UINT32_MAX

/* The pattern of the arcs. Positions are in the order of elimination: position 0 is eliminated
 * first. */
struct hierarchy_shape {
    uint32_t vertex_count;
    uint32_t *vertex_at;   /* position -> vertex */
    uint32_t *position_of; /* vertex -> position */
    uint32_t supernode_count;
    uint32_t *first;        /* supernode_count + 1 positions: first column of each supernode */
    uint32_t *parent;       /* by supernode: the supernode of its first row, or NO_SUPERNODE */
    uint64_t *row_begin;    /* supernode_count + 1 indexes into row */
    uint32_t *row;          /* later positions that a supernode reaches, ascending */
    uint64_t *weight_begin; /* first weight of each block of columns x (columns + rows) weights */
    uint64_t arc_count;     /* number of arcs, without the unused entries of the blocks */
    uint64_t label_entries; /* sum of the ancestor counts of all vertices; 0 once opened */
};

#define NO_SLOT UINT64_MAX

static inline uint32_t hierarchy_columns(const struct hierarchy_shape *shape, uint32_t supernode)
{
    return shape->first[supernode + 1] - shape->first[supernode];
}
static inline uint32_t hierarchy_rows_below(const struct hierarchy_shape *shape, uint32_t supernode)
{
    return (uint32_t)(shape->row_begin[supernode + 1] - shape->row_begin[supernode]);
}

/* Returns the slot of the arc between positions low and high, or NO_SLOT if there is no arc. low
 * must be a column of supernode s. */
uint64_t hierarchy_slot(const struct hierarchy_shape *shape, uint32_t s, uint32_t low,
                        uint32_t high);

/* One block of memory, which may be a mapped file, holds a whole hierarchy: a header and the
 * arrays, each at a multiple of HIERARCHY_ALIGNMENT. The arcs of supernode s, with c columns and r
 * rows, begin at weight_begin[s]. Each column has c + r entries; for column k, entries k + 1 .. c +
 * r - 1 are its arcs to the later columns and to the rows. */

#define HIERARCHY_MAGIC "apspdCCH"
#define HIERARCHY_ALIGNMENT 64

struct hierarchy_summary {
    uint32_t vertex_count;
    enum kind kind;    /* kind of the arcs: i4, f4 or f8 */
    uint32_t decimals; /* if > 0, distances are sums of arcs divided by 10^decimals, in f8 */
    bool directed;
    bool negative; /* whether some weight of the graph is below 0 */
    uint64_t arc_count;
};

/* Returns the kind of the distances that searches compute. */
static inline enum kind hierarchy_distance_kind(const struct hierarchy_summary *summary)
{
    return summary->decimals > 0 ? KIND_F8 : summary->kind;
}

/* The arrays that searches read; all searches share them. */
struct hierarchy {
    struct hierarchy_summary summary;
    struct hierarchy_shape shape; /* its arrays are in `bytes` or, once opened, in shape_bytes */
    void *up;                     /* weights of arcs from a column to a later vertex */
    void *down;                   /* weights of arcs back to the column; undirected: equal to up */
    /* Set by hierarchy_open and hierarchy_open_like: */
    const void *bytes;
    uint64_t size;
    unsigned char
        *shape_bytes;       /* copy of the shape, which hierarchies with different weights share */
    uint32_t *supernode_of; /* by position: its supernode; allocated with the next seven arrays */
    uint32_t *above;        /* by supernode: number of vertices above its columns, up to the root */
    uint32_t *row_depth;    /* by index into shape.row: number of vertices above that row */
    uint32_t *child;        /* by supernode: its first child, or NO_SUPERNODE */
    uint32_t *sibling;      /* by supernode: the next child of its parent, or NO_SUPERNODE */
    uint32_t *least_above;  /* minima of `above` over ranges, for hierarchy_common */
    uint32_t *place;        /* by vertex: its supernode and its number of ancestors */
    atomic_uint *openings;  /* number of opened hierarchies that share the arrays above */
    uint32_t height;
    uint32_t largest; /* largest number of columns plus rows of a supernode */
    uint32_t largest_separator;
    double triangles; /* number of triangles that a full customization relaxes */
};

uint64_t hierarchy_bytes(const struct hierarchy_shape *shape, enum kind kind, bool directed);
/* Writes header and shape into bytes, which must be aligned and hierarchy_bytes long, and sets the
 * array pointers of ret_hierarchy to them. */
void hierarchy_lay_out(const struct hierarchy_shape *shape, const struct hierarchy_summary *summary,
                       void *bytes, struct hierarchy *ret_hierarchy);
/* Returns the arc count in the header at bytes (HIERARCHY_ALIGNMENT bytes); 0 for other data. */
uint64_t hierarchy_arc_count(const void *bytes);
/* Opens a hierarchy, which borrows the bytes. Searches never read outside the bytes, even if these
 * are damaged. STATUS_CORRUPT if the bytes are not a hierarchy; STATUS_NO_MEMORY. */
MUST_CHECK enum status hierarchy_open(const void *bytes, uint64_t size,
                                      struct hierarchy **ret_hierarchy);
/* Counts the common ancestors of two vertices. A vertex is an ancestor of itself. */
uint32_t hierarchy_common(const struct hierarchy *hierarchy, uint32_t a, uint32_t b);
/* Opens a hierarchy whose bytes differ from those of `like` only in weights. It shares the arrays
 * of `like` that depend only on the shape. */
MUST_CHECK enum status hierarchy_open_like(const struct hierarchy *like, const void *bytes,
                                           uint64_t size, struct hierarchy **ret_hierarchy);
void hierarchy_close(struct hierarchy *hierarchy);
