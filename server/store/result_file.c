#include "server/store/result_file.h"

#include "proto/hierarchy.h"
#include "server/store/delta_file.h"
#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Size of a block in bytes; each block has a checksum. */
#define BLOCK_SIZE ((size_t)1 << 18)
#define WORD_BITS 64
/* Blocks that result_file_compare_again compares per second: 1 MiB, about 0.1 ms of CPU time. */
#define BLOCKS_AGAIN 4
#define STATISTICS_ALIGNMENT ((size_t)16)
/* A matrix whose file has at most this size is built in memory and written with one call: each page
 * written through a mapping costs a fault, and syncing it interrupts every processor. */
#define MEMORY_FILE_BYTES ((size_t)1 << 19)

struct layout {
    size_t statistics_at; /* end of the .npy data, or of a hierarchy, which has no statistics */
    size_t checksums_at;  /* end of the bytes that the checksums cover */
    size_t block_count;
    size_t size;
};

struct result_file {
    struct draft_file draft; /* owns the descriptor; not a draft any more once published */
    uint32_t vertex_count;
    enum kind kind;
    enum result_form form;
    struct delta delta;           /* of a hierarchy from result_file_copy; else empty */
    atomic_bool is_whole;         /* the draft has all bytes, so the root is no longer read */
    uint64_t checksum;            /* identifies the published file */
    atomic_bool published;        /* set by the publisher, read by all threads */
    bool in_memory;               /* bytes is on the heap: a small matrix before the seal */
    struct layout layout;         /* of a new hierarchy: unknown before its copy or seal */
    unsigned char *bytes;         /* mapping of the bytes that the checksums cover */
    struct statistics statistics; /* view into the mapping */
    uint64_t *checksums;          /* checksums by block */
    atomic_uint_fast64_t *sound;  /* one bit per block: 1 = verified */
    atomic_uint_fast64_t unsound; /* number of unverified blocks; 0 = the bits need not be read */
    atomic_int_fast64_t again_s;  /* second of the last result_file_compare_again */
    atomic_size_t again;          /* number of blocks compared again */
};

/* Fills in the members of the layout that depend on checksums_at. */
static void add_checksums(struct layout *layout)
{
    layout->block_count = (layout->checksums_at + BLOCK_SIZE - 1) / BLOCK_SIZE;
    layout->size = layout->checksums_at + layout->block_count * sizeof(uint64_t);
}

/* Lays out a matrix of at most half of the range of off_t, so that no later sum overflows. */
static enum status lay_out(uint32_t vertex_count, enum kind kind, struct layout *ret_layout)
{
    size_t size;
    STATUS_TRY(matrix_size(vertex_count, kind, &size));
    if (size > INT64_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    size += NPY_HEADER_SIZE + STATISTICS_ALIGNMENT - 1;
    ret_layout->statistics_at = size - size % STATISTICS_ALIGNMENT;
    ret_layout->checksums_at = ret_layout->statistics_at + statistics_size(vertex_count);
    add_checksums(ret_layout);
    return STATUS_OK;
}

/* Derives the layout from the size of the file, with or without its checksums. STATUS_CORRUPT if no
 * hierarchy has this size. */
static enum status lay_out_hierarchy(uint64_t size, bool has_checksums, struct layout *ret_layout)
{
    const uint64_t per_block = BLOCK_SIZE + sizeof(uint64_t);
    const uint64_t checksums = has_checksums ? (size + per_block - 1) / per_block : 0;
    struct layout layout = {.checksums_at = size - checksums * sizeof(uint64_t)};
    layout.statistics_at = layout.checksums_at;
    add_checksums(&layout);
    if (size == 0 || layout.checksums_at % HIERARCHY_ALIGNMENT != 0 ||
        (has_checksums && layout.size != size)) {
        return STATUS_CORRUPT;
    }
    *ret_layout = layout;
    return STATUS_OK;
}

void result_file_name(const char *graph_id, enum kind kind, char ret_name[RESULT_FILE_NAME_SIZE])
{
    snprintf(ret_name, RESULT_FILE_NAME_SIZE, "%s.%s.result", graph_id, kind_name(kind));
}

enum status result_file_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes)
{
    struct layout layout;
    STATUS_TRY(lay_out(vertex_count, kind, &layout));
    *ret_bytes = layout.size;
    return STATUS_OK;
}

