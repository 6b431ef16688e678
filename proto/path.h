/* Finds a shortest path by walking backwards from the target. It needs only the distances from the
 * source and the edges, not a predecessor matrix. An edge (u, v) is tight when d(source, u) plus
 * its weight equals d(source, v): exactly for integers, within rounding for floats. A depth-first
 * search over tight edges enters a vertex at most once, so cycles of length 0 cannot trap it, and
 * no vertex occurs twice. At each vertex the search first follows the edge with the least rounding
 * error and, after a dead end, the other tight edges in turn, so it examines an edge at most
 * twice. */
#pragma once

#include "proto/adjacency.h"
#include "proto/kind.h"

struct path {
    uint32_t *vertices; /* vertices from the source to the target */
    double *weights;    /* weights of the path's edges, count - 1 of them */
    uint32_t count;     /* number of vertices; 0 = the target is unreachable */
    uint64_t edges;     /* number of edges examined by the search */
};

/* One thread's memory for path searches in one graph, 24 bytes per vertex, reused by every call. */
struct path_finder;

/* Borrows the adjacency until path_finder_destroy. */
MUST_CHECK enum status path_finder_create(const struct adjacency *adjacency,
                                          struct path_finder **ret_finder);
void path_finder_destroy(struct path_finder *finder);

/* Finds a shortest path. row: the distances from the source, of this kind. The arrays of ret_path
 * belong to the finder and are valid until the next call. STATUS_CORRUPT if the distances do not
 * match the edges: no path has tight edges only, or its weights do not add up to the distance. */
MUST_CHECK enum status path_find(struct path_finder *finder, enum kind kind, const void *row,
                                 uint32_t source, uint32_t target, struct path *ret_path);
