/* A file that is being written. Its name starts with DRAFT_PREFIX until the file is complete, so
 * that the next start removes files that a crash left incomplete. struct draft_file is a plain
 * value; its owner must call draft_file_finish. Any thread; functions block on the disk. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#define DRAFT_PREFIX ".tmp-"
#define DRAFT_NAME_SIZE 24

struct draft_file {
    int descriptor;
    int folder;                 /* open directory that contains the file; borrowed */
    char name[DRAFT_NAME_SIZE]; /* draft name; empty after the rename to the final name */
};

/* Creates an empty draft, readable and writable, mode 0600. */
MUST_CHECK enum status draft_file_create(int folder, struct draft_file *ret_draft);

struct draft_part {
    uint64_t at;
    const void *bytes;
    size_t size;
};

/* Creates a draft and writes its parts. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_make(int folder, const struct draft_part *parts, size_t count,
                                       struct draft_file *ret_draft);
/* Calls fsync. Every failure is STATUS_IO: the data may be lost even if a later fsync succeeds. */
MUST_CHECK enum status draft_file_sync(const struct draft_file *draft);
/* Renames the draft to its final name, replacing a file of that name. The name is durable after
 * draft_file_sync_names of the folder. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_rename(struct draft_file *draft, const char *name);
/* Syncs the draft, then renames it. */
MUST_CHECK enum status draft_file_publish(struct draft_file *draft, const char *name);
/* Makes all renames in the folder durable with one fsync, for any number of files. STATUS_IO. */
MUST_CHECK enum status draft_file_sync_names(int folder);
/* Closes the file and deletes a draft that was not published. Accepts a finished draft. */
void draft_file_finish(struct draft_file *draft);

/* Allocates disk blocks for `size` bytes. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_allocate(int descriptor, size_t size);
/* Writes all bytes, continuing after short writes and signals. */
MUST_CHECK enum status draft_file_write(int descriptor, uint64_t offset, const void *bytes,
                                        size_t size);
/* Reads all bytes; STATUS_CORRUPT if the file is too short. */
MUST_CHECK enum status draft_file_read(int descriptor, uint64_t offset, void *bytes, size_t size);
/* Fills in the first 8 bytes of a header with the magic, and the last 8 with the XXH3 checksum of
 * all bytes before. */
void draft_file_seal_header(const char magic[8], void *header, size_t size);
/* Reads a header written by draft_file_seal_header, and returns the size of the file.
 * STATUS_CORRUPT if the magic or the checksum is wrong. */
MUST_CHECK enum status draft_file_read_header(int descriptor, const char magic[8], void *header,
                                              size_t size, uint64_t *ret_file_size);
/* Computes the XXH3 checksum of `size` bytes of the file. */
MUST_CHECK enum status draft_file_digest(int descriptor, uint64_t offset, size_t size,
                                         uint64_t *ret_checksum);

/* Translates the errno of a file operation: STATUS_DISK_FULL for every lack of space (including
 * quotas and the file size limit), STATUS_NO_MEMORY for transient errors, else STATUS_IO. */
enum status draft_file_status(int error);
