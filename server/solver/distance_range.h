/* How long a distance of a graph can be: what decides, before a solve, whether narrower integers
 * than the matrix's own are enough to compute in. Always a proof, never a sample. */
#pragma once

#include "proto/graph.h"

/* True when every finite distance is proven to be within 0..limit (up to INT32_MAX): the weights
 * are integers, none is below 0, and an upper bound of the distances is found that does not exceed
 * it. False says nothing about the graph: the proof may have failed for want of memory, or not have
 * been tried because it would take more than about affordable_s seconds.
 *
 * From cheap to thorough: the bound of the summary and the one of n - 1 largest weights; paths by
 * way of one vertex, where vertices have many edges. O(m) at worst. */
bool distance_range_within(const struct graph *graph, uint32_t limit, double affordable_s);
