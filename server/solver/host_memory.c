/* A process in a control group may be killed long before the machine is out of memory. So the
 * limits of its group and of all parent groups apply, each minus the memory, other than file cache,
 * that the group uses. Supports control groups of version 1 and 2. */
#include "server/solver/host_memory.h"

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
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Smallest memory that is faulted in ahead: for less, starting the thread would take longer. */
#define WARM_BYTES_MIN ((size_t)16 << 20)
/* Bytes that one call to the kernel faults in; the thread checks for a stop between calls. */
#define WARM_SLICE_BYTES ((size_t)4 << 20)

/* Reads the number after a name at the beginning of a line. Returns `otherwise` if there is no
 * number, such as for the "max" of a group without a limit. */
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

/* Names in cgroup v2 and v1: limit and used are files, the others are lines of memory.stat. */
struct group_files {
    const char *limit;
    const char *used;
    const char *inactive;
    const char *active;
};
static const struct group_files versions[2] = {
    {"memory.max", "memory.current", "inactive_file ", "active_file "},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
     "total_active_file "},
};

struct group {
    const struct group_files *files;
    char folder[PATH_SIZE];
};

/* Parses a line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH", and returns the path of the memory
 * group. Returns NULL for a line of other controllers. Only version 1 names controllers. */
static const char *parse_group_line(const char *line, bool *ret_is_old)
{
    const char *controllers = strchr(line, ':');
    const char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL) {
        return NULL;
    }
    for (const char *word = controllers + 1; word < path; word += strcspn(word, ",:") + 1) {
        *ret_is_old = strcspn(word, ",:") == strlen("memory") && strncmp(word, "memory", 6) == 0;
        if (*ret_is_old) {
            return path + 1;
        }
    }
    *ret_is_old = false;
    return strncmp(line, "0::/", 4) == 0 ? path + 1 : NULL;
}

/* Finds the control group of the process; returns false if it has none. A child of a confined
 * process cannot read its own entry in /proc, but can read its parent's, which names the same
 * group. If both versions are mounted, version 1 controls the memory. */
static bool find_group(struct group *ret_group)
{
    char line[PATH_SIZE - sizeof(GROUPS "/memory")];
    FILE *stream = fopen("/proc/self/cgroup", "re");
    if (stream == NULL) {
        snprintf(line, sizeof(line), "/proc/%d/cgroup", (int)getppid());
        stream = fopen(line, "re");
    }
    if (stream == NULL) {
        return false;
    }
    ret_group->files = NULL;
    while (ret_group->files != &versions[1] && fgets(line, sizeof(line), stream) != NULL) {
        bool is_old;
        const char *path = parse_group_line(line, &is_old);
        if (path != NULL) {
            ret_group->files = &versions[is_old];
            snprintf(ret_group->folder, PATH_SIZE, GROUPS "%s%.*s", is_old ? "/memory" : "",
                     (int)strcspn(path, "\n"), path);
        }
    }
    fclose(stream);
    return ret_group->files != NULL;
}

/* Returns the minimum of `bytes` and the limits of the process's group and all of its parents. With
 * only_left, the memory that a group uses, other than file cache, is subtracted from its limit. */
static uint64_t limit_by_groups(uint64_t bytes, bool only_left)
{
    struct group group;
    bool more = find_group(&group);
    while (more) {
        uint64_t most = read_figure(group.folder, group.files->limit, "", UINT64_MAX);
        if (only_left) {
            const uint64_t used = read_figure(group.folder, group.files->used, "", 0);
            const uint64_t cached =
                read_figure(group.folder, "memory.stat", group.files->inactive, 0) +
                read_figure(group.folder, "memory.stat", group.files->active, 0);
            const uint64_t taken = used - (cached < used ? cached : used);
            most = taken < most ? most - taken : 0;
        }
        bytes = most < bytes ? most : bytes;
        char *const end = strrchr(group.folder, '/');
        more = end >= group.folder + strlen(GROUPS);
        *end = '\0';
    }
    return bytes;
}

uint64_t host_memory_available(void)
{
    const uint64_t machine_kib = read_figure("/proc", "meminfo", "MemAvailable:", 0);
    if (machine_kib == 0) {
        return 0;
    }
    const uint64_t bytes = limit_by_groups(machine_kib * 1024, true);
    return bytes > 0 ? bytes : 1;
}

uint64_t host_memory_total(void)
{
    const long pages = get_phys_pages();
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? limit_by_groups((uint64_t)pages * (uint64_t)page, false) : 0;
}

void host_memory_use_huge_pages(void *memory, size_t size)
{
    const size_t ahead = (uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE);
    if (size >= HUGE_PAGE_BYTES) {
        (void)madvise((char *)memory - ahead, size + ahead, MADV_HUGEPAGE);
    }
}

void *host_memory_allocate(size_t size)
{
    if (size == 0 || size > host_memory_available() / 2) {
        return NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    host_memory_use_huge_pages(memory, size);
    return memory;
}

void host_memory_free(void *memory, size_t size)
{
    if (memory != NULL) {
        munmap(memory, size);
    }
}

struct host_memory_warmer {
    char *begin; /* beginning of a page */
    size_t size;
    atomic_size_t next; /* offset of the next slice */
    atomic_bool stopped;
    uint32_t thread_count;
    pthread_t threads[HOST_MEMORY_WARM_THREADS_MAX];
};

/* Faults in slices until the first error. Kernels before 5.14 refuse MADV_POPULATE_WRITE; any other
 * error would also stop the solver, which reports it. */
static void *warm_pages(void *context)
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
    host_memory_use_huge_pages(memory, size);
    while (warmer->thread_count < threads && warmer->thread_count < HOST_MEMORY_WARM_THREADS_MAX &&
           pthread_create(&warmer->threads[warmer->thread_count], NULL, warm_pages, warmer) == 0) {
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
