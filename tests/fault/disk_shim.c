/* A library for LD_PRELOAD that counts the calls with which a program changes a folder. It kills
 * the process at one of these calls or makes this call fail, and stores the state that a power cut
 * would leave.
 *
 *   FAULT_FOLDER  absolute path: calls on files and folders below it are counted
 *   FAULT_COUNT   a file of three 8-byte numbers: the calls so far, the calls that have failed, and
 *                 the number of the faulty call if FAULT_AT is absent
 *   FAULT_AT      the number of the faulty call, from 1; 0 or absent = no fault
 *   FAULT_ACT     kill (before the call), short (half of a write), or the number of an errno
 *   FAULT_STICKY  1: all later calls of the same name fail too
 *   FAULT_ONLY    names of the calls to count, separated by commas; absent = all
 *   FAULT_IMAGE   a folder with files/ and names/: the contents of files (by inode) and the entries
 *                 of folders at their last fsync */
/* This file defines each call under its plain and its 64-bit name, so the headers must not redirect
 * one to the other. */
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *folder;
static const char *image;
static const char *only;
static uint64_t at;
static int error_code; /* errno of the faulty call; 0 = kill, -1 = short write */
static bool sticky;
static char sticky_name[32];
static _Atomic uint64_t *count; /* the three numbers in the file FAULT_COUNT */
static pthread_mutex_t image_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void)
{
    const char *act = getenv("FAULT_ACT");
    const char *path = getenv("FAULT_COUNT");
    folder = getenv("FAULT_FOLDER");
    image = getenv("FAULT_IMAGE");
    only = getenv("FAULT_ONLY");
    at = getenv("FAULT_AT") != NULL ? strtoull(getenv("FAULT_AT"), NULL, 10) : 0;
    sticky = getenv("FAULT_STICKY") != NULL;
    if (act != NULL && strcmp(act, "kill") != 0) {
        error_code = strcmp(act, "short") == 0 ? -1 : (int)strtol(act, NULL, 10);
    }
    int file = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
    void *page = file >= 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : NULL;
    count = page != MAP_FAILED ? page : NULL;
    if (count == NULL) {
        folder = NULL;
    }
}

