/* Copies between pinned staging buffers and the caller's memory with several threads, because a
 * single thread reaches only a third of the speed of the bus, and a fifth if it has to fault in the
 * pages of a mapped file. One thread owns a struct staging and takes part in the copying. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of copying threads. With 8 threads instead of 16 for each of two H200s, downloads
 * into resident pages took 1.3 to 1.9 times as long; more than 16 were not measured. */
#define STAGING_THREADS_MAX 16

struct staging;

/* Starts the threads. threads: number of threads, including the caller's. At most
 * STAGING_THREADS_MAX are used, and fewer if a thread cannot be started. */
MUST_CHECK enum status staging_create(uint32_t threads, struct staging **ret_staging);
void staging_destroy(struct staging *staging);

/* One copy of whole elements. */
struct staging_copy {
    void *to;
    const void *from;
    size_t size;       /* number of bytes at `from` */
    enum kind kind;    /* kind of the elements at `from` */
    uint32_t decimals; /* if > 0, i4 or f8 elements become doubles divided by 10^decimals */
};

/* Copies with all threads, and returns when the copy is complete. A large copy bypasses the caches,
 * which are too small to hold it until it is read. */
void staging_copy(struct staging *staging, const struct staging_copy *copy);

#ifdef __cplusplus
}
#endif
