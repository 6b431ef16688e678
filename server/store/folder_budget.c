#include "server/store/folder_budget.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Smaller files count as this many bytes, so that the budget also limits their number. */
#define FILE_BYTES_MIN 65536

/* Returns the counted bytes of all files, and the name of the least recently modified file. */
static uint64_t measure(DIR *stream, bool (*is_ours)(const char *), char ret_oldest[NAME_MAX + 1])
{
    uint64_t bytes = 0;
    struct timespec oldest = {0};
    const struct dirent *entry;
    rewinddir(stream);
    while ((entry = readdir(stream)) != NULL) {
        const char *name = entry->d_name;
        struct stat about;
        if (name[0] == '.' || fstatat(dirfd(stream), name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (!S_ISREG(about.st_mode) || (is_ours != NULL && !is_ours(name))) {
            unlinkat(dirfd(stream), name, 0);
            continue;
        }
        const struct timespec used = about.st_mtim;
        if (bytes == 0 || used.tv_sec < oldest.tv_sec ||
            (used.tv_sec == oldest.tv_sec && used.tv_nsec < oldest.tv_nsec)) {
            oldest = used;
            snprintf(ret_oldest, NAME_MAX + 1, "%s", name);
        }
        bytes += about.st_size > FILE_BYTES_MIN ? (uint64_t)about.st_size : FILE_BYTES_MIN;
    }
    return bytes;
}

void folder_budget_apply(int folder, uint64_t bytes, bool (*is_ours)(const char *name))
{
    char oldest[NAME_MAX + 1];
    const int descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    while (stream != NULL && measure(stream, is_ours, oldest) > bytes &&
           unlinkat(folder, oldest, 0) == 0) {
    }
    if (stream != NULL) {
        closedir(stream);
    } else if (descriptor >= 0) {
        close(descriptor);
    }
}
