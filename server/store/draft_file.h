/* A file in the making, under a name that starts with DRAFT_PREFIX until it is complete: what a
 * crash leaves behind is removed at the next start. A plain value, owned by whoever holds it;
 * finished by draft_file_finish. */
#pragma once

#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#define DRAFT_PREFIX ".tmp-"
#define DRAFT_NAME_SIZE 24

struct draft_file {
    int descriptor;
    int folder;                 /* borrowed: the open directory it is in */
    char name[DRAFT_NAME_SIZE]; /* empty once it has its final one */
};

/* Readable and writable, mode 0600. */
MUST_CHECK enum status draft_file_create(int folder, struct draft_file *ret_draft);

struct draft_part {
    uint64_t at;
    const void *bytes;
    size_t size;
};

/* Creates a draft and writes its parts: the disk begins with a large one while the next one is
 * written. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_make(int folder, const struct draft_part *parts, size_t count,
                                       struct draft_file *ret_draft);
/* fsync. Blocks. STATUS_IO for every failure: what it was to write may be lost, whatever the next
 * one says. */
MUST_CHECK enum status draft_file_sync(const struct draft_file *draft);
/* Takes its final name in its folder, replacing a file that has it. The name is durable once
 * draft_file_sync_names of the folder has returned STATUS_OK. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_rename(struct draft_file *draft, const char *name);
/* Both. */
MUST_CHECK enum status draft_file_publish(struct draft_file *draft, const char *name);
/* All names given in the folder so far: one for many files. Blocks. STATUS_IO. */
MUST_CHECK enum status draft_file_sync_names(int folder);
/* Closes; what was not published is gone. Accepts a finished one. */
void draft_file_finish(struct draft_file *draft);

/* Takes blocks on the disk for so many bytes. STATUS_DISK_FULL. */
MUST_CHECK enum status draft_file_allocate(int descriptor, size_t size);
/* All of the bytes, past short writes and signals. */
MUST_CHECK enum status draft_file_write(int descriptor, uint64_t offset, const void *bytes,
                                        size_t size);
/* Has the disk begin with these bytes, which were written, and does not wait: whether they are
 * there is for draft_file_publish to say. */
void draft_file_start(int descriptor, uint64_t offset, size_t size);
/* All of the bytes; STATUS_CORRUPT when the file ends before. */
MUST_CHECK enum status draft_file_read(int descriptor, uint64_t offset, void *bytes, size_t size);
/* A header that begins with its magic, of 8 bytes, and ends with the XXH3 of all bytes before: this
 * fills in both. */
void draft_file_seal_header(const char magic[8], void *header, size_t size);
/* Reads such a header, and the size of the file. STATUS_CORRUPT when it is another one. */
MUST_CHECK enum status draft_file_read_header(int descriptor, const char magic[8], void *header,
                                              size_t size, uint64_t *ret_file_size);
/* Their checksum, by XXH3. */
MUST_CHECK enum status draft_file_digest(int descriptor, uint64_t offset, size_t size,
                                         uint64_t *ret_checksum);

/* Translates an errno of a file operation: STATUS_DISK_FULL for every lack of room (quota and the
 * limit on file sizes included), STATUS_NO_MEMORY for transient errors, else STATUS_IO. */
enum status draft_file_status(int error);
