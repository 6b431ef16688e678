#include "server/solver/steps.h"

#include "server/solver/host_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this the pages cost less than the thread. */
#define SIZE_MIN ((size_t)16 << 20)
/* The largest part of the machine's memory whose pages are dirtied ahead. */
#define LARGEST_SHARE 4
/* One call to the kernel, after which a stop is heard. */
#define SLICE_BYTES ((size_t)4 << 20)

struct page_warmer {
    char *begin; /* of a page */
    size_t size;
    atomic_bool stopped;
    pthread_t thread;
};

/* Kernels before 5.14 refuse MADV_POPULATE_WRITE; any other error is one that the solver would meet
 * as well. Huge pages, where the file system has them, are made three times as fast. */
static void *run(void *context)
{
    struct page_warmer *warmer = context;
    (void)madvise(warmer->begin, warmer->size, MADV_HUGEPAGE);
    for (size_t offset = 0; offset < warmer->size && !atomic_load(&warmer->stopped);
         offset += SLICE_BYTES) {
        const size_t left = warmer->size - offset;
        const size_t size = left < SLICE_BYTES ? left : SLICE_BYTES;
        if (madvise(warmer->begin + offset, size, MADV_POPULATE_WRITE) != 0) {
            break;
        }
    }
    return NULL;
}

struct page_warmer *page_warmer_start(void *memory, size_t size)
{
    const size_t ahead = (uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE);
    if (size < SIZE_MIN || size > host_memory_total() / LARGEST_SHARE) {
        return NULL;
    }
    struct page_warmer *warmer = calloc(1, sizeof(*warmer));
    if (warmer == NULL) {
        return NULL;
    }
    warmer->begin = (char *)memory - ahead;
    warmer->size = size + ahead;
    if (pthread_create(&warmer->thread, NULL, run, warmer) != 0) {
        free(warmer);
        return NULL;
    }
    return warmer;
}

void page_warmer_stop(struct page_warmer *warmer)
{
    if (warmer != NULL) {
        atomic_store(&warmer->stopped, true);
        pthread_join(warmer->thread, NULL);
        free(warmer);
    }
}
