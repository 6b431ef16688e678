#include "server/store/result_file.h"

#include "proto/check.h"
#include "server/store/block_table.h"
#include "server/store/draft_file.h"
#include "server/store/file_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE ((size_t)1 << 20)

struct result_file {
    struct draft_file draft; /* no longer a draft once published; holds the descriptor */
    uint32_t vertex_count;
    enum kind kind;
    bool published;
    bool reclaimed;       /* the descriptor is open for reading alone, and has a lease */
    unsigned char *bytes; /* the mapping, header first */
    size_t npy_size;
    size_t covered_size; /* .npy and statistics */
    size_t size;
    struct block_table *blocks;
    struct statistics statistics; /* in the mapping */
};

#define STATISTICS_ALIGNMENT ((size_t)16)

static size_t statistics_offset(size_t npy_size)
{
    return (npy_size + STATISTICS_ALIGNMENT - 1) / STATISTICS_ALIGNMENT * STATISTICS_ALIGNMENT;
}

struct sizes {
    size_t npy;
    size_t covered;
    size_t all;
};

/* Half of what an off_t holds leaves room for all that lies behind the matrix. */
static enum status find_sizes(uint32_t vertex_count, enum kind kind, struct sizes *ret_sizes)
{
    size_t size;
    enum status status = matrix_size(vertex_count, kind, &size);
    if (status != STATUS_OK) {
        return status;
    }
    if (size > INT64_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    ret_sizes->npy = size + NPY_HEADER_SIZE;
    ret_sizes->covered = statistics_offset(ret_sizes->npy) + statistics_size(vertex_count);
    ret_sizes->all = ret_sizes->covered + block_table_size(ret_sizes->covered);
    return STATUS_OK;
}

enum status result_file_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes)
{
    struct sizes sizes;
    enum status status = find_sizes(vertex_count, kind, &sizes);
    if (status == STATUS_OK) {
        *ret_bytes = sizes.all;
    }
    return status;
}

/* A file of the size that this matrix needs, with nothing in it yet. */
static enum status allocate(uint32_t vertex_count, enum kind kind, struct result_file **ret_file)
{
    struct sizes sizes;
    enum status status = find_sizes(vertex_count, kind, &sizes);
    if (status != STATUS_OK) {
        return status;
    }
    struct result_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return STATUS_NO_MEMORY;
    }
    file->draft.descriptor = -1;
    file->vertex_count = vertex_count;
    file->kind = kind;
    file->npy_size = sizes.npy;
    file->covered_size = sizes.covered;
    file->size = sizes.all;
    status = block_table_create(sizes.covered, &file->blocks);
    if (status != STATUS_OK) {
        result_file_destroy(file);
        return status;
    }
    *ret_file = file;
    return STATUS_OK;
}

static enum status map(struct result_file *file, int protection)
{
    void *bytes = mmap(NULL, file->size, protection, MAP_SHARED, file->draft.descriptor, 0);
    if (bytes == MAP_FAILED) {
        return draft_file_status(errno);
    }
    file->bytes = bytes;
    return STATUS_OK;
}

static void unmap(struct result_file *file)
{
    if (file->bytes != NULL) {
        munmap(file->bytes, file->size);
    }
    file->bytes = NULL;
    file->statistics = (struct statistics){0};
}

