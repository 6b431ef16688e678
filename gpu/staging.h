/* Copies between pinned staging buffers and the caller's memory with several threads: a single
 * thread reaches a third of the speed of the bus, and a fifth if the pages of a mapped file must
 * still be faulted in. One thread owns a struct staging and takes part in the copying. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of copying threads; more were not measured. With 8 threads instead of 16 for each
 * of two H200s, downloads into resident pages took 1.3 to 1.9 times as long. */
#define STAGING_THREADS_MAX 16

struct staging;

/* Starts the threads. threads: number including the caller's thread. At most STAGING_THREADS_MAX
 * are used, and fewer if a thread cannot be started. */
MUST_CHECK enum status staging_create(uint32_t threads, struct staging **ret_staging);
void staging_destroy(struct staging *staging);

/* One copy of whole elements. */
struct staging_copy {
    void *to;
    const void *from;
    size_t size;       /* bytes at from */
    enum kind kind;    /* kind of the elements at from */
    uint32_t decimals; /* elements, i4 or f8, become doubles divided by 10^decimals; 0: unchanged */
};

/* Copies with all threads; returns when the copy is complete. A large copy bypasses the caches,
 * which are too small to keep it until it is read. */
void staging_copy(struct staging *staging, const struct staging_copy *copy);

#ifdef __cplusplus
}
#endif
