#include "server/store/draft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Maximum size of one read or write call, because Linux transfers at most 2 GiB minus a page. */
#define TRANSFER_LIMIT ((size_t)1 << 30)
#define PIECE_SIZE ((size_t)1 << 15)
#define MAGIC_SIZE 8

enum status draft_file_status(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STATUS_DISK_FULL;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return STATUS_NO_MEMORY;
    default:
        return STATUS_IO;
    }
}

enum status draft_file_create(int folder, struct draft_file *ret_draft)
{
    struct draft_file draft = {.folder = folder};
    uint64_t random;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return STATUS_IO;
    }
    snprintf(draft.name, sizeof(draft.name), DRAFT_PREFIX "%016" PRIx64, random);
    draft.descriptor = openat(folder, draft.name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (draft.descriptor < 0) {
        return draft_file_status(errno);
    }
    *ret_draft = draft;
    return STATUS_OK;
}

void draft_file_finish(struct draft_file *draft)
{
    if (draft->descriptor < 0) {
        return;
    }
    if (draft->name[0] != '\0') {
        unlinkat(draft->folder, draft->name, 0);
    }
    close(draft->descriptor);
    draft->descriptor = -1;
    draft->name[0] = '\0';
}

enum status draft_file_sync(const struct draft_file *draft)
{
    return fsync(draft->descriptor) == 0 ? STATUS_OK : STATUS_IO;
}

enum status draft_file_rename(struct draft_file *draft, const char *name)
{
    if (renameat(draft->folder, draft->name, draft->folder, name) != 0) {
        return draft_file_status(errno);
    }
    draft->name[0] = '\0';
    return STATUS_OK;
}

enum status draft_file_publish(struct draft_file *draft, const char *name)
{
    const enum status status = draft_file_sync(draft);
    return status == STATUS_OK ? draft_file_rename(draft, name) : status;
}

enum status draft_file_sync_names(int folder)
{
    return fsync(folder) == 0 ? STATUS_OK : STATUS_IO;
}

/* If the file system cannot reserve blocks, posix_fallocate writes zeros instead. */
enum status draft_file_allocate(int descriptor, size_t size)
{
    int error;
    do {
        error = posix_fallocate(descriptor, 0, (off_t)size);
    } while (error == EINTR);
    return error == 0 ? STATUS_OK : draft_file_status(error);
}

enum status draft_file_write(int descriptor, uint64_t offset, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    while (size > 0) {
        size_t part = size < TRANSFER_LIMIT ? size : TRANSFER_LIMIT;
        ssize_t written = pwrite(descriptor, next, part, (off_t)offset);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? draft_file_status(errno) : STATUS_IO;
        }
        next += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return STATUS_OK;
}

enum status draft_file_make(int folder, const struct draft_part *parts, size_t count,
                            struct draft_file *ret_draft)
{
    struct draft_file draft;
    STATUS_TRY(draft_file_create(folder, &draft));
    for (size_t i = 0; i < count; i++) {
        const struct draft_part *part = &parts[i];
        const enum status status =
            draft_file_write(draft.descriptor, part->at, part->bytes, part->size);
        if (status != STATUS_OK) {
            draft_file_finish(&draft);
            return status;
        }
        /* Starts writing the part to the disk; the later fsync waits less, and reports errors. */
        (void)sync_file_range(draft.descriptor, (off_t)part->at, (off_t)part->size,
                              SYNC_FILE_RANGE_WRITE);
    }
    *ret_draft = draft;
    return STATUS_OK;
}

enum status draft_file_read(int descriptor, uint64_t offset, void *bytes, size_t size)
{
    unsigned char *next = bytes;
    while (size > 0) {
        size_t part = size < TRANSFER_LIMIT ? size : TRANSFER_LIMIT;
        ssize_t got = pread(descriptor, next, part, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? draft_file_status(errno) : STATUS_CORRUPT;
        }
        next += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return STATUS_OK;
}

void draft_file_seal_header(const char magic[MAGIC_SIZE], void *header, size_t size)
{
    const size_t covered = size - sizeof(uint64_t);
    memcpy(header, magic, MAGIC_SIZE);
    const uint64_t checksum = XXH3_64bits(header, covered);
    memcpy((char *)header + covered, &checksum, sizeof(checksum));
}

enum status draft_file_read_header(int descriptor, const char magic[MAGIC_SIZE], void *header,
                                   size_t size, uint64_t *ret_file_size)
{
    const size_t covered = size - sizeof(uint64_t);
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return draft_file_status(errno);
    }
    STATUS_TRY(draft_file_read(descriptor, 0, header, size));
    const uint64_t checksum = XXH3_64bits(header, covered);
    *ret_file_size = (uint64_t)about.st_size;
    return memcmp(header, magic, MAGIC_SIZE) == 0 &&
                   memcmp((const char *)header + covered, &checksum, sizeof(checksum)) == 0
               ? STATUS_OK
               : STATUS_CORRUPT;
}

/* Reads the bytes in pieces into the stack, so that a query cannot fail here for lack of memory. */
enum status draft_file_digest(int descriptor, uint64_t offset, size_t size, uint64_t *ret_checksum)
{
    unsigned char piece[PIECE_SIZE];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    while (size > 0) {
        const size_t part = size < sizeof(piece) ? size : sizeof(piece);
        STATUS_TRY(draft_file_read(descriptor, offset, piece, part));
        XXH3_64bits_update(&state, piece, part);
        offset += part;
        size -= part;
    }
    *ret_checksum = XXH3_64bits_digest(&state);
    return STATUS_OK;
}
