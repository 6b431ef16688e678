/* Memory of the host: how much there is, memory for matrices, and warming of results. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of host memory that could be had without swapping: file cache counts, and so does the limit
 * of the control group that the process is in. 0 when nobody tells; 1 when there is nothing left.
 */
uint64_t host_memory_available(void);
/* Bytes that the machine has, in use or not, or that the control group may have when those are
 * fewer; 0 when nobody tells. */
uint64_t host_memory_total(void);

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
