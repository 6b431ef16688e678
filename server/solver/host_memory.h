/* What this machine's memory still has for a solve. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that could be had without swapping: file cache counts, and so does the limit of the control
 * group that the process is in. 0 when nobody tells; 1 when there is nothing left. */
uint64_t host_memory_available(void);

/* Bytes that the machine has, in use or not; 0 when nobody tells. */
uint64_t host_memory_total(void);

/* More than a quarter of what the machine has: a result whose pages cannot all be kept at hand
 * while it is worked in, as writing them back begins meanwhile. */
bool host_memory_is_large(size_t size);

/* Memory beside a result, in huge pages where the system has them; all of it 0. NULL when with the
 * bytes that the caller is about to take beside it it would be more than half of what is available,
 * which the result's own pages and the service want too. */
void *host_memory_take(size_t size, uint64_t beside);
/* memory: NULL is accepted. */
void host_memory_give(void *memory, size_t size);
