/* A library for LD_PRELOAD that makes one allocation fail.
 *
 *   FAULT_COUNT  a file with the number of allocations so far, in 8 bytes
 *   FAULT_AT     the number of the allocation that fails, from 1; 0 or absent = none */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *bytes, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic uint64_t *count;
static uint64_t at;

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("FAULT_COUNT");
    int file = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
    void *page = file >= 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : NULL;
    at = getenv("FAULT_AT") != NULL ? strtoull(getenv("FAULT_AT"), NULL, 10) : 0;
    count = page != MAP_FAILED ? page : NULL;
}

static bool fails(void)
{
    if (count == NULL || atomic_fetch_add(count, 1) + 1 != at) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *bytes, size_t size)
{
    return fails() ? NULL : __libc_realloc(bytes, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}