static enum status write_zeros(int descriptor, uint64_t size)
{
    unsigned char *zeros = calloc(1, BLOCK_SIZE);
    if (zeros == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    for (uint64_t offset = 0; offset < size && status == STATUS_OK; offset += BLOCK_SIZE) {
        uint64_t left = size - offset;
        status = draft_file_write(descriptor, offset, zeros,
                                  left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE);
    }
    free(zeros);
    return status;
}

/* A page of the mapping without a block behind it would be a SIGBUS on a full disk, so the blocks
 * are taken here; where the file system cannot reserve (EOPNOTSUPP), by writing them. */
static enum status reserve(int descriptor, uint64_t size)
{
    int failed;
    do {
        failed = fallocate(descriptor, 0, 0, (off_t)size);
    } while (failed != 0 && errno == EINTR);
    if (failed == 0) {
        return STATUS_OK;
    }
    return errno == EOPNOTSUPP ? write_zeros(descriptor, size) : draft_file_status(errno);
}

enum status result_file_create(int folder, uint32_t vertex_count, enum kind kind,
                               struct result_file **ret_file)
{
    struct result_file *file;
    enum status status = allocate(vertex_count, kind, &file);
    if (status != STATUS_OK) {
        return status;
    }
    status = draft_file_create(folder, &file->draft);
    if (status != STATUS_OK) {
        goto fail;
    }
    status = reserve(file->draft.descriptor, file->size);
    if (status != STATUS_OK) {
        goto fail;
    }
    status = map(file, PROT_READ | PROT_WRITE);
    if (status != STATUS_OK) {
        goto fail;
    }
    npy_header_write(kind, vertex_count, vertex_count, file->bytes);
    file->statistics =
        statistics_init(file->bytes + statistics_offset(file->npy_size), vertex_count, kind);
    *ret_file = file;
    return STATUS_OK;
fail:
    result_file_destroy(file);
    return status;
}

/* Exactly the bytes that we would have written, so that a header is never interpreted. */
static enum status check_header(const struct result_file *file)
{
    unsigned char expected[NPY_HEADER_SIZE];
    unsigned char found[NPY_HEADER_SIZE];
    struct stat info;
    if (fstat(file->draft.descriptor, &info) != 0) {
        return draft_file_status(errno);
    }
    const uint64_t size = (uint64_t)info.st_size;
    if (size != file->size && size != file->covered_size && size != file->npy_size) {
        return STATUS_CORRUPT;
    }
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, expected);
    enum status status = draft_file_read(file->draft.descriptor, 0, found, sizeof found);
    if (status == STATUS_OK && memcmp(found, expected, sizeof found) != 0) {
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK && size != file->size) {
        status = STATUS_NOT_SOLVED;
    }
    return status;
}

enum status result_file_adopt(int descriptor, uint32_t vertex_count, enum kind kind,
                              struct result_file **ret_file)
{
    struct result_file *file;
    enum status status = allocate(vertex_count, kind, &file);
    if (status != STATUS_OK) {
        return status;
    }
    file->draft.descriptor = descriptor;
    status = check_header(file);
    if (status == STATUS_OK) {
        status = map(file, PROT_READ | PROT_WRITE);
    }
    if (status == STATUS_OK) {
        status = statistics_open(file->bytes + statistics_offset(file->npy_size), vertex_count,
                                 kind, &file->statistics);
    }
    if (status != STATUS_OK) {
        file->draft.descriptor = -1; /* stays the caller's */
        result_file_destroy(file);
        return status;
    }
    *ret_file = file;
    return STATUS_OK;
}

/* The head of the statistics is looked at, so its block is verified first. */
static enum status open_blocks(struct result_file *file, uint64_t checksum)
{
    const size_t offset = statistics_offset(file->npy_size);
    enum status status = block_table_read(file->blocks, file->draft.descriptor, checksum);
    if (status == STATUS_OK) {
        status =
            block_table_verify(file->blocks, file->draft.descriptor, offset, statistics_size(0));
    }
    if (status == STATUS_OK) {
        status = map(file, PROT_READ);
    }
    if (status == STATUS_OK) {
        status = statistics_open(file->bytes + offset, file->vertex_count, file->kind,
                                 &file->statistics);
    }
    return status;
}

enum status result_file_open(int folder, const char *name, uint32_t vertex_count, enum kind kind,
                             uint64_t checksum, struct result_file **ret_file)
{
    struct result_file *file;
    enum status status = allocate(vertex_count, kind, &file);
    if (status != STATUS_OK) {
        return status;
    }
    file->published = true;
    file->draft.descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file->draft.descriptor < 0) {
        status = draft_file_status(errno);
        goto fail;
    }
    status = check_header(file);
    if (status != STATUS_OK) {
        goto fail;
    }
    status = open_blocks(file, checksum);
    if (status != STATUS_OK) {
        goto fail;
    }
    *ret_file = file;
    return STATUS_OK;
fail:
    result_file_destroy(file);
    return status;
}

void result_file_destroy(struct result_file *file)
{
    if (file == NULL) {
        return;
    }
    unmap(file);
    draft_file_finish(&file->draft);
    block_table_destroy(file->blocks);
    free(file);
}