uint64_t result_file_hierarchy_size(uint64_t hierarchy_bytes)
{
    return hierarchy_bytes + (hierarchy_bytes + BLOCK_SIZE - 1) / BLOCK_SIZE * sizeof(uint64_t);
}

void result_file_root_name(const char *name, char ret_name[RESULT_FILE_NAME_SIZE])
{
    snprintf(ret_name, RESULT_FILE_NAME_SIZE, "%s.root", name);
}

/* Returns whether the blocks and their checksums are in the file of the root. */
static bool is_delta(const struct result_file *file)
{
    return file->delta.root >= 0 && !atomic_load_explicit(&file->is_whole, memory_order_acquire);
}

static int block_descriptor(const struct result_file *file)
{
    return is_delta(file) ? file->delta.root : file->draft.descriptor;
}

static enum status digest_block(const struct result_file *file, size_t block,
                                uint64_t *ret_checksum)
{
    const size_t offset = block * BLOCK_SIZE;
    const size_t left = file->layout.checksums_at - offset;
    const size_t size = left < BLOCK_SIZE ? left : BLOCK_SIZE;
    return draft_file_digest(block_descriptor(file), offset, size, ret_checksum);
}

/* The checksum of the table of checksums identifies a file with all bytes. */
static uint64_t digest_checksums(const struct result_file *file)
{
    return XXH3_64bits(file->checksums, file->layout.block_count * sizeof(uint64_t));
}

static bool is_block_sound(const struct result_file *file, size_t block)
{
    const atomic_uint_fast64_t *word = &file->sound[block / WORD_BITS];
    return (atomic_load_explicit(word, memory_order_acquire) >> block % WORD_BITS & 1) != 0;
}

bool result_file_is_sound(const struct result_file *file, uint64_t offset, uint64_t size)
{
    if (atomic_load_explicit(&file->unsound, memory_order_acquire) == 0 || size == 0) {
        return true;
    }
    CHECK(size <= file->layout.checksums_at && offset <= file->layout.checksums_at - size);
    for (uint64_t i = offset / BLOCK_SIZE; i <= (offset + size - 1) / BLOCK_SIZE; i++) {
        if (!is_block_sound(file, i)) {
            return false;
        }
    }
    return true;
}

static enum status compare_block(const struct result_file *file, size_t block)
{
    uint64_t checksum = 0;
    STATUS_TRY(digest_block(file, block, &checksum));
    return checksum == file->checksums[block] ? STATUS_OK : STATUS_CORRUPT;
}

enum status result_file_compare_again(struct result_file *file)
{
    struct timespec now;
    int_fast64_t last = atomic_load_explicit(&file->again_s, memory_order_relaxed);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec == last || !atomic_load(&file->published) ||
        !atomic_compare_exchange_strong(&file->again_s, &last, now.tv_sec)) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < BLOCKS_AGAIN && i < file->layout.block_count; i++) {
        const size_t block = atomic_fetch_add(&file->again, 1) % file->layout.block_count;
        STATUS_TRY(compare_block(file, block));
    }
    return STATUS_OK;
}

enum status result_file_verify(struct result_file *file, uint64_t offset, uint64_t size)
{
    if (result_file_is_sound(file, offset, size)) {
        return STATUS_OK;
    }
    const uint64_t last = (offset + size - 1) / BLOCK_SIZE;
    for (uint64_t i = offset / BLOCK_SIZE; i <= last; i++) {
        const uint64_t bit = UINT64_C(1) << i % WORD_BITS;
        if (is_block_sound(file, i)) {
            continue;
        }
        STATUS_TRY(compare_block(file, i));
        /* Two threads may verify the same block; it is counted once. */
        if ((atomic_fetch_or(&file->sound[i / WORD_BITS], bit) & bit) == 0) {
            atomic_fetch_sub(&file->unsound, 1);
        }
    }
    return STATUS_OK;
}

