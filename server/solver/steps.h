/* Steps of a solve beside those of the solver, for solve.c. */
#pragma once

#include "proto/graph.h"

#include <stddef.h>

/* ---- cycle_problem.c ---- */

/* The problem documents of graphs that have a negative cycle, with the names of its vertices. */

/* cycle: rows in walking order, the first not repeated (graph_negative_cycle). Always
 * STATUS_NEGATIVE_CYCLE. */
MUST_CHECK enum status cycle_problem_set(const struct graph *graph, const uint32_t *cycle,
                                         size_t length, double weight, struct problem *reterr);

/* The same for a negative self-loop, the one in the graph's summary. */
MUST_CHECK enum status cycle_problem_set_loop(const struct graph *graph, struct problem *reterr);

/* ---- distance_range.c ---- */

/* How long a distance of a graph can be: what decides, before a solve, whether narrower integers
 * than the matrix's own are enough to compute in. Always a proof, never a sample. */

/* True when every finite distance is proven to be within 0..limit (up to INT32_MAX): the weights
 * are integers, none is below 0, and an upper bound of the distances is found that does not exceed
 * it. False says nothing about the graph: the proof may have failed for want of memory, or not have
 * been tried because it would take more than about affordable_s seconds.
 *
 * From cheap to thorough: the bound of the summary and the one of n - 1 largest weights; paths by
 * way of one vertex, where vertices have many edges. O(m) at worst. */
bool distance_range_within(const struct graph *graph, uint32_t limit, double affordable_s);

/* ---- page_warmer.c ---- */

/* Faults in the pages of a result while a device still computes it: the first write to a mapped
 * file runs at the speed of page faults, a fifth of the speed of memory. One thread of its own goes
 * through the memory from its beginning and changes nothing, so that the solver may write at any
 * time. */

struct page_warmer;

/* NULL when there is nothing to gain: little memory, or so much that the kernel would write pages
 * back before the solver has written them. The solver then meets the cold pages itself. */
struct page_warmer *page_warmer_start(void *memory, size_t size);
/* Stops within a few milliseconds, however much is still cold. NULL is accepted. */
void page_warmer_stop(struct page_warmer *warmer);
