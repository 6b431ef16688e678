/* Memory of the host: its size, allocation of matrices, and faulting in of results. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of host memory that are available without swapping, including file cache,
 * within the limits of the process's control group. 0 if unknown; 1 if no memory is left. */
uint64_t host_memory_available(void);
/* Returns the machine's memory, or the control group's limit if it is lower; 0 if unknown. */
uint64_t host_memory_total(void);

/* Asks the kernel to back this memory with huge pages. Call it before the first write: huge pages
 * are faulted in several times as fast. Does nothing for memory smaller than a huge page. */
void host_memory_use_huge_pages(void *memory, size_t size);

/* Allocates zeroed memory for a matrix, in huge pages if the kernel supports them. Returns NULL
 * unless twice the size is available. host_memory_free frees the memory and accepts NULL. */
void *host_memory_allocate(size_t size);
void host_memory_free(void *memory, size_t size);

/* Faults in the pages of a result while the solver plans and computes it: the first write to a
 * mapped file runs at the speed of page faults, a fifth of the speed of memory. Separate threads
 * walk through the memory and do not change it, so the solver may write at any time. */
struct host_memory_warmer;

/* A result larger than the machine's memory divided by this is not faulted in ahead. */
#define HOST_MEMORY_WARM_SHARE 4
/* Limit on threads: more threads do not fault in the pages of one file faster. */
#define HOST_MEMORY_WARM_THREADS_MAX 8

/* Starts the threads. Returns NULL if they would not help, because the memory is small, or so large
 * that the kernel would write pages back before the solver has written to them. In that case the
 * solver faults in the pages itself. */
struct host_memory_warmer *host_memory_warm(void *memory, size_t size, uint32_t threads);
/* Stops the threads within a few milliseconds and frees the warmer. Accepts NULL. */
void host_memory_stop_warming(struct host_memory_warmer *warmer);
