/* The vertices nearest to one, from its row of distances. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

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

/* Their rows, by distance, those equally far by row; to be freed with free(), NULL when there are
 * none. Takes four bytes for each. */
MUST_CHECK enum status nearest_find(const struct nearest_query *query, uint32_t **ret_rows,
                                    size_t *ret_count);
