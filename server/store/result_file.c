#include "server/store/result_file.h"

#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Each block of this many bytes has a checksum. */
#define BLOCK_SIZE ((size_t)1 << 18)
/* Written at a time where blocks of the disk cannot be reserved. */
#define ZEROS_SIZE ((size_t)1 << 20)
#define WORD_BITS 64
#define PIECE_SIZE ((size_t)1 << 15)

struct blocks {
    uint64_t covered_bytes;
    uint64_t count;
    atomic_uint_fast64_t unsound; /* blocks not found sound yet: 0 spares the look at the bits */
    atomic_uint_fast64_t *sound;  /* a bit for each block */
    uint64_t *checksums;
};

static uint64_t blocks_of(uint64_t bytes)
{
    return bytes / BLOCK_SIZE + (bytes % BLOCK_SIZE > 0);
}

static uint64_t checksums_size(uint64_t covered_bytes)
{
    return blocks_of(covered_bytes) * sizeof(uint64_t);
}

static void blocks_destroy(struct blocks *blocks)
{
    if (blocks != NULL) {
        free(blocks->checksums);
        free(blocks->sound);
    }
    free(blocks);
}

/* Every block is sound: of a file that is being written. */
static enum status blocks_create(uint64_t covered_bytes, struct blocks **ret_blocks)
{
    struct blocks *blocks = calloc(1, sizeof(*blocks));
    if (blocks == NULL) {
        return STATUS_NO_MEMORY;
    }
    blocks->covered_bytes = covered_bytes;
    blocks->count = blocks_of(covered_bytes);
    blocks->checksums = calloc(blocks->count, sizeof(*blocks->checksums));
    blocks->sound = calloc(blocks->count / WORD_BITS + 1, sizeof(*blocks->sound));
    if (blocks->checksums == NULL || blocks->sound == NULL) {
        blocks_destroy(blocks);
        return STATUS_NO_MEMORY;
    }
    *ret_blocks = blocks;
    return STATUS_OK;
}

static size_t size_of_block(const struct blocks *blocks, uint64_t index)
{
    uint64_t left = blocks->covered_bytes - index * BLOCK_SIZE;
    return left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;
}

/* By pieces on the stack: a question for a result never fails for want of memory here. */
static enum status digest(const struct blocks *blocks, int descriptor, uint64_t index,
                          uint64_t *ret_checksum)
{
    unsigned char piece[PIECE_SIZE];
    XXH3_state_t state;
    uint64_t offset = index * BLOCK_SIZE;
    size_t left = size_of_block(blocks, index);
    XXH3_64bits_reset(&state);
    while (left > 0) {
        const size_t size = left < sizeof(piece) ? left : sizeof(piece);
        enum status status = draft_file_read(descriptor, offset, piece, size);
        if (status != STATUS_OK) {
            return status;
        }
        XXH3_64bits_update(&state, piece, size);
        offset += size;
        left -= size;
    }
    *ret_checksum = XXH3_64bits_digest(&state);
    return STATUS_OK;
}

