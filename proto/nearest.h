/* The vertices nearest to one, by its distances to all. Pure; found in steps, as sorting all
 * vertices of a large graph takes long. */
#pragma once

#include "proto/matrix.h"

/* Query for the nearest vertices: reachable ones other than the source itself, at most count of
 * them and none farther than `within`. */
struct nearest_query {
    enum kind kind;
    const void *distances; /* from the source, vertex_count of them */
    uint32_t vertex_count;
    uint32_t source;
    uint32_t count;
    double within; /* infinity: however far */
};

struct nearest {
    struct nearest_query query;
    struct matrix row; /* the source's, as the first of a matrix */
    uint32_t *rows;    /* owned: a heap with the farthest on top, then sorted; NULL when empty */
    size_t count;      /* of rows */
    size_t capacity;
    uint32_t seen;   /* vertices */
    size_t unsorted; /* rows */
};

/* Takes four bytes for each row. STATUS_NO_MEMORY. */
MUST_CHECK enum status nearest_begin(struct nearest *nearest, const struct nearest_query *query);
/* Goes on for about a millisecond; true when rows are those found: by distance, those equally far
 * by row. */
bool nearest_step(struct nearest *nearest);
void nearest_finish(struct nearest *nearest);
