#include "server/solver/page_warmer.h"

#include "server/solver/cpu_pool.h"
#include "server/solver/host_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Below this the pages cost less than the threads. */
#define SIZE_MIN ((size_t)16 << 20)
/* More do not fault faster, and a service has other work for its processors. */
#define THREADS_MAX 8
/* Asked for at once: two huge pages. A stop is heard after it, and a disk that holds back writers
 * does so page by page. */
#define SLICE_BYTES ((size_t)4 << 20)
/* What a slice of large pages may cost. Where memory is the machine's own it takes a tenth. */
#define LARGE_LIMIT_NS INT64_C(4000000)

struct page_warmer {
    char *begin; /* of a page */
    size_t size;
    size_t page;
    atomic_size_t next; /* offset of the next slice that nobody has taken */
    atomic_bool stopped;
    atomic_bool large; /* pages are asked for, unless they are slow */
    pthread_t threads[THREADS_MAX];
    uint32_t thread_count;
};

/* Where the file system has them, pages of 2 MiB are made three times as fast as those of 4 KiB;
 * elsewhere the advice is refused and nothing is lost. But nothing else runs on a processor while
 * its kernel fills one, and that takes 10 ms where a virtual machine gets memory from its host only
 * then: beside a solver on all processors that is too long for those who wait for an answer. Found
 * once, it holds for the process. */
static atomic_bool large_pages_are_slow;

/* Kernels before 5.14 do not know how to populate. Adding nothing, as one instruction, leaves a
 * byte that the solver writes meanwhile as it is. */
static void touch(char *slice, size_t size, size_t page)
{
    for (size_t offset = 0; offset < size; offset += page) {
        __atomic_fetch_add(slice + offset, 0, __ATOMIC_RELAXED);
    }
}

static void warm(const struct page_warmer *warmer, size_t offset)
{
    const size_t left = warmer->size - offset;
    const size_t size = left < SLICE_BYTES ? left : SLICE_BYTES;
    /* Any other error is one that touching would meet as a signal: left to the solver. */
    if (madvise(warmer->begin + offset, size, MADV_POPULATE_WRITE) != 0 && errno == EINVAL) {
        touch(warmer->begin + offset, size, warmer->page);
    }
}

static int64_t own_time_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Beside a solver a fault brings its own page alone: what a disk reads ahead, all to be filled at
 * once, may be 8 MiB. */
static void choose_pages(struct page_warmer *warmer, enum page_warmer_company company)
{
    const bool beside = company == PAGE_WARMER_BESIDE_SOLVER;
    if (beside) {
        (void)madvise(warmer->begin, warmer->size, MADV_RANDOM);
    }
    if (!beside || !atomic_load(&large_pages_are_slow)) {
        (void)madvise(warmer->begin, warmer->size, MADV_HUGEPAGE);
        atomic_init(&warmer->large, beside);
    }
}

static void take_small_pages(struct page_warmer *warmer)
{
    if (atomic_exchange(&warmer->large, false)) {
        atomic_store(&large_pages_are_slow, true);
        (void)madvise(warmer->begin, warmer->size, MADV_NOHUGEPAGE);
    }
}

static void *run(void *context)
{
    struct page_warmer *warmer = context;
    while (!atomic_load(&warmer->stopped)) {
        const size_t offset = atomic_fetch_add(&warmer->next, SLICE_BYTES);
        if (offset >= warmer->size) {
            break;
        }
        const int64_t began_ns = own_time_ns();
        warm(warmer, offset);
        if (own_time_ns() - began_ns > LARGE_LIMIT_NS) {
            take_small_pages(warmer);
        }
    }
    return NULL;
}

/* Half of the processors: the solver and the service need some. */
static uint32_t count_threads(void)
{
    const uint32_t half = cpu_pool_cores() / 2;
    return half < 1 ? 1 : half > THREADS_MAX ? THREADS_MAX : half;
}

struct page_warmer *page_warmer_start(void *memory, size_t size, enum page_warmer_company company)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t ahead = (uintptr_t)memory % page;
    /* Pages of a file are dirty from now on, and large ones are written back 2 MiB at a time while
     * they still change: not of more than the share. */
    if (size < SIZE_MIN || host_memory_is_large(size)) {
        return NULL;
    }
    struct page_warmer *warmer = calloc(1, sizeof(*warmer));
    if (warmer == NULL) {
        return NULL;
    }
    warmer->begin = (char *)memory - ahead;
    warmer->size = size + ahead;
    warmer->page = page;
    choose_pages(warmer, company);
    const uint32_t wanted = count_threads();
    while (warmer->thread_count < wanted &&
           pthread_create(&warmer->threads[warmer->thread_count], NULL, run, warmer) == 0) {
        ++warmer->thread_count;
    }
    return warmer;
}

void page_warmer_stop(struct page_warmer *warmer)
{
    if (warmer == NULL) {
        return;
    }
    atomic_store(&warmer->stopped, true);
    while (warmer->thread_count > 0) {
        pthread_join(warmer->threads[--warmer->thread_count], NULL);
    }
}

/* The result is answered from this memory as long as the service runs: what has left it by then
 * comes back page by page, a hundred times as slowly, where nothing is read ahead. */
void page_warmer_destroy(struct page_warmer *warmer)
{
    if (warmer == NULL) {
        return;
    }
    page_warmer_stop(warmer);
    (void)madvise(warmer->begin, warmer->size, MADV_NORMAL);
    free(warmer);
}
