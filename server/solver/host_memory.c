/* A process in a control group may be killed long before the machine is full: the group's limit
 * and those of the groups around it count, less what of their use is file cache. Version 2 of
 * control groups only, the one of all current systems. */
#include "server/solver/solver.h"
#include "server/solver/steps.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define GROUPS "/sys/fs/cgroup"
#define PATH_SIZE 4096
#define LINE_SIZE 256

/* Less memory than this is made ready sooner than a thread. */
#define WARM_BYTES_MIN ((size_t)16 << 20)
/* One call to the kernel, after which a stop is heard. */
#define WARM_SLICE_BYTES ((size_t)4 << 20)

/* The number behind the name, at the beginning of a line; `otherwise` when there is none, as in the
 * "max" of a group without a limit. */
static uint64_t read_figure(const char *folder, const char *file, const char *name,
                            uint64_t otherwise)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *stream = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "re") : NULL;
    if (stream == NULL) {
        return otherwise;
    }
    uint64_t figure = otherwise;
    bool found = false;
    while (!found && fgets(line, sizeof(line), stream) != NULL) {
        found = strncmp(line, name, strlen(name)) == 0 &&
                sscanf(line + strlen(name), "%" SCNu64, &figure) == 1;
    }
    fclose(stream);
    return figure;
}

/* The folder of the process's own group; false in groups of version 1. A child of a confined
 * process may not read its own, but its parent's, which is the same. */
static bool find_group(char ret_folder[PATH_SIZE])
{
    char line[PATH_SIZE - sizeof(GROUPS)];
    FILE *stream = fopen("/proc/self/cgroup", "re");
    if (stream == NULL) {
        snprintf(line, sizeof(line), "/proc/%d/cgroup", (int)getppid());
        stream = fopen(line, "re");
    }
    if (stream == NULL) {
        return false;
    }
    bool found = false;
    while (!found && fgets(line, sizeof(line), stream) != NULL) {
        found = strncmp(line, "0::/", 4) == 0;
    }
    fclose(stream);
    if (found) {
        snprintf(ret_folder, PATH_SIZE, GROUPS "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    }
    return found;
}

uint64_t host_memory_available(void)
{
    char folder[PATH_SIZE];
    const uint64_t machine_kib = read_figure("/proc", "meminfo", "MemAvailable:", 0);
    if (machine_kib == 0) {
        return 0;
    }
    uint64_t least = machine_kib * 1024;
    bool more = find_group(folder);
    while (more) {
        const uint64_t most = read_figure(folder, "memory.max", "", UINT64_MAX);
        const uint64_t used = read_figure(folder, "memory.current", "", 0);
        const uint64_t cached = read_figure(folder, "memory.stat", "inactive_file ", 0) +
                                read_figure(folder, "memory.stat", "active_file ", 0);
        const uint64_t taken = used - (cached < used ? cached : used);
        const uint64_t left = taken < most ? most - taken : 0;
        least = left < least ? left : least;
        /* The group around it, up to the root. */
        char *const end = strrchr(folder, '/');
        more = end >= folder + strlen(GROUPS);
        *end = '\0';
    }
    return least > 0 ? least : 1;
}

uint64_t host_memory_total(void)
{
    const long pages = get_phys_pages();
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

void *host_memory_take(size_t size)
{
    if (size == 0 || size > host_memory_available() / 2) {
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void host_memory_give(void *memory, size_t size)
{
    if (memory != NULL) {
        munmap(memory, size);
    }
}

/* ---- Warming ---- */

struct host_memory_warmer {
    char *begin; /* of a page */
    size_t size;
    atomic_size_t next; /* where the next slice begins */
    atomic_bool stopped;
    uint32_t thread_count;
    pthread_t threads[HOST_MEMORY_WARM_THREADS_MAX];
};

/* Kernels before 5.14 refuse MADV_POPULATE_WRITE; any other error is one that the solver would meet
 * as well. */
static void *warm(void *context)
{
    struct host_memory_warmer *warmer = context;
    size_t offset;
    while (!atomic_load(&warmer->stopped) &&
           (offset = atomic_fetch_add(&warmer->next, WARM_SLICE_BYTES)) < warmer->size) {
        const size_t left = warmer->size - offset;
        const size_t size = left < WARM_SLICE_BYTES ? left : WARM_SLICE_BYTES;
        if (madvise(warmer->begin + offset, size, MADV_POPULATE_WRITE) != 0) {
            break;
        }
    }
    return NULL;
}

struct host_memory_warmer *host_memory_warm(void *memory, size_t size, uint32_t threads)
{
    const size_t ahead = (uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE);
    if (size < WARM_BYTES_MIN || size > host_memory_total() / HOST_MEMORY_WARM_SHARE) {
        return NULL;
    }
    struct host_memory_warmer *warmer = calloc(1, sizeof(*warmer));
    if (warmer == NULL) {
        return NULL;
    }
    warmer->begin = (char *)memory - ahead;
    warmer->size = size + ahead;
    /* Huge pages, where the file system has them, are made several times as fast, above all by
     * several threads. */
    (void)madvise(warmer->begin, warmer->size, MADV_HUGEPAGE);
    while (warmer->thread_count < threads && warmer->thread_count < HOST_MEMORY_WARM_THREADS_MAX &&
           pthread_create(&warmer->threads[warmer->thread_count], NULL, warm, warmer) == 0) {
        warmer->thread_count++;
    }
    return warmer;
}

void host_memory_stop_warming(struct host_memory_warmer *warmer)
{
    if (warmer != NULL) {
        atomic_store(&warmer->stopped, true);
        for (uint32_t i = 0; i < warmer->thread_count; i++) {
            pthread_join(warmer->threads[i], NULL);
        }
        free(warmer);
    }
}