static enum status protect(const struct result_file *file)
{
    return mprotect(file->bytes, file->layout.checksums_at, PROT_READ) == 0
               ? STATUS_OK
               : draft_file_status(errno);
}

enum status result_file_complete(struct result_file *file)
{
    STATUS_TRY(result_file_verify(file, 0, file->layout.checksums_at));
    if (file->delta.packed == NULL) {
        return STATUS_OK;
    }
    delta_apply(&file->delta, file->bytes);
    return protect(file);
}

/* Sets the layout of a new file, all of whose blocks count as verified. */
static enum status set_layout(struct result_file *file, const struct layout *layout)
{
    file->layout = *layout;
    file->checksums = calloc(layout->block_count, sizeof(*file->checksums));
    file->sound = calloc(layout->block_count / WORD_BITS + 1, sizeof(*file->sound));
    return file->checksums != NULL && file->sound != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

void result_file_discard_bytes(struct result_file *file)
{
    if (file->in_memory) {
        free(file->bytes);
    } else if (file->bytes != NULL) {
        munmap(file->bytes, file->layout.checksums_at);
    }
    file->bytes = NULL;
    file->in_memory = false;
    delta_finish(&file->delta);
}

void result_file_destroy(struct result_file *file)
{
    if (file == NULL) {
        return;
    }
    result_file_discard_bytes(file);
    draft_file_finish(&file->draft);
    free(file->checksums);
    free(file->sound);
    free(file);
}

/* Returns the new file if creating it succeeded; otherwise destroys the file. */
static enum status return_file(struct result_file *file, enum status status,
                               struct result_file **ret_file)
{
    if (status != STATUS_OK) {
        result_file_destroy(file);
        return status;
    }
    *ret_file = file;
    return STATUS_OK;
}

static enum status map_file(struct result_file *file, int protection)
{
    const size_t size = file->layout.checksums_at;
    void *bytes = mmap(NULL, size, protection, MAP_SHARED, file->draft.descriptor, 0);
    if (bytes == MAP_FAILED) {
        return draft_file_status(errno);
    }
    /* Without this advice the first write zeroes the whole read-ahead window. */
    (void)madvise(bytes, size, MADV_HUGEPAGE);
    file->bytes = bytes;
    return STATUS_OK;
}

static bool is_small(const struct result_file *file)
{
    return file->layout.size <= MEMORY_FILE_BYTES;
}

/* Allocates the object without a file. The layout of a hierarchy is not known yet. */
static enum status allocate_file(uint32_t vertex_count, enum kind kind, enum result_form form,
                                 struct result_file **ret_file)
{
    struct layout layout;
    const bool is_matrix = form == RESULT_FORM_MATRIX;
    if (is_matrix) {
        STATUS_TRY(lay_out(vertex_count, kind, &layout));
    }
    struct result_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        return STATUS_NO_MEMORY;
    }
    file->draft.descriptor = file->delta.root = -1;
    file->vertex_count = vertex_count;
    file->kind = kind;
    file->form = form;
    return return_file(file, is_matrix ? set_layout(file, &layout) : STATUS_OK, ret_file);
}

/* Creates the memory or mapping of a new matrix, with its headers. */
static enum status make_bytes(struct result_file *file)
{
    if (is_small(file)) {
        file->bytes = calloc(1, file->layout.size);
        file->in_memory = file->bytes != NULL;
        STATUS_TRY(file->in_memory ? STATUS_OK : STATUS_NO_MEMORY);
    } else {
        /* Without allocated blocks, a write to a mapped page would raise SIGBUS on a full disk. */
        STATUS_TRY(draft_file_allocate(file->draft.descriptor, file->layout.size));
        STATUS_TRY(map_file(file, PROT_READ | PROT_WRITE));
    }
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, file->bytes);
    file->statistics =
        statistics_init(file->bytes + file->layout.statistics_at, file->vertex_count, file->kind);
    return STATUS_OK;
}

