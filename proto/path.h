/* A shortest path, walked backwards from the target on the distances from the source and the edges:
 * no predecessor matrix is needed.
 *
 * An edge (u, v) is tight when d(source, u) plus its weight is d(source, v): exactly for integers,
 * within rounding for floats. A depth-first search over tight edges enters every vertex once at
 * most, so cycles of length 0 cannot hold it: the path has no vertex twice. Each vertex is left
 * over its edge that fits best, and after a dead end over the others in turn: an edge is looked at
 * twice at most. */
#pragma once

#include "proto/adjacency.h"
#include "proto/kind.h"

struct path {
    uint32_t *vertices; /* from the source to the target */
    double *weights;    /* one less */
    uint32_t count;     /* of vertices; 0 = the target is unreachable */
    uint64_t edges;     /* looked at to find it */
};

/* Scratch memory for paths in one graph, reused by every call; it grows to 28 bytes a vertex. Used
 * by one thread at a time. */
struct path_finder;

/* Borrows the adjacency for its life. */
MUST_CHECK enum status path_finder_create(const struct adjacency *adjacency,
                                          struct path_finder **ret_finder);
void path_finder_destroy(struct path_finder *finder);

/* row: the source's distances, of this kind. The path is the finder's, until the next walk.
 * STATUS_CORRUPT when the distances are not those of the edges: no way is tight, or its weights do
 * not add up to the distance. */
MUST_CHECK enum status path_find(struct path_finder *finder, enum kind kind, const void *row,
                                 uint32_t source, uint32_t target, struct path *ret_path);
