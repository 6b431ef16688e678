#include "proto/read/edge_array.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on the C library gives an array a mapping of its own, whatever came before. */
#define LARGE_BYTES ((size_t)33 << 20)
/* Arrays of more than this call for as much address space: a mapping of their own goes back to the
 * system when it is freed, memory of a thread's heap need not. */
#define HEAP_BYTES ((size_t)4 << 20)
#define LARGE_PAGE_BYTES ((size_t)2 << 20)
/* More than the C library keeps in front of an array. */
#define FRONT_BYTES ((size_t)64)

/* To whole large pages: Linux puts such a mapping at the begin of one, and keeps its pages whole
 * when it grows. What is asked for beyond the array is not touched. */
static size_t round_up(size_t size)
{
    return ((size + FRONT_BYTES + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1)) - FRONT_BYTES;
}

/* The mapping as a whole, as a part of one is copied when it grows. Where there are no large pages,
 * all is as before. */
static void advise(const void *array, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)array & ~(page - 1);
    const uintptr_t end = ((uintptr_t)array + size + page - 1) & ~(page - 1);

    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

bool edge_array_resize(void *array_of, uint64_t count, size_t size)
{
    void **array = array_of;
    size_t bytes;
    void *moved;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        return false;
    }
    if (bytes > HEAP_BYTES) {
        bytes = round_up(bytes < LARGE_BYTES ? LARGE_BYTES : bytes);
    }
    moved = realloc(*array, bytes);
    if (moved == NULL) {
        return false;
    }
    *array = moved;
    if (bytes >= LARGE_BYTES) {
        advise(moved, bytes);
    }
    return true;
}
