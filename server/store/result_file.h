/* A matrix in the making: an unnamed file with the .npy header, mapped for the solver to write.
 * Moves from the worker (writes the elements) to the result that serves it.
 *
 * Behind the .npy, from the next multiple of 16 bytes on, lie the statistics of the matrix, in the
 * storage of proto/statistics.h: of the same file, under the same checksum, and no part of what is
 * downloaded. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"
#include "proto/writer.h"

struct result_file;

/* Bytes of such a file, which result_file_create takes. STATUS_TOO_LARGE. */
MUST_CHECK enum status result_file_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes);

/* Space is taken on the disk now: STATUS_DISK_FULL here, not in the middle of a solve. */
MUST_CHECK enum status result_file_create(int folder, uint32_t vertex_count, enum kind kind,
                                          struct result_file **ret_file);
/* An existing result, mapped for reading; the headers must match. STATUS_NOT_SOLVED when it is the
 * .npy alone, as files were before they had statistics: to be solved again. */
MUST_CHECK enum status result_file_open(int folder, const char *name, uint32_t vertex_count,
                                        enum kind kind, struct result_file **ret_file);
void result_file_destroy(struct result_file *file);

struct matrix result_file_matrix(const struct result_file *file);
/* Written by the solver too; zero in a new file. Borrowed. */
const struct statistics *result_file_statistics(const struct result_file *file);
/* After the last write: the mapping becomes read-only. */
MUST_CHECK enum status result_file_seal(struct result_file *file);
int result_file_descriptor(const struct result_file *file); /* borrowed */
uint64_t result_file_bytes(const struct result_file *file); /* all of it */
/* XXH3 of the whole file. Reads all of it, past the mapping, so that a bad disk is STATUS_IO and
 * not a signal. */
MUST_CHECK enum status result_file_checksum(const struct result_file *file, uint64_t *ret_checksum);
/* fsync, link under its name, which is durable after draft_file_sync_names of the folder. Blocks.
 * An existing file of that name is replaced. Once per file made by result_file_create; after a
 * failure it may be tried again. */
MUST_CHECK enum status result_file_publish(struct result_file *file, int folder, const char *name);
