/* Steps of a solve beside those of the solver, for solve.c and the back ends. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/solve.h"
#include "proto/statistics.h"
#include "server/solver/cpu/pool.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* Seconds on the monotonic clock, for the phases that a solver reports. */
static inline double stopwatch_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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

/* ---- cpu/finish.c, beside what cpu/tiles.h has of it ---- */

/* The statistics of a matrix, reduced on the CPU: two passes over it, the second for the histogram,
 * whose bins the first one finds.
 *
 * statistics: of the same size; of the same kind, or u2 of an i4 matrix that is to become one. The
 * diagonal is not read as a distance. The observer may be NULL. Cannot fail, takes no memory. */
void cpu_finish_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                           const struct observer *observer, struct statistics *statistics);

/* One of i4, f4 or f8, infinite where it is unreachable. */
static inline double step_element(enum kind kind, const void *row, uint64_t column)
{
    if (kind == KIND_I4) {
        const int32_t distance = ((const int32_t *)row)[column];
        return distance == UNREACHABLE_I4 ? (double)INFINITY : (double)distance;
    }
    return kind == KIND_F4 ? (double)((const float *)row)[column] : ((const double *)row)[column];
}

/* ---- host_memory.c, beside what solver.h has of it ---- */

/* Zeroed memory of a matrix, in large pages where the kernel has them; NULL unless twice as much is
 * available. host_memory_give returns it, and accepts NULL. */
void *host_memory_take(size_t size);
void host_memory_give(void *memory, size_t size);

/* Faults in the pages of a result while it is planned and computed: the first write to a mapped
 * file runs at the speed of page faults, a fifth of the speed of memory. Threads of its own go
 * through the memory from its beginning and change nothing, so that the solver may write at any
 * time. */
struct host_memory_warmer;

/* The largest part of the machine's memory whose pages are dirtied ahead. */
#define HOST_MEMORY_WARM_SHARE 4
/* More threads than this fault pages of one file no faster. */
#define HOST_MEMORY_WARM_THREADS_MAX 8

/* NULL when there is nothing to gain: little memory, or so much that the kernel would write pages
 * back before the solver has written them. The solver then meets the cold pages itself. */
struct host_memory_warmer *host_memory_warm(void *memory, size_t size, uint32_t threads);
/* Stops within a few milliseconds, however much is still cold. NULL is accepted. */
void host_memory_stop_warming(struct host_memory_warmer *warmer);