static bool path_of(int descriptor, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static bool is_below(const char *path)
{
    const size_t size = folder != NULL ? strlen(folder) : 0;
    return size > 0 && strncmp(path, folder, size) == 0 &&
           (path[size] == '/' || path[size] == '\0');
}

static bool is_counted(int descriptor)
{
    char path[PATH_MAX];
    if (folder == NULL) {
        return false;
    }
    if (descriptor == AT_FDCWD) {
        return false;
    }
    return path_of(descriptor, path) && is_below(path);
}

static bool is_listed(const char *name)
{
    const char *found = only != NULL ? strstr(only, name) : NULL;
    const size_t size = strlen(name);
    return only == NULL || (found != NULL && (found == only || found[-1] == ',') &&
                            (found[size] == ',' || found[size] == '\0'));
}

enum verdict { GO_ON, FAIL, CUT };

static enum verdict step(const char *name, bool counted)
{
    if (!counted || !is_listed(name)) {
        return GO_ON;
    }
    const uint64_t number = atomic_fetch_add(count, 1) + 1;
    const uint64_t due = at > 0 ? at : atomic_load(count + 2);
    const bool again = sticky && due > 0 && number > due && strcmp(name, sticky_name) == 0;
    if (number != due && !again) {
        return GO_ON;
    }
    snprintf(sticky_name, sizeof sticky_name, "%s", name);
    if (error_code == 0) {
        kill(getpid(), SIGKILL);
        pause();
    }
    if (error_code < 0) {
        return CUT;
    }
    atomic_fetch_add(count + 1, 1);
    errno = error_code;
    return FAIL;
}

static void copy_file(int from, const char *name)
{
    char path[PATH_MAX];
    char final[PATH_MAX];
    char piece[65536];
    snprintf(path, sizeof path, "%s/files/.%s", image, name);
    snprintf(final, sizeof final, "%s/files/%s", image, name);
    int to = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t offset = 0;
    ssize_t got;
    while (to >= 0 && (got = pread(from, piece, sizeof piece, offset)) > 0) {
        if (syscall(SYS_pwrite64, to, piece, (size_t)got, offset) != got) {
            abort();
        }
        offset += got;
    }
    syscall(SYS_close, to);
    syscall(SYS_rename, path, final);
}

static void copy_names(int from, const char *name)
{
    char path[PATH_MAX];
    char final[PATH_MAX];
    snprintf(path, sizeof path, "%s/names/.%s", image, name);
    snprintf(final, sizeof final, "%s/names/%s", image, name);
    int again = (int)syscall(SYS_openat, from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fdopendir(again);
    int to = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        char line[PATH_MAX];
        int size = snprintf(line, sizeof line, "%llu %d %s\n", (unsigned long long)entry->d_ino,
                            entry->d_type == DT_DIR, entry->d_name);
        if (syscall(SYS_write, to, line, (size_t)size) != size) {
            abort();
        }
    }
    closedir(stream);
    syscall(SYS_close, to);
    syscall(SYS_rename, path, final);
}

static void keep(int descriptor)
{
    struct stat info;
    char name[32];
    if (image == NULL || !is_counted(descriptor) || fstat(descriptor, &info) != 0) {
        return;
    }
    snprintf(name, sizeof name, "%llu", (unsigned long long)info.st_ino);
    pthread_mutex_lock(&image_lock);
    if (S_ISDIR(info.st_mode)) {
        copy_names(descriptor, name);
    } else {
        copy_file(descriptor, name);
    }
    pthread_mutex_unlock(&image_lock);
}

/* Forgets the saved content of an inode, because a new file may reuse a deleted file's inode. */
static void forget(int descriptor)
{
    struct stat info;
    char path[PATH_MAX];
    if (image == NULL || !is_counted(descriptor) || fstat(descriptor, &info) != 0 ||
        info.st_size > 0 || !S_ISREG(info.st_mode)) {
        return;
    }
    snprintf(path, sizeof path, "%s/files/%llu", image, (unsigned long long)info.st_ino);
    syscall(SYS_unlink, path);
}

#define WRITE(symbol)                                                                              \
    ssize_t symbol(int descriptor, const void *bytes, size_t size, off_t offset)                   \
    {                                                                                              \
        switch (step("pwrite", is_counted(descriptor))) {                                          \
        case FAIL:                                                                                 \
            return -1;                                                                             \
        case CUT:                                                                                  \
            size = size > 1 ? size / 2 : size;                                                     \
            break;                                                                                 \
        case GO_ON:                                                                                \
            break;                                                                                 \
        }                                                                                          \
        return syscall(SYS_pwrite64, descriptor, bytes, size, offset);                             \
    }
WRITE(pwrite)
WRITE(pwrite64)

/* write() is counted under the name `append`. */
ssize_t write(int descriptor, const void *bytes, size_t size)
{
    const enum verdict verdict = step("append", is_counted(descriptor));
    if (verdict == FAIL) {
        return -1;
    }
    return syscall(SYS_write, descriptor, bytes, verdict == CUT && size > 1 ? size / 2 : size);
}

#define SYNC(symbol)                                                                               \
    int symbol(int descriptor)                                                                     \
    {                                                                                              \
        if (step("fsync", is_counted(descriptor)) == FAIL) {                                       \
            return -1;                                                                             \
        }                                                                                          \
        int failed = (int)syscall(SYS_##symbol, descriptor);                                       \
        if (failed == 0) {                                                                         \
            keep(descriptor);                                                                      \
        }                                                                                          \
        return failed;                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(symbol)                                                                           \
    int symbol(int descriptor, off_t size)                                                         \
    {                                                                                              \
        if (step("ftruncate", is_counted(descriptor)) == FAIL) {                                   \
            return -1;                                                                             \
        }                                                                                          \
        return (int)syscall(SYS_ftruncate, descriptor, size);                                      \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define ALLOCATE(symbol)                                                                           \
    int symbol(int descriptor, off_t offset, off_t size)                                           \
    {                                                                                              \
        if (step("fallocate", is_counted(descriptor)) == FAIL) {                                   \
            return errno;                                                                          \
        }                                                                                          \
        return syscall(SYS_fallocate, descriptor, 0, offset, size) == 0 ? 0 : errno;               \
    }
ALLOCATE(posix_fallocate)
ALLOCATE(posix_fallocate64)

int renameat(int from, const char *path, int to, const char *name)
{
    if (step("renameat", is_counted(to)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_renameat2, from, path, to, name, 0);
}

int linkat(int from, const char *path, int to, const char *name, int flags)
{
    if (step("linkat", is_counted(to)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int unlinkat(int from, const char *path, int flags)
{
    if (step("unlinkat", is_counted(from)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_unlinkat, from, path, flags);
}

int unlink(const char *path)
{
    if (step("unlinkat", is_below(path)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
    if (step("mkdir", is_below(path)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int at_folder, const char *path, mode_t mode)
{
    if (step("mkdir", is_counted(at_folder)) == FAIL) {
        return -1;
    }
    return (int)syscall(SYS_mkdirat, at_folder, path, mode);
}

/* Counts only calls that create a file; opening an existing file does not change the folder. */
static int open_counted(int at_folder, const char *path, int flags, mode_t mode)
{
    const bool makes = (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
    const bool counted =
        makes && (path[0] == '/' ? is_below(path) : folder != NULL && is_counted(at_folder));
    if (step("open", counted) == FAIL) {
        return -1;
    }
    int descriptor = (int)syscall(SYS_openat, at_folder, path, flags, mode);
    if (descriptor >= 0 && counted) {
        int failure = errno;
        forget(descriptor);
        errno = failure;
    }
    return descriptor;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define OPENAT(symbol)                                                                             \
    int symbol(int at_folder, const char *path, int flags, ...)                                    \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = mode_of(flags, arguments);                                                   \
        va_end(arguments);                                                                         \
        return open_counted(at_folder, path, flags, mode);                                         \
    }
OPENAT(openat)
OPENAT(openat64)

#define OPEN(symbol)                                                                               \
    int symbol(const char *path, int flags, ...)                                                   \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = mode_of(flags, arguments);                                                   \
        va_end(arguments);                                                                         \
        return open_counted(AT_FDCWD, path, flags, mode);                                          \
    }
OPEN(open)
OPEN(open64)