struct matrix result_file_matrix(const struct result_file *file)
{
    return (struct matrix){.vertex_count = file->vertex_count,
                           .kind = file->kind,
                           .elements = file->bytes + NPY_HEADER_SIZE};
}

const struct statistics *result_file_statistics(const struct result_file *file)
{
    return &file->statistics;
}

uint64_t result_file_statistics_offset(const struct result_file *file)
{
    return statistics_offset(file->npy_size);
}

/* The same file by another descriptor, instead. Not waited for: a process that was broken into
 * could have a lease of its own on it, STATUS_NOT_READY then. */
static enum status reopen(struct result_file *file, int flags)
{
    const int descriptor = draft_file_reopen(&file->draft, flags | O_NONBLOCK);
    if (descriptor < 0) {
        return errno == EWOULDBLOCK ? STATUS_NOT_READY : draft_file_status(errno);
    }
    close(file->draft.descriptor);
    file->draft.descriptor = descriptor;
    return STATUS_OK;
}

/* To look at what was cut off would be a SIGBUS. */
static enum status check_size(const struct result_file *file)
{
    struct stat info;
    if (fstat(file->draft.descriptor, &info) != 0) {
        return draft_file_status(errno);
    }
    return (uint64_t)info.st_size == file->size ? STATUS_OK : STATUS_CORRUPT;
}

/* Where there is no procfs it cannot be known either, and all stays as it is. */
enum status result_file_reclaim(struct result_file *file)
{
    enum status status = reopen(file, O_RDONLY);
    if (status != STATUS_OK) {
        return status == STATUS_IO ? check_size(file) : status;
    }
    file->reclaimed = true;
    unmap(file);
    status = file_lease_take(file->draft.descriptor);
    if (status == STATUS_OK) {
        status = check_size(file);
    }
    if (status == STATUS_OK) {
        status = map(file, PROT_READ);
    }
    if (status == STATUS_OK &&
        statistics_open(file->bytes + statistics_offset(file->npy_size), file->vertex_count,
                        file->kind, &file->statistics) != STATUS_OK) {
        /* Whoever seals it sees that again. */
        file->statistics = (struct statistics){0};
    }
    return status;
}

/* The checksums of the blocks are to be written still. */
static enum status make_writable(struct result_file *file)
{
    file_lease_drop(file->draft.descriptor);
    const enum status status = reopen(file, O_RDWR);
    file->reclaimed = status != STATUS_OK;
    return status == STATUS_NOT_READY ? STATUS_IO : status;
}

enum status result_file_seal(struct result_file *file)
{
    unsigned char header[NPY_HEADER_SIZE];
    struct statistics statistics;
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, header);
    if (memcmp(file->bytes, header, sizeof header) != 0 ||
        statistics_open(file->bytes + statistics_offset(file->npy_size), file->vertex_count,
                        file->kind, &statistics) != STATUS_OK) {
        return STATUS_CORRUPT;
    }
    if (file->reclaimed) {
        return make_writable(file);
    }
    if (mprotect(file->bytes, file->size, PROT_READ) != 0) {
        return draft_file_status(errno);
    }
    return STATUS_OK;
}

bool result_file_is_published(const struct result_file *file)
{
    return file->published;
}

int result_file_descriptor(const struct result_file *file)
{
    return file->draft.descriptor;
}

uint64_t result_file_bytes(const struct result_file *file)
{
    return file->size;
}

enum status result_file_checksum(const struct result_file *file, uint64_t *ret_checksum)
{
    enum status status = STATUS_OK;
    if (!file->published) {
        status = block_table_write(file->blocks, file->draft.descriptor);
    }
    if (status == STATUS_OK) {
        *ret_checksum = block_table_checksum(file->blocks);
    }
    return status;
}

bool result_file_is_sound(const struct result_file *file, uint64_t offset, uint64_t size)
{
    return block_table_is_sound(file->blocks, offset, size);
}

enum status result_file_verify(const struct result_file *file, uint64_t offset, uint64_t size)
{
    return block_table_verify(file->blocks, file->draft.descriptor, offset, size);
}

const struct block_table *result_file_blocks(const struct result_file *file)
{
    return file->blocks;
}

enum status result_file_publish(struct result_file *file, int folder, const char *name)
{
    CHECK(!file->published);
    enum status status = draft_file_publish(&file->draft, folder, name);
    file->published = status == STATUS_OK;
    return status;
}
