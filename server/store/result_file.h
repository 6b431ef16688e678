/* The file of a result, a matrix or a hierarchy. The file of a new matrix is a draft with the .npy
 * header, mapped for the solver to write; a small matrix is built in memory and written with one
 * call. The file is owned first by the worker that writes it, then by the result.
 *
 * The statistics of a matrix follow the .npy data at the next multiple of 16 bytes, in the format
 * of proto/statistics.h: in the same file and under the same checksum, but not part of a download.
 * A hierarchy has no statistics; its size is known when it is written. At the end of the file is
 * one checksum for each block of 256 KiB; the checksum of this table identifies the whole file. To
 * verify a block the file is read with pread, not through the mapping, so that a bad disk or a
 * truncated file gives a status instead of a signal.
 *
 * The file of a changed hierarchy is usually a delta (delta_file.h): the blocks and their checksums
 * are then those of its root. */
#pragma once

#include "proto/matrix.h"
#include "proto/npy_header.h"
#include "proto/result_form.h"
#include "proto/statistics.h"

struct result_file;

/* Size of a name "<graph id>.<kind>.result". */
#define RESULT_FILE_NAME_SIZE 48
void result_file_name(const char *graph_id, enum kind kind, char ret_name[RESULT_FILE_NAME_SIZE]);
/* Returns the name of the link to the root, if the file of this name is a delta: "<name>.root". */
void result_file_root_name(const char *name, char ret_name[RESULT_FILE_NAME_SIZE]);

/* Returns the size of the file of a matrix. STATUS_TOO_LARGE. */
MUST_CHECK enum status result_file_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes);
/* Returns the size of the file of a hierarchy that takes hierarchy_bytes in memory. */
uint64_t result_file_hierarchy_size(uint64_t hierarchy_bytes);

/* Creates the file of a new result. The blocks of a large matrix are allocated here, so a full disk
 * is STATUS_DISK_FULL now and not a signal during the solve. A hierarchy has no size yet, and a
 * small matrix stays in memory until it is written. */
MUST_CHECK enum status result_file_create(int folder, uint32_t vertex_count, enum kind kind,
                                          enum result_form form, struct result_file **ret_file);
/* Opens a file that another process created by result_file_create; moves the descriptor on success.
 * STATUS_CORRUPT if size or kind differ. */
MUST_CHECK enum status result_file_adopt(int descriptor, uint32_t vertex_count, enum kind kind,
                                         enum result_form form, struct result_file **ret_file);
/* Called after all elements were written, in the process that wrote them; writes a matrix built in
 * memory to the file. STATUS_DISK_FULL. */
MUST_CHECK enum status result_file_write_matrix(struct result_file *file);
/* Writes a hierarchy, which begins with its magic; size is a multiple of 64. STATUS_DISK_FULL. */
MUST_CHECK enum status result_file_write_hierarchy(struct result_file *file, const void *bytes,
                                                   size_t size);
/* Instead of writing a hierarchy, begins with a copy of the one in `base` (sealed, or opened and
 * verified). The caller may change the copy until the seal, and marks the changed pieces in
 * *ret_changed (see delta_file.h). To write other contents, the caller first discards the copy.
 * Only result_file_publish writes to the disk. STATUS_NO_MEMORY, STATUS_IO. */
MUST_CHECK enum status result_file_copy(struct result_file *file, const struct result_file *base,
                                        void **ret_bytes, uint64_t **ret_changed);
void result_file_discard_bytes(struct result_file *file);
/* Maps the file of a published result for reading. The header and the table of checksums must
 * match; every other block still has to be verified before it is used. STATUS_CORRUPT. */
MUST_CHECK enum status result_file_open(int folder, const char *name, uint32_t vertex_count,
                                        enum kind kind, uint64_t checksum,
                                        struct result_file **ret_file);
void result_file_destroy(struct result_file *file);

enum result_form result_file_form(const struct result_file *file);
/* Returns the hierarchy, borrowed. The file must be sealed, or opened by result_file_open. */
const void *result_file_hierarchy(const struct result_file *file, uint64_t *ret_size);
struct matrix result_file_matrix(const struct result_file *file);
/* Returns the statistics of a matrix, which the solver fills in; zero in a new file. Borrowed. */
const struct statistics *result_file_statistics(const struct result_file *file);
uint64_t result_file_statistics_offset(const struct result_file *file);
/* Makes the mapping read-only after the last write. STATUS_CORRUPT if the process that wrote the
 * elements has changed the header or the size of the file. */
MUST_CHECK enum status result_file_seal(struct result_file *file);
int result_file_descriptor(const struct result_file *file); /* borrowed */
uint64_t result_file_bytes(const struct result_file *file); /* size of the file */

/* Returns whether these bytes are verified. Bytes of an opened file may be read, through the
 * mapping or the descriptor, only after this is true; bytes of a new file may always be read. */
bool result_file_is_sound(const struct result_file *file, uint64_t offset, uint64_t size);
/* Verifies the blocks of these bytes. Any thread. STATUS_CORRUPT, STATUS_IO, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_file_verify(struct result_file *file, uint64_t offset, uint64_t size);
/* Verifies all blocks of a hierarchy, then applies the changes of a delta. Must be called before
 * the hierarchy of an opened file is read; not by two threads at once. Fails like
 * result_file_verify. */
MUST_CHECK enum status result_file_complete(struct result_file *file);
/* Compares the next blocks of a published file, verified or not, with their checksums, at most once
 * a second, so that damage to results that serve queries is found while the service runs. Any
 * thread. STATUS_CORRUPT, STATUS_IO, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_file_compare_again(struct result_file *file);
/* Writes a copy: as a delta, whose root it links, or else with all bytes. Reads all blocks of a
 * file that is not a delta through the descriptor, and writes their checksums. Then syncs the file
 * and renames it to its final name, replacing a file of that name; the name is durable after
 * draft_file_sync_names of the folder. Blocks on the disk. May be tried again after a failure; does
 * nothing to a published file. ret_checksum: the checksum that result_file_open needs. */
MUST_CHECK enum status result_file_publish(struct result_file *file, const char *name,
                                           uint64_t *ret_checksum);
