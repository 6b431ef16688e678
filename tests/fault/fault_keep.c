#include "tests/fault/fault_keep.h"

#include "server/job/worker_process.h"
#include "server/store/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR_LIMIT 1024
#define PAGE_SIZE 4096

static unsigned char *kept_page; /* the first of the file */
static int kept_file = -1;

/* A length of 0 makes a second mapping of shared memory (mremap(2)). */
static void keep_mapping(const struct matrix *matrix)
{
    unsigned char *page = (unsigned char *)((uintptr_t)matrix->elements / PAGE_SIZE * PAGE_SIZE);
    void *second = mremap(page, 0, PAGE_SIZE, MREMAP_MAYMOVE);
    if (second == MAP_FAILED) {
        abort();
    }
    kept_page = second;
}

static bool is_result(int descriptor, const struct matrix *matrix)
{
    struct stat about;
    size_t size;
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && fstat(descriptor, &about) == 0 &&
           S_ISREG(about.st_mode) && about.st_nlink == 0 &&
           result_file_size(matrix->vertex_count, matrix->kind, &size) == STATUS_OK &&
           (size_t)about.st_size == size;
}

static int find_descriptor(const struct matrix *matrix)
{
    int descriptor = WORKER_PROCESS_SOCKET + 1;
    while (descriptor < DESCRIPTOR_LIMIT && !is_result(descriptor, matrix)) {
        descriptor++;
    }
    return descriptor;
}

static void keep_descriptor(const struct matrix *matrix)
{
    kept_file = fcntl(find_descriptor(matrix), F_DUPFD_CLOEXEC, 0);
    if (kept_file < 0) {
        abort();
    }
}

/* So that who looks whether somebody can write it cannot open it. A confined one is refused that,
 * and has the mapping alone. */
static void lease(const struct matrix *matrix)
{
    if (signal(SIGIO, SIG_IGN) == SIG_ERR ||
        (fcntl(find_descriptor(matrix), F_SETLEASE, F_WRLCK) != 0 && errno != ENOSYS &&
         errno != EPERM)) {
        abort();
    }
}

void fault_keep(const char *how, const struct matrix *matrix)
{
    if (strcmp(how, "lease") == 0) {
        lease(matrix);
    }
    if (strcmp(how, "file") != 0) {
        keep_mapping(matrix);
    } else {
        keep_descriptor(matrix);
    }
}

void fault_keep_spoil(void)
{
    static const unsigned char wrong[64] = {1, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9};
    if (kept_page != NULL) {
        memcpy(kept_page + NPY_HEADER_SIZE, wrong, sizeof(wrong));
        munmap(kept_page, PAGE_SIZE);
        kept_page = NULL;
    }
    if (kept_file >= 0) {
        if (pwrite(kept_file, wrong, sizeof(wrong), NPY_HEADER_SIZE) != (ssize_t)sizeof(wrong)) {
            abort();
        }
        close(kept_file);
        kept_file = -1;
    }
}
