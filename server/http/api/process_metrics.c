#include "server/http/api/process_metrics.h"

#include "server/metrics.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* In bytes; false when it is not known. The file has pages (proc(5)). */
static bool read_memory(double *ret_virtual, double *ret_resident)
{
    unsigned long size;
    unsigned long resident;
    FILE *stream = fopen("/proc/self/statm", "re");
    if (stream == NULL) {
        return false;
    }
    const bool found = fscanf(stream, "%lu %lu", &size, &resident) == 2;
    fclose(stream);
    if (found) {
        *ret_virtual = (double)size * (double)sysconf(_SC_PAGESIZE);
        *ret_resident = (double)resident * (double)sysconf(_SC_PAGESIZE);
    }
    return found;
}

/* The descriptor that lists them is not counted; below 0 = not known. */
static double count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    double count = -1;
    if (folder == NULL) {
        return -1;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static void print(struct text *text, const char *name, const char *type, const char *help,
                  double value)
{
    metrics_print_head(text, name, type, help);
    metrics_print_sample(text, name, "", value);
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

void process_metrics_print(struct text *text)
{
    struct rusage usage;
    struct rlimit limit;
    double virtual_bytes;
    double resident_bytes;
    const double files = count_files();
    if (read_memory(&virtual_bytes, &resident_bytes)) {
        print(text, "process_virtual_memory_bytes", "gauge", "Virtual memory.", virtual_bytes);
        print(text, "process_resident_memory_bytes", "gauge",
              "Resident memory; pages of results that are mapped count.", resident_bytes);
    }
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        print(text, "process_cpu_seconds_total", "counter", "Processor time, user and system.",
              seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
    }
    if (files >= 0) {
        print(text, "process_open_fds", "gauge", "Open files.", files);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        print(text, "process_max_fds", "gauge", "Files that may be open.", (double)limit.rlim_cur);
    }
}
