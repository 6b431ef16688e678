#include "server/store/delta_file.h"

#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Each word has the bits of one page, which is copied in memory when one of its pieces changes. */
#define WORD_BITS 64
#define LARGEST_PART 4

/* A bit per piece follows (1 = changed), then the changed pieces. */
struct header {
    char magic[sizeof(DELTA_MAGIC) - 1];
    uint64_t root_checksum;
};

static size_t word_count(size_t size)
{
    return size / DELTA_PIECE_BYTES / WORD_BITS + 1;
}

/* Returns the size of the file. */
static size_t file_size(const uint64_t *changed, size_t words)
{
    size_t size = sizeof(struct header) + words * sizeof(*changed);
    for (size_t i = 0; i < words; i++) {
        size += (size_t)__builtin_popcountll(changed[i]) * DELTA_PIECE_BYTES;
    }
    return size;
}

/* Copies the changed pieces. A packed side has only these pieces; the other has all pieces. */
static void copy_pieces(const uint64_t *changed, size_t size, const char *from, bool from_packed,
                        char *to, bool to_packed)
{
    for (size_t i = 0; i < word_count(size); i++) {
        for (uint64_t left = changed[i]; left != 0; left &= left - 1) {
            const size_t at = (i * WORD_BITS + (size_t)__builtin_ctzll(left)) * DELTA_PIECE_BYTES;
            memcpy(to_packed ? to : to + at, from_packed ? from : from + at, DELTA_PIECE_BYTES);
            to += to_packed ? DELTA_PIECE_BYTES : 0;
            from += from_packed ? DELTA_PIECE_BYTES : 0;
        }
    }
}

enum status delta_map(struct delta *delta, size_t size, const struct delta *base,
                      const void *base_bytes, unsigned char **ret_bytes)
{
    delta->size = size;
    delta->changed = calloc(word_count(size), sizeof(*delta->changed));
    if (delta->changed == NULL) {
        return STATUS_NO_MEMORY;
    }
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, delta->root, 0);
    if (bytes == MAP_FAILED) {
        return draft_file_status(errno);
    }
    if (base != NULL) {
        copy_pieces(base->changed, size, base_bytes, false, bytes, false);
        memcpy(delta->changed, base->changed, word_count(size) * sizeof(*delta->changed));
    }
    *ret_bytes = (unsigned char *)bytes;
    return STATUS_OK;
}

void delta_finish(struct delta *delta)
{
    if (delta->root >= 0) {
        close(delta->root);
    }
    free(delta->changed);
    free(delta->packed);
    *delta = (struct delta){.root = -1};
}

bool delta_is_small(const struct delta *delta)
{
    const size_t words = word_count(delta->size);
    size_t pages = 0;
    for (size_t i = 0; i < words; i++) {
        pages += delta->changed[i] != 0;
    }
    return pages <= words / LARGEST_PART;
}

enum status delta_write(const struct delta *delta, const void *bytes, uint64_t root_checksum,
                        int descriptor, uint64_t *ret_checksum)
{
    const size_t words = word_count(delta->size);
    const size_t size = file_size(delta->changed, words);
    struct header *file = malloc(size);
    if (file == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(file->magic, DELTA_MAGIC, sizeof(file->magic));
    file->root_checksum = root_checksum;
    uint64_t *changed = (uint64_t *)(file + 1);
    memcpy(changed, delta->changed, words * sizeof(*changed));
    copy_pieces(changed, delta->size, bytes, false, (char *)(changed + words), true);
    *ret_checksum = XXH3_64bits(file, size);
    const enum status status = draft_file_write(descriptor, 0, file, size);
    free(file);
    return status;
}

enum status delta_read(int descriptor, uint64_t checksum, struct delta *delta,
                       uint64_t *ret_root_checksum)
{
    const size_t words = word_count(delta->size);
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return draft_file_status(errno);
    }
    const size_t size = (size_t)about.st_size;
    struct header *header = malloc(size);
    if (header == NULL) {
        return STATUS_NO_MEMORY;
    }
    delta->packed = header;
    STATUS_TRY(draft_file_read(descriptor, 0, header, size));
    const uint64_t *changed = (const uint64_t *)(header + 1);
    if (XXH3_64bits(header, size) != checksum ||
        size < sizeof(*header) + words * sizeof(*changed) || size != file_size(changed, words)) {
        return STATUS_CORRUPT;
    }
    *ret_root_checksum = header->root_checksum;
    return STATUS_OK;
}

void delta_apply(struct delta *delta, void *bytes)
{
    const size_t words = word_count(delta->size);
    const struct header *header = delta->packed;
    if (header == NULL) {
        return;
    }
    const uint64_t *changed = (const uint64_t *)(header + 1);
    memcpy(delta->changed, changed, words * sizeof(*changed));
    copy_pieces(changed, delta->size, (const char *)(changed + words), true, bytes, false);
    free(delta->packed);
    delta->packed = NULL;
}
