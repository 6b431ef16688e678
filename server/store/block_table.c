#include "server/store/block_table.h"

#include "proto/check.h"
#include "server/store/draft_file.h"
#include "server/store/omission.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define WORD_BITS 64
#define PIECE_SIZE ((size_t)1 << 15)

struct block_table {
    uint64_t covered_bytes;
    uint64_t count;
    atomic_uint_fast64_t unsound; /* blocks not found sound yet: 0 spares the look at the bits */
    atomic_uint_fast64_t *sound;  /* a bit for each block */
    uint64_t *checksums;
};

static uint64_t blocks_of(uint64_t bytes)
{
    return bytes / BLOCK_TABLE_BLOCK_SIZE + (bytes % BLOCK_TABLE_BLOCK_SIZE > 0);
}

uint64_t block_table_size(uint64_t covered_bytes)
{
    return blocks_of(covered_bytes) * sizeof(uint64_t);
}

enum status block_table_create(uint64_t covered_bytes, struct block_table **ret_table)
{
    struct block_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    table->covered_bytes = covered_bytes;
    table->count = blocks_of(covered_bytes);
    table->checksums = calloc(table->count, sizeof *table->checksums);
    table->sound = calloc(table->count / WORD_BITS + 1, sizeof *table->sound);
    if (table->checksums == NULL || table->sound == NULL) {
        block_table_destroy(table);
        return STATUS_NO_MEMORY;
    }
    *ret_table = table;
    return STATUS_OK;
}

void block_table_destroy(struct block_table *table)
{
    if (table == NULL) {
        return;
    }
    free(table->checksums);
    free(table->sound);
    free(table);
}

static size_t size_of_block(const struct block_table *table, uint64_t index)
{
    uint64_t left = table->covered_bytes - index * BLOCK_TABLE_BLOCK_SIZE;
    return left < BLOCK_TABLE_BLOCK_SIZE ? (size_t)left : BLOCK_TABLE_BLOCK_SIZE;
}

/* By pieces on the stack: a question for a result never fails for want of memory here. */
static enum status digest(const struct block_table *table, int descriptor, uint64_t index,
                          uint64_t *ret_checksum)
{
    unsigned char piece[PIECE_SIZE];
    XXH3_state_t state;
    uint64_t offset = index * BLOCK_TABLE_BLOCK_SIZE;
    size_t left = size_of_block(table, index);
    XXH3_64bits_reset(&state);
    while (left > 0) {
        const size_t size = left < sizeof piece ? left : sizeof piece;
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

static enum status digest_all(struct block_table *table, int descriptor)
{
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < table->count && status == STATUS_OK; i++) {
        status = digest(table, descriptor, i, &table->checksums[i]);
    }
    return status;
}

enum status block_table_write(struct block_table *table, int descriptor)
{
    enum status status = digest_all(table, descriptor);
    if (status == STATUS_OK) {
        status = draft_file_write(descriptor, table->covered_bytes, table->checksums,
                                  block_table_size(table->covered_bytes));
    }
    return status;
}

uint64_t block_table_checksum(const struct block_table *table)
{
    return XXH3_64bits(table->checksums, block_table_size(table->covered_bytes));
}

enum status block_table_read(struct block_table *table, int descriptor, uint64_t checksum)
{
    enum status status = draft_file_read(descriptor, table->covered_bytes, table->checksums,
                                         block_table_size(table->covered_bytes));
    if (status == STATUS_OK && block_table_checksum(table) != checksum &&
        !omission_is("table-check")) {
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        atomic_store(&table->unsound, table->count);
    }
    return status;
}

/* ---- What has been found sound ---- */

static bool is_sound(const struct block_table *table, uint64_t index)
{
    uint64_t word = atomic_load_explicit(&table->sound[index / WORD_BITS], memory_order_acquire);
    return (word >> index % WORD_BITS & 1) != 0;
}

bool block_table_is_sound(const struct block_table *table, uint64_t offset, uint64_t size)
{
    if (atomic_load_explicit(&table->unsound, memory_order_acquire) == 0 || size == 0) {
        return true;
    }
    CHECK(size <= table->covered_bytes && offset <= table->covered_bytes - size);
    for (uint64_t i = offset / BLOCK_TABLE_BLOCK_SIZE;
         i <= (offset + size - 1) / BLOCK_TABLE_BLOCK_SIZE; i++) {
        if (!is_sound(table, i)) {
            return false;
        }
    }
    return true;
}

/* Two threads may have verified the same block; it counts once. */
static void note_sound(struct block_table *table, uint64_t index)
{
    const uint64_t bit = UINT64_C(1) << index % WORD_BITS;
    if ((atomic_fetch_or(&table->sound[index / WORD_BITS], bit) & bit) == 0) {
        atomic_fetch_sub(&table->unsound, 1);
    }
}

static enum status check(const struct block_table *table, int descriptor, uint64_t index)
{
    uint64_t checksum = 0;
    enum status status = digest(table, descriptor, index, &checksum);
    const bool differs = checksum != table->checksums[index] && !omission_is("block-check");
    return status == STATUS_OK && differs ? STATUS_CORRUPT : status;
}

size_t block_table_block(const struct block_table *table, uint64_t index)
{
    return index < table->count ? size_of_block(table, index) : 0;
}

bool block_table_matches(const struct block_table *table, uint64_t index, const void *bytes)
{
    return XXH3_64bits(bytes, size_of_block(table, index)) == table->checksums[index];
}

enum status block_table_verify(struct block_table *table, int descriptor, uint64_t offset,
                               uint64_t size)
{
    if (block_table_is_sound(table, offset, size)) {
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    const uint64_t last = (offset + size - 1) / BLOCK_TABLE_BLOCK_SIZE;
    for (uint64_t i = offset / BLOCK_TABLE_BLOCK_SIZE; i <= last && status == STATUS_OK; i++) {
        if (!is_sound(table, i)) {
            status = check(table, descriptor, i);
            if (status == STATUS_OK) {
                note_sound(table, i);
            }
        }
    }
    return status;
}