enum status result_file_create(int folder, uint32_t vertex_count, enum kind kind,
                               enum result_form form, struct result_file **ret_file)
{
    struct result_file *file;
    STATUS_TRY(allocate_file(vertex_count, kind, form, &file));
    enum status status = draft_file_create(folder, &file->draft);
    if (status == STATUS_OK && form == RESULT_FORM_MATRIX) {
        status = make_bytes(file);
    }
    return return_file(file, status, ret_file);
}

enum status result_file_write_matrix(struct result_file *file)
{
    return file->in_memory
               ? draft_file_write(file->draft.descriptor, 0, file->bytes, file->layout.size)
               : STATUS_OK;
}

enum status result_file_write_hierarchy(struct result_file *file, const void *bytes, size_t size)
{
    CHECK(size % HIERARCHY_ALIGNMENT == 0);
    return draft_file_write(file->draft.descriptor, 0, bytes, size);
}

/* The publisher may set base->is_whole meanwhile, so is_delta is called once. */
enum status result_file_copy(struct result_file *file, const struct result_file *base,
                             void **ret_bytes, uint64_t **ret_changed)
{
    const struct delta *delta = is_delta(base) ? &base->delta : NULL;
    const int root = delta != NULL ? delta->root : base->draft.descriptor;
    CHECK(base->form == RESULT_FORM_HIERARCHY && file->form == RESULT_FORM_HIERARCHY &&
          base->bytes != NULL && base->delta.packed == NULL && file->bytes == NULL);
    file->delta.root = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (file->delta.root < 0) {
        return draft_file_status(errno);
    }
    file->layout = base->layout;
    STATUS_TRY(
        delta_map(&file->delta, base->layout.checksums_at, delta, base->bytes, &file->bytes));
    *ret_bytes = file->bytes;
    *ret_changed = file->delta.changed;
    return STATUS_OK;
}

/* Compares the size and the header with the expected ones, so that no header need be parsed. */
static enum status check_header(const struct result_file *file)
{
    unsigned char expected[NPY_HEADER_SIZE];
    unsigned char found[NPY_HEADER_SIZE];
    struct stat info;
    if (fstat(file->draft.descriptor, &info) != 0) {
        return draft_file_status(errno);
    }
    if ((uint64_t)info.st_size != file->layout.size) {
        return STATUS_CORRUPT;
    }
    npy_header_write(file->kind, file->vertex_count, file->vertex_count, expected);
    STATUS_TRY(draft_file_read(file->draft.descriptor, 0, found, sizeof(found)));
    return memcmp(found, expected, sizeof(found)) == 0 ? STATUS_OK : STATUS_CORRUPT;
}

static enum status find_statistics(const struct result_file *file, struct statistics *ret_found)
{
    return statistics_open(file->bytes + file->layout.statistics_at, file->vertex_count, file->kind,
                           ret_found);
}

/* Maps the matrix that result_file_create created in the daemon; a small one gets new memory. */
static enum status adopt_bytes(struct result_file *file)
{
    if (is_small(file)) {
        return make_bytes(file);
    }
    STATUS_TRY(check_header(file));
    STATUS_TRY(map_file(file, PROT_READ | PROT_WRITE));
    return find_statistics(file, &file->statistics);
}

enum status result_file_adopt(int descriptor, uint32_t vertex_count, enum kind kind,
                              enum result_form form, struct result_file **ret_file)
{
    struct result_file *file;
    STATUS_TRY(allocate_file(vertex_count, kind, form, &file));
    file->draft.descriptor = descriptor;
    const enum status status = form == RESULT_FORM_MATRIX ? adopt_bytes(file) : STATUS_OK;
    if (status != STATUS_OK) {
        file->draft.descriptor = -1; /* the caller still owns the descriptor */
    }
    return return_file(file, status, ret_file);
}

