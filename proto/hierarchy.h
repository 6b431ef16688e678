/* A customizable contraction hierarchy: exact distances of graphs whose matrix would be too large
 * (Dibbelt, Strasser, Wagner 2014). Vertices are eliminated one by one in an order that keeps the
 * fill small; what an elimination leaves, arcs to vertices that are eliminated later, are the
 * hierarchy. Its pattern depends on the pattern of the graph alone, its weights follow from those
 * of the graph in one pass: server/solver/hierarchy makes it.
 *
 * That pass is the min-plus form of a multifrontal factorization (Liu 1992): neighbours in the
 * order that reach the same later vertices are one supernode, whose arcs are a dense block. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NO_SUPERNODE UINT32_MAX

/* Positions are those of the order: position 0 is eliminated first. */
struct hierarchy_shape {
    uint32_t vertex_count;
    uint32_t *vertex_at;   /* position -> vertex */
    uint32_t *position_of; /* vertex -> position */
    uint32_t supernode_count;
    uint32_t *first;        /* supernode_count + 1 positions: its columns */
    uint32_t *parent;       /* the supernode that its lowest row is a column of, or NO_SUPERNODE */
    uint64_t *row_begin;    /* supernode_count + 1 */
    uint32_t *row;          /* later positions that a supernode reaches, ascending */
    uint64_t *weight_begin; /* supernode_count + 1: blocks of columns x (columns + rows) */
    uint64_t arc_count;     /* without those that padding supernodes took */
    uint64_t label_entries; /* made, not opened: the vertices above each vertex, together */
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

/* ---- proto/hierarchy.c ---- */

/* The entry for the arc between two positions, low in the columns of s; NO_SLOT without one. */
uint64_t hierarchy_slot(const struct hierarchy_shape *shape, uint32_t s, uint32_t low,
                        uint32_t high);

/* One block of memory, in a file or not, holds a whole hierarchy: a header and the arrays, each at
 * a multiple of HIERARCHY_ALIGNMENT. The arcs of supernode s, with c columns and r rows, begin at
 * weight_begin[s]: for column k the entries k + 1 .. c + r - 1 of its c + r, to the columns behind
 * it and to the rows. */

#define HIERARCHY_MAGIC "apspdCCH"
#define HIERARCHY_ALIGNMENT 64

struct hierarchy_summary {
    uint32_t vertex_count;
    enum kind kind;    /* of the arcs: i4, f4 or f8 */
    uint32_t decimals; /* a distance is f8 then, a sum of arcs / 10^decimals; 0: it is the sum */
    bool directed;
    bool negative; /* some weight of the graph is below 0 */
    uint64_t arc_count;
};

/* The supernode at the top of a path of the elimination tree, and the parent of that. The path goes
 * on from a supernode to its last child, the largest one, so that few paths lead to the root. */
struct hierarchy_path {
    uint32_t top;
    uint32_t parent; /* NO_SUPERNODE: of a root */
};

/* The kind of the answers. */
static inline enum kind hierarchy_distance_kind(const struct hierarchy_summary *summary)
{
    return summary->decimals > 0 ? KIND_F8 : summary->kind;
}

/* The arrays that searches follow, and all of them share. */
struct hierarchy {
    struct hierarchy_summary summary;
    struct hierarchy_shape shape; /* its arrays lie in the bytes; opened, in shape_bytes */
    void *up;                     /* from the column to the later vertex */
    void *down;                   /* the way back; of an undirected graph the same array as up */
    /* Where it was opened: */
    const void *bytes;
    uint64_t size;
    unsigned char *shape_bytes; /* a copy, so that a file of other weights is not read for them */
    uint32_t *supernode_of;     /* of each position; the five arrays after it are in its memory */
    uint32_t *above;            /* of each supernode: the vertices above its columns, to the root */
    uint32_t *row_depth;        /* of each row: the vertices above it */
    struct hierarchy_path *path; /* of each supernode */
    uint32_t *child;       /* of each supernode: the first that has it as parent, NO_SUPERNODE */
    uint32_t *sibling;     /* and the next one with the same parent */
    atomic_uint *openings; /* that share these, which depend on the shape alone */
    uint32_t height;
    uint32_t largest; /* columns and rows of a supernode */
    uint32_t largest_separator;
    double triangles; /* of a whole customization */
};

uint64_t hierarchy_bytes(const struct hierarchy_shape *shape, enum kind kind, bool directed);
/* Writes header and shape into bytes, of hierarchy_bytes and aligned; ret_hierarchy then finds the
 * arrays of the weights there. */
void hierarchy_lay_out(const struct hierarchy_shape *shape, const struct hierarchy_summary *summary,
                       void *bytes, struct hierarchy *ret_hierarchy);
/* By the header alone, the first HIERARCHY_ALIGNMENT bytes; 0: it is none. */
uint64_t hierarchy_arc_count(const void *bytes);
/* Borrows the bytes. Whatever they are, no search leaves them: STATUS_CORRUPT where they are no
 * hierarchy. STATUS_NO_MEMORY. */
MUST_CHECK enum status hierarchy_open(const void *bytes, uint64_t size,
                                      struct hierarchy **ret_hierarchy);
/* How many ancestors, from the root on, two positions have in common; each is one of its own. */
uint32_t hierarchy_common(const struct hierarchy *hierarchy, uint32_t a, uint32_t b);
/* The same for bytes that differ from those of an opened one in weights alone: shares with it what
 * depends on the shape. */
MUST_CHECK enum status hierarchy_open_like(const struct hierarchy *like, const void *bytes,
                                           uint64_t size, struct hierarchy **ret_hierarchy);
void hierarchy_close(struct hierarchy *hierarchy);
