/* A result in the making, a matrix or a hierarchy: of a matrix a draft file with the .npy header,
 * mapped for the solver to write; a small one is made in memory and written at once. Moves from
 * the worker (writes the elements) to the result that serves it.
 *
 * Behind the .npy, from the next multiple of 16 bytes on, lie the statistics of the matrix, in the
 * storage of proto/statistics.h: of the same file, under the same checksum, and no part of what is
 * downloaded. A hierarchy has none: its size is known when it is written. Behind lies a checksum
 * for each block of 256 KiB of all this; the checksum of these names the file as a whole. A block
 * is read, not looked at through the mapping, to be compared: a bad disk or a file cut short is a
 * status and not a signal. */
#pragma once

#include "proto/matrix.h"
#include "proto/npy_header.h"
#include "proto/result_form.h"
#include "proto/statistics.h"

struct result_file;

/* "<graph id>.<kind>.result" */
#define RESULT_FILE_NAME_SIZE 48
void result_file_name(const char *graph_id, enum kind kind, char ret_name[RESULT_FILE_NAME_SIZE]);

/* Bytes of such a file, which result_file_create takes. STATUS_TOO_LARGE. */
MUST_CHECK enum status result_file_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes);
/* The same of a hierarchy. */
uint64_t result_file_hierarchy_size(uint64_t hierarchy_bytes);

/* Space is taken on the disk now: STATUS_DISK_FULL here, not in the middle of a solve; but for a
 * hierarchy, of which nothing is there yet, and for a small matrix, which is in memory until it is
 * written. */
MUST_CHECK enum status result_file_create(int folder, uint32_t vertex_count, enum kind kind,
                                          enum result_form form, struct result_file **ret_file);
/* A file that result_file_create has made, in another process: takes the descriptor, on success.
 * STATUS_CORRUPT when it is not of this size and kind. */
MUST_CHECK enum status result_file_adopt(int descriptor, uint32_t vertex_count, enum kind kind,
                                         enum result_form form, struct result_file **ret_file);
/* Whether a file that was just made has its room on the disk. */
bool result_file_has_room(const struct result_file *file);
/* By who has written all elements, in whichever process: the file has them now. STATUS_DISK_FULL.
 */
MUST_CHECK enum status result_file_write_matrix(struct result_file *file);
/* In one piece of a multiple of 64 bytes, which begins with its magic. STATUS_DISK_FULL. */
MUST_CHECK enum status result_file_write_hierarchy(struct result_file *file, const void *bytes,
                                                   size_t size);
/* In place of writing it: a copy of another hierarchy, sealed or opened and verified, for the
 * caller to change until the seal. It is discarded after a failure or a change of mind, before
 * something else is written. STATUS_DISK_FULL. */
MUST_CHECK enum status result_file_copy(struct result_file *file, const struct result_file *base,
                                        void **ret_bytes);
MUST_CHECK enum status result_file_discard_copy(struct result_file *file);
/* An existing result, mapped for reading; the headers and the checksum must match, and nothing else
 * of it is sound before it is verified. STATUS_CORRUPT. */
MUST_CHECK enum status result_file_open(int folder, const char *name, uint32_t vertex_count,
                                        enum kind kind, uint64_t checksum,
                                        struct result_file **ret_file);
void result_file_destroy(struct result_file *file);

enum result_form result_file_form(const struct result_file *file);
/* Once it is sealed or opened. Borrowed. */
const void *result_file_hierarchy(const struct result_file *file, uint64_t *ret_size);
struct matrix result_file_matrix(const struct result_file *file);
/* Written by the solver too; zero in a new file. Borrowed. */
const struct statistics *result_file_statistics(const struct result_file *file);
uint64_t result_file_statistics_offset(const struct result_file *file);
/* After the last write: the mapping becomes read-only. STATUS_CORRUPT when who wrote the elements
 * has touched the headers too, or the size of the file. */
MUST_CHECK enum status result_file_seal(struct result_file *file);
int result_file_descriptor(const struct result_file *file); /* borrowed */
uint64_t result_file_bytes(const struct result_file *file); /* all of it */

/* Bytes of a file that was opened are looked at, in the mapping or by the descriptor, only once
 * they are sound; those of a new file are. Any thread. */
bool result_file_is_sound(const struct result_file *file, uint64_t offset, uint64_t size);
/* Checks the blocks of these bytes. STATUS_CORRUPT, STATUS_IO, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_file_verify(struct result_file *file, uint64_t offset, uint64_t size);
/* Writes the checksums of the blocks, for which it reads all bytes past the mapping; syncs the file
 * and gives it its name, durable after draft_file_sync_names of its folder. Blocks. Replaces a file
 * of that name. After a failure it may be tried again; does nothing to a published file.
 * ret_checksum: of the whole file, which result_file_open checks. */
MUST_CHECK enum status result_file_publish(struct result_file *file, const char *name,
                                           uint64_t *ret_checksum);
