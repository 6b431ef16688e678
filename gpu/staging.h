/* Copies between pinned staging and the caller's memory by several threads: one thread alone moves
 * a third of what the bus does, and a fifth when the pages of a mapped file are still to be faulted
 * in. Belongs to one thread, which works along. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More have not been measured. With 8 for each of two H200s their rows take 1.3 to 1.9 times as
 * long, into pages that are there. */
#define STAGING_THREADS_MAX 16

struct staging;

/* threads: the caller's included; at most STAGING_THREADS_MAX are used, and fewer when no more can
 * be started. */
MUST_CHECK enum status staging_create(uint32_t threads, struct staging **ret_staging);
void staging_destroy(struct staging *staging);

/* memcpy; returns when all is copied. The copy is not left in the caches: it is too large to be
 * there when it is read. */
void staging_copy(struct staging *staging, void *to, const void *from, size_t size);
/* The same of `count` rows: the i-th from goes to the place of the row rows[i]. */
void staging_copy_rows(struct staging *staging, void *to, const void *from, size_t row_bytes,
                       const uint32_t *rows, size_t count);

#ifdef __cplusplus
}
#endif
