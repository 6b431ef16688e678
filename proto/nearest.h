/* The vertices nearest to a source, selected by its distances to all vertices. A query is computed
 * in steps, because sorting all vertices of a large graph takes long. A struct nearest belongs to
 * one thread and borrows the distances. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

/* A query for the vertices nearest to `source`, without the source itself: at most `count`
 * reachable vertices, none farther than `within`. */
struct nearest_query {
    enum kind kind;
    const void *distances; /* distances from the source, vertex_count elements of the kind */
    uint32_t vertex_count;
    uint32_t source;
    uint32_t count;
    double within; /* maximum distance; infinity = no limit */
};

struct nearest {
    struct nearest_query query;
    uint32_t *rows; /* rows found, owned or NULL; a heap, the farthest on top; finally sorted */
    size_t count;   /* number of entries of rows */
    size_t capacity;
    uint32_t seen;   /* number of vertices examined so far */
    size_t unsorted; /* number of rows still in the heap */
};

/* Allocates four bytes for each vertex that may be found. STATUS_NO_MEMORY. */
MUST_CHECK enum status nearest_begin(struct nearest *nearest, const struct nearest_query *query);
/* Computes for about a millisecond. Returns true when `rows` is complete and sorted. */
bool nearest_step(struct nearest *nearest);
void nearest_finish(struct nearest *nearest);
