/* An upper bound of all distances by way of one vertex: d(i,j) <= d(i,r) + d(r,j), with any path to
 * r and from r for these two. Where vertices have many edges a few short rows of them tell, so most
 * of the graph is never read. */
#pragma once

#include "proto/graph.h"

/* True with a bound, at most `limit` (up to INT32_MAX), of every distance in the graph; false when
 * none was found, as where some vertex is unreachable, when memory is short, or when about
 * edge_budget edges have been read in vain. Weights are int32, none below 0. */
bool distance_star_bound(const struct graph *graph, uint32_t limit, uint64_t edge_budget,
                         uint32_t *ret_bound);