/* Opens the root of a published file if the file is a delta. */
static enum status open_root(struct result_file *file, int folder, const char *name)
{
    char magic[sizeof(DELTA_MAGIC) - 1];
    char root_name[RESULT_FILE_NAME_SIZE];
    STATUS_TRY(draft_file_read(file->draft.descriptor, 0, magic, sizeof(magic)));
    if (memcmp(magic, DELTA_MAGIC, sizeof(magic)) != 0) {
        return STATUS_OK;
    }
    result_file_root_name(name, root_name);
    file->delta.root = openat(folder, root_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return file->delta.root >= 0 ? STATUS_OK : draft_file_status(errno);
}

/* Finds the layout of a published file or of its root, whose first bytes show the form. */
static enum status find_layout(struct result_file *file)
{
    struct layout layout;
    struct stat info;
    char magic[sizeof(HIERARCHY_MAGIC) - 1] = {0};
    if (fstat(block_descriptor(file), &info) != 0) {
        return draft_file_status(errno);
    }
    STATUS_TRY(draft_file_read(block_descriptor(file), 0, magic, sizeof(magic)));
    const bool is_hierarchy = memcmp(magic, HIERARCHY_MAGIC, sizeof(magic)) == 0;
    file->form = is_hierarchy ? RESULT_FORM_HIERARCHY : RESULT_FORM_MATRIX;
    STATUS_TRY(is_hierarchy ? lay_out_hierarchy((uint64_t)info.st_size, true, &layout)
                            : lay_out(file->vertex_count, file->kind, &layout));
    STATUS_TRY(set_layout(file, &layout));
    return is_hierarchy ? STATUS_OK : check_header(file);
}

static enum status read_checksums(struct result_file *file)
{
    const struct layout *layout = &file->layout;
    return draft_file_read(block_descriptor(file), layout->checksums_at, file->checksums,
                           layout->block_count * sizeof(uint64_t));
}

/* Maps the root and reads the delta, which result_file_complete applies. */
static enum status read_delta(struct result_file *file, uint64_t *ret_root_checksum)
{
    STATUS_TRY(delta_map(&file->delta, file->layout.checksums_at, NULL, NULL, &file->bytes));
    STATUS_TRY(delta_read(file->draft.descriptor, file->checksum, &file->delta, ret_root_checksum));
    draft_file_finish(&file->draft); /* not read again */
    return STATUS_OK;
}

/* Reads the checksums and maps the file. Only the block with the statistics' header is verified. */
static enum status find_content(struct result_file *file)
{
    const struct layout *layout = &file->layout;
    uint64_t checksum = file->checksum;
    STATUS_TRY(find_layout(file));
    STATUS_TRY(read_checksums(file));
    if (is_delta(file)) {
        STATUS_TRY(read_delta(file, &checksum));
    }
    if (digest_checksums(file) != checksum) {
        return STATUS_CORRUPT;
    }
    atomic_store(&file->unsound, layout->block_count);
    if (file->form == RESULT_FORM_HIERARCHY) {
        return is_delta(file) ? STATUS_OK : map_file(file, PROT_READ);
    }
    STATUS_TRY(result_file_verify(file, layout->statistics_at, statistics_size(0)));
    STATUS_TRY(map_file(file, PROT_READ));
    return find_statistics(file, &file->statistics);
}

enum status result_file_open(int folder, const char *name, uint32_t vertex_count, enum kind kind,
                             uint64_t checksum, struct result_file **ret_file)
{
    struct result_file *file;
    STATUS_TRY(allocate_file(vertex_count, kind, RESULT_FORM_AUTO, &file));
    file->published = true;
    file->checksum = checksum;
    file->draft.descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    enum status status =
        file->draft.descriptor < 0 ? draft_file_status(errno) : open_root(file, folder, name);
    STATUS_THEN(status, find_content(file));
    return return_file(file, status, ret_file);
}

enum result_form result_file_form(const struct result_file *file)
{
    return file->form;
}

const void *result_file_hierarchy(const struct result_file *file, uint64_t *ret_size)
{
    CHECK(file->form == RESULT_FORM_HIERARCHY && file->bytes != NULL);
    *ret_size = file->layout.checksums_at;
    return file->bytes;
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
    return file->layout.statistics_at;
}

int result_file_descriptor(const struct result_file *file)
{
    return file->draft.descriptor;
}

uint64_t result_file_bytes(const struct result_file *file)
{
    return file->layout.size;
}

static enum status seal_hierarchy(struct result_file *file)
{
    struct layout layout = file->layout;
    struct stat info;
    const bool is_copy = file->delta.root >= 0;
    if (!is_copy) {
        STATUS_TRY(fstat(file->draft.descriptor, &info) == 0
                       ? lay_out_hierarchy((uint64_t)info.st_size, false, &layout)
                       : draft_file_status(errno));
    }
    STATUS_TRY(set_layout(file, &layout));
    return is_copy ? protect(file) : map_file(file, PROT_READ);
}

/* Checks the size first: a read past the end of a file that a worker truncated raises SIGBUS. */
enum status result_file_seal(struct result_file *file)
{
    if (file->form == RESULT_FORM_HIERARCHY) {
        return seal_hierarchy(file);
    }
    STATUS_TRY(check_header(file));
    if (is_small(file)) {
        result_file_discard_bytes(file);
        STATUS_TRY(map_file(file, PROT_READ));
    }
    STATUS_TRY(find_statistics(file, &file->statistics));
    return is_small(file) ? STATUS_OK : protect(file);
}

/* Links the root of a copy whose delta is to be written. Returns false if all bytes must be
 * written: much has changed, or the root was deleted, is not published yet, or cannot be read or
 * linked. */
static bool link_root(struct result_file *file, const char *root_name)
{
    char path[32];
    struct stat root;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file->delta.root);
    return delta_is_small(&file->delta) && fstat(file->delta.root, &root) == 0 &&
           (uint64_t)root.st_size == file->layout.size && read_checksums(file) == STATUS_OK &&
           ftruncate(file->draft.descriptor, 0) == 0 &&
           linkat(AT_FDCWD, path, file->draft.folder, root_name, AT_SYMLINK_FOLLOW) == 0;
}

