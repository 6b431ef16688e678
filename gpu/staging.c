#include "gpu/staging.h"

#include "proto/decimals.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bytes that a thread copies at a time: whole pages, so that no two threads fault in one page. */
#define SHARE_BYTES ((size_t)1 << 20)
/* Number of quotients that a thread computes before it copies them. They fit in the L1 cache. */
#define QUOTIENTS 512

struct staging {
    pthread_mutex_t lock;
    pthread_cond_t begun; /* signals that a copy has begun or closing is set */
    pthread_cond_t ended; /* signals that busy is 0 */
    uint64_t copies;      /* number of copies begun so far */
    uint32_t busy;        /* number of threads that still work on the current copy */
    bool closing;

    struct staging_copy copy; /* current copy */
    atomic_size_t next;       /* offset of the next share of the current copy */

    uint32_t thread_count; /* number of threads without the caller */
    pthread_t threads[STAGING_THREADS_MAX - 1];
};

#if defined(__SSE2__)
/* Copies with non-temporal stores, which do not read the cache lines of the destination first. */
static void copy_past_caches(char *to, const char *from, size_t size)
{
    const size_t head = (16 - (uintptr_t)to % 16) % 16;
    memcpy(to, from, head < size ? head : size);
    size_t at = head;
    for (; at + 64 <= size; at += 64) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(from + at));
        const __m128i b = _mm_loadu_si128((const __m128i *)(from + at + 16));
        const __m128i c = _mm_loadu_si128((const __m128i *)(from + at + 32));
        const __m128i d = _mm_loadu_si128((const __m128i *)(from + at + 48));
        _mm_stream_si128((__m128i *)(to + at), a);
        _mm_stream_si128((__m128i *)(to + at + 16), b);
        _mm_stream_si128((__m128i *)(to + at + 32), c);
        _mm_stream_si128((__m128i *)(to + at + 48), d);
    }
    _mm_sfence();
    if (at < size) {
        memcpy(to + at, from + at, size - at);
    }
}
#else
static void copy_past_caches(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
}
#endif

static void divide_past_caches(const struct staging_copy *copy, char *to, const char *from,
                               size_t size)
{
    const size_t element_bytes = kind_size(copy->kind);
    double quotients[QUOTIENTS];
    for (size_t at = 0; at < size; at += QUOTIENTS * element_bytes) {
        const size_t left = (size - at) / element_bytes;
        const size_t count = left < QUOTIENTS ? left : QUOTIENTS;
        decimals_divide_all(from + at, copy->kind, copy->decimals, count, quotients);
        copy_past_caches(to + at / element_bytes * sizeof(double), (const char *)quotients,
                         count * sizeof(double));
    }
}

static void copy_shares(struct staging *staging)
{
    const struct staging_copy *copy = &staging->copy;
    const size_t widening = copy->decimals > 0 ? sizeof(double) / kind_size(copy->kind) : 1;
    size_t begin;
    while ((begin = atomic_fetch_add(&staging->next, SHARE_BYTES)) < copy->size) {
        const size_t left = copy->size - begin;
        const size_t size = left < SHARE_BYTES ? left : SHARE_BYTES;
        char *const to = (char *)copy->to + begin * widening;
        const char *const from = (const char *)copy->from + begin;
        if (copy->decimals > 0) {
            divide_past_caches(copy, to, from, size);
        } else {
            copy_past_caches(to, from, size);
        }
    }
}

static void *run_copier(void *context)
{
    struct staging *staging = context;
    uint64_t seen = 0;
    pthread_mutex_lock(&staging->lock);
    for (;;) {
        while (staging->copies == seen && !staging->closing) {
            pthread_cond_wait(&staging->begun, &staging->lock);
        }
        if (staging->copies == seen) {
            break;
        }
        seen = staging->copies;
        pthread_mutex_unlock(&staging->lock);
        copy_shares(staging);
        pthread_mutex_lock(&staging->lock);
        if (--staging->busy == 0) {
            pthread_cond_signal(&staging->ended);
        }
    }
    pthread_mutex_unlock(&staging->lock);
    return NULL;
}

enum status staging_create(uint32_t threads, struct staging **ret_staging)
{
    struct staging *staging = (struct staging *)calloc(1, sizeof(*staging));
    if (staging == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_init(&staging->lock, NULL);
    pthread_cond_init(&staging->begun, NULL);
    pthread_cond_init(&staging->ended, NULL);
    const uint32_t wanted = threads < STAGING_THREADS_MAX ? threads : STAGING_THREADS_MAX;
    while (staging->thread_count + 1 < wanted &&
           pthread_create(&staging->threads[staging->thread_count], NULL, run_copier, staging) ==
               0) {
        staging->thread_count++;
    }
    *ret_staging = staging;
    return STATUS_OK;
}

void staging_destroy(struct staging *staging)
{
    if (staging == NULL) {
        return;
    }
    pthread_mutex_lock(&staging->lock);
    staging->closing = true;
    pthread_cond_broadcast(&staging->begun);
    pthread_mutex_unlock(&staging->lock);
    for (uint32_t i = 0; i < staging->thread_count; i++) {
        pthread_join(staging->threads[i], NULL);
    }
    pthread_cond_destroy(&staging->ended);
    pthread_cond_destroy(&staging->begun);
    pthread_mutex_destroy(&staging->lock);
    free(staging);
}

void staging_copy(struct staging *staging, const struct staging_copy *copy)
{
    if (copy->size <= SHARE_BYTES && copy->decimals == 0) {
        memcpy(copy->to, copy->from, copy->size);
        return;
    }
    pthread_mutex_lock(&staging->lock);
    staging->copy = *copy;
    atomic_store(&staging->next, 0);
    staging->busy = staging->thread_count;
    staging->copies++;
    pthread_cond_broadcast(&staging->begun);
    pthread_mutex_unlock(&staging->lock);
    copy_shares(staging);
    pthread_mutex_lock(&staging->lock);
    while (staging->busy > 0) {
        pthread_cond_wait(&staging->ended, &staging->lock);
    }
    pthread_mutex_unlock(&staging->lock);
}
