/* The checksums of a file's blocks, and which of the blocks have been found as they were written.
 *
 * Behind the bytes that it covers the file holds a checksum of 8 bytes for each block of them; the
 * checksum of these names the file as a whole. A block is read, not looked at through a mapping, so
 * that a bad disk or a file cut short is a status and not a signal. Looking and verifying: any
 * thread; all else before the file is shared. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_TABLE_BLOCK_SIZE ((size_t)1 << 18)

struct block_table;

/* Bytes of the table of a file of so many. */
uint64_t block_table_size(uint64_t covered_bytes);

/* No checksums yet, every block sound: of a file that is being written. */
MUST_CHECK enum status block_table_create(uint64_t covered_bytes, struct block_table **ret_table);
void block_table_destroy(struct block_table *table);

/* Reads what the file holds, and writes the checksums behind it. STATUS_DISK_FULL, STATUS_IO. */
MUST_CHECK enum status block_table_write(struct block_table *table, int descriptor);
/* Reads the checksums of a file that has them; no block is sound yet. checksum: what
 * block_table_checksum said of it. STATUS_CORRUPT, STATUS_IO. */
MUST_CHECK enum status block_table_read(struct block_table *table, int descriptor,
                                        uint64_t checksum);
/* Of all the checksums together. */
uint64_t block_table_checksum(const struct block_table *table);

/* Whether all of these bytes have been found sound. Never blocks. */
bool block_table_is_sound(const struct block_table *table, uint64_t offset, uint64_t size);
/* Reads those blocks of these bytes that have not been; all are sound after STATUS_OK. */
MUST_CHECK enum status block_table_verify(struct block_table *table, int descriptor,
                                          uint64_t offset, uint64_t size);

/* Bytes of the block, which lies at index * BLOCK_TABLE_BLOCK_SIZE; 0 past the last. */
size_t block_table_block(const struct block_table *table, uint64_t index);
/* Whether these are its bytes, wherever they were read. */
bool block_table_matches(const struct block_table *table, uint64_t index, const void *bytes);