/* Writes the bytes of a copy if the draft lacks them, then the checksums. */
static enum status write_whole(struct result_file *file)
{
    const struct layout *layout = &file->layout;
    if (is_delta(file)) {
        STATUS_TRY(draft_file_write(file->draft.descriptor, 0, file->bytes, layout->checksums_at));
        file->is_whole = true;
    }
    for (size_t i = 0; i < layout->block_count; i++) {
        STATUS_TRY(digest_block(file, i, &file->checksums[i]));
    }
    file->checksum = digest_checksums(file);
    return draft_file_write(file->draft.descriptor, layout->checksums_at, file->checksums,
                            layout->block_count * sizeof(uint64_t));
}

static enum status publish_draft(struct result_file *file, const char *name)
{
    char root_name[RESULT_FILE_NAME_SIZE];
    result_file_root_name(name, root_name);
    const bool is_linked = is_delta(file) && link_root(file, root_name);
    enum status status = is_linked ? delta_write(&file->delta, file->bytes, digest_checksums(file),
                                                 file->draft.descriptor, &file->checksum)
                                   : write_whole(file);
    STATUS_THEN(status, draft_file_publish(&file->draft, name));
    if (is_linked && status == STATUS_OK) {
        draft_file_finish(&file->draft); /* not read again */
    } else if (is_linked || status == STATUS_OK) {
        /* The root of the delta that was not published, or that this file replaces. */
        unlinkat(file->draft.folder, root_name, 0);
    }
    return status;
}

enum status result_file_publish(struct result_file *file, const char *name, uint64_t *ret_checksum)
{
    if (!file->published) {
        STATUS_TRY(publish_draft(file, name));
        file->published = true;
    }
    *ret_checksum = file->checksum;
    return STATUS_OK;
}