/* Reads what the file holds, and writes the checksums behind it. */
static enum status blocks_write(struct blocks *blocks, int descriptor)
{
    for (uint64_t i = 0; i < blocks->count; i++) {
        const enum status status = digest(blocks, descriptor, i, &blocks->checksums[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return draft_file_write(descriptor, blocks->covered_bytes, blocks->checksums,
                            checksums_size(blocks->covered_bytes));
}

/* The checksum of the table of checksums. */
static uint64_t blocks_checksum(const struct blocks *blocks)
{
    return XXH3_64bits(blocks->checksums, checksums_size(blocks->covered_bytes));
}

/* No block is sound until it has been read again. */
static enum status blocks_read(struct blocks *blocks, int descriptor, uint64_t checksum)
{
    enum status status = draft_file_read(descriptor, blocks->covered_bytes, blocks->checksums,
                                         checksums_size(blocks->covered_bytes));
    if (status == STATUS_OK && blocks_checksum(blocks) != checksum) {
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        atomic_store(&blocks->unsound, blocks->count);
    }
    return status;
}

/* ---- What has been found sound ---- */

static bool is_sound(const struct blocks *blocks, uint64_t index)
{
    uint64_t word = atomic_load_explicit(&blocks->sound[index / WORD_BITS], memory_order_acquire);
    return (word >> index % WORD_BITS & 1) != 0;
}

static bool blocks_are_sound(const struct blocks *blocks, uint64_t offset, uint64_t size)
{
    if (atomic_load_explicit(&blocks->unsound, memory_order_acquire) == 0 || size == 0) {
        return true;
    }
    CHECK(size <= blocks->covered_bytes && offset <= blocks->covered_bytes - size);
    for (uint64_t i = offset / BLOCK_SIZE; i <= (offset + size - 1) / BLOCK_SIZE; i++) {
        if (!is_sound(blocks, i)) {
            return false;
        }
    }
    return true;
}

/* Two threads may have verified the same block; it counts once. */
static void note_sound(struct blocks *blocks, uint64_t index)
{
    const uint64_t bit = UINT64_C(1) << index % WORD_BITS;
    if ((atomic_fetch_or(&blocks->sound[index / WORD_BITS], bit) & bit) == 0) {
        atomic_fetch_sub(&blocks->unsound, 1);
    }
}

/* Reads those blocks that have not been found sound: all are after STATUS_OK. */
static enum status blocks_verify(struct blocks *blocks, int descriptor, uint64_t offset,
                                 uint64_t size)
{
    if (blocks_are_sound(blocks, offset, size)) {
        return STATUS_OK;
    }
    const uint64_t last = (offset + size - 1) / BLOCK_SIZE;
    for (uint64_t i = offset / BLOCK_SIZE; i <= last; i++) {
        uint64_t checksum = 0;
        if (is_sound(blocks, i)) {
            continue;
        }
        const enum status status = digest(blocks, descriptor, i, &checksum);
        if (status != STATUS_OK) {
            return status;
        }
        if (checksum != blocks->checksums[i]) {
            return STATUS_CORRUPT;
        }
        note_sound(blocks, i);
    }
    return STATUS_OK;
}

/* ---- The file ---- */

struct result_file {
    struct draft_file draft; /* no longer a draft once published; holds the descriptor */
    uint32_t vertex_count;
    enum kind kind;
    bool published;
    unsigned char *bytes; /* the mapping, header first */
    size_t npy_size;
    size_t covered_size; /* .npy and statistics */
    size_t size;
    struct blocks *blocks;        /* changes while the file is const */
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
    ret_sizes->all = ret_sizes->covered + checksums_size(ret_sizes->covered);
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
    struct result_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        return STATUS_NO_MEMORY;
    }
    file->draft.descriptor = -1;
    file->vertex_count = vertex_count;
    file->kind = kind;
    file->npy_size = sizes.npy;
    file->covered_size = sizes.covered;
    file->size = sizes.all;
    status = blocks_create(sizes.covered, &file->blocks);
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
    unsigned char *zeros = calloc(1, ZEROS_SIZE);
    if (zeros == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    for (uint64_t offset = 0; offset < size && status == STATUS_OK; offset += ZEROS_SIZE) {
        uint64_t left = size - offset;
        status = draft_file_write(descriptor, offset, zeros,
                                  left < ZEROS_SIZE ? (size_t)left : ZEROS_SIZE);
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
    if ((uint64_t)info.st_size != file->size) {
        return STATUS_CORRUPT;
    }
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, expected);
    enum status status = draft_file_read(file->draft.descriptor, 0, found, sizeof(found));
    return status == STATUS_OK && memcmp(found, expected, sizeof(found)) != 0 ? STATUS_CORRUPT
                                                                              : status;
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
    enum status status = blocks_read(file->blocks, file->draft.descriptor, checksum);
    if (status == STATUS_OK) {
        status = blocks_verify(file->blocks, file->draft.descriptor, offset, statistics_size(0));
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
    blocks_destroy(file->blocks);
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

enum status result_file_seal(struct result_file *file)
{
    unsigned char header[NPY_HEADER_SIZE];
    struct statistics statistics;
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, header);
    if (memcmp(file->bytes, header, sizeof(header)) != 0 ||
        statistics_open(file->bytes + statistics_offset(file->npy_size), file->vertex_count,
                        file->kind, &statistics) != STATUS_OK) {
        return STATUS_CORRUPT;
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
        status = blocks_write(file->blocks, file->draft.descriptor);
    }
    if (status == STATUS_OK) {
        *ret_checksum = blocks_checksum(file->blocks);
    }
    return status;
}

bool result_file_is_sound(const struct result_file *file, uint64_t offset, uint64_t size)
{
    return blocks_are_sound(file->blocks, offset, size);
}

enum status result_file_verify(const struct result_file *file, uint64_t offset, uint64_t size)
{
    return blocks_verify(file->blocks, file->draft.descriptor, offset, size);
}

enum status result_file_publish(struct result_file *file, int folder, const char *name)
{
    CHECK(!file->published);
    enum status status = draft_file_publish(&file->draft, folder, name);
    file->published = status == STATUS_OK;
    return status;
}
