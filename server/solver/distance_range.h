/* An upper bound on the distances of a graph. The bound decides, before a solve, whether narrower
 * integers than the matrix's suffice. It is a proof, never a sample. Any thread. */
#pragma once

#include "proto/graph.h"

/* Returns true if every finite distance is proven to be within 0..limit (at most INT32_MAX): the
 * weights are non-negative integers, and an upper bound on the distances does not exceed the limit.
 * False says nothing about the graph: the proof may have run out of memory, or was not tried
 * because it would take more than about affordable_s seconds.
 *
 * The bounds, from cheap to thorough: the bound of the summary; n - 1 times the largest weight;
 * paths through one hub vertex, if vertices have many edges. O(m) at worst. */
bool distance_range_within(const struct graph *graph, uint32_t limit, double affordable_s);
