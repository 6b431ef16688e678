/* Memory of this machine, as far as a solve can have it. */
#pragma once

#include <stdint.h>

/* Bytes that could be had without swapping: file cache counts, and so does the limit of the control
 * group that the process is in. 0 when nobody tells; 1 when there is nothing left. */
uint64_t host_memory_available(void);

/* Bytes that the machine has, in use or not; 0 when nobody tells. */
uint64_t host_memory_total(void);
