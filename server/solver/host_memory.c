/* A process in a control group may be killed long before the machine is full: the group's limit
 * and those of the groups around it count, less what of their use is file cache. Version 2 of
 * control groups only, the one of all current systems. */
#include "server/solver/host_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define GROUPS "/sys/fs/cgroup"
#define PATH_SIZE 4096
#define LINE_SIZE 256

/* The number behind the name, at the beginning of a line; false when there is none. */
static bool read_figure(const char *path, const char *name, uint64_t *ret_figure)
{
    char line[LINE_SIZE];
    FILE *stream = fopen(path, "re");
    bool found = false;
    if (stream == NULL) {
        return false;
    }
    const size_t length = strlen(name);
    while (!found && fgets(line, sizeof(line), stream) != NULL) {
        found =
            strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNu64, ret_figure) == 1;
    }
    fclose(stream);
    return found;
}

static bool read_group_figure(const char *group, const char *file, const char *name,
                              uint64_t *ret_figure)
{
    char path[PATH_SIZE];
    const int length = snprintf(path, sizeof(path), GROUPS "%s/%s", group, file);
    return length > 0 && (size_t)length < sizeof(path) && read_figure(path, name, ret_figure);
}

/* UINT64_MAX: no limit. */
static uint64_t group_available(const char *group)
{
    uint64_t most = 0;
    uint64_t used = 0;
    uint64_t cached = 0;
    uint64_t active = 0;
    if (!read_group_figure(group, "memory.max", "", &most) ||
        !read_group_figure(group, "memory.current", "", &used)) {
        return UINT64_MAX;
    }
    if (read_group_figure(group, "memory.stat", "inactive_file ", &cached) &&
        read_group_figure(group, "memory.stat", "active_file ", &active)) {
        cached += active;
    }
    used -= cached < used ? cached : used;
    return used < most ? most - used : 0;
}

/* A child of a confined process may not read its own, but its parent's, which is the same. */
static FILE *open_own_group(void)
{
    char path[sizeof("/proc/-2147483648/cgroup")];
    FILE *stream = fopen("/proc/self/cgroup", "re");
    if (stream == NULL) {
        snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)getppid());
        stream = fopen(path, "re");
    }
    return stream;
}

/* "0::/a/b" without its beginning and end of line; false in groups of version 1. */
static bool read_own_group(char *ret_group, size_t size)
{
    FILE *stream = open_own_group();
    bool found = false;
    if (stream == NULL) {
        return false;
    }
    char line[PATH_SIZE];
    while (!found && fgets(line, sizeof(line), stream) != NULL) {
        found = strncmp(line, "0::/", 4) == 0;
    }
    fclose(stream);
    if (found) {
        snprintf(ret_group, size, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    }
    return found;
}

/* The least of all groups from the process's own to the root. */
static uint64_t groups_available(void)
{
    char group[PATH_SIZE];
    uint64_t least = UINT64_MAX;
    if (!read_own_group(group, sizeof(group))) {
        return least;
    }
    for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
        *end = '\0';
        const uint64_t available = group_available(group);
        least = available < least ? available : least;
    }
    return least;
}

uint64_t host_memory_available(void)
{
    uint64_t machine_kib = 0;
    if (!read_figure("/proc/meminfo", "MemAvailable:", &machine_kib)) {
        return 0;
    }
    const uint64_t machine = machine_kib * 1024;
    const uint64_t groups = groups_available();
    const uint64_t least = machine < groups ? machine : groups;
    return least > 0 ? least : 1;
}

uint64_t host_memory_total(void)
{
    const long pages = get_phys_pages();
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}
