/* Names as they occur in a file, each with the row it was given, in order of appearance.
 *
 * A name of up to 8 bytes, as most numbers are, lies in the entry of its row; the bytes of longer
 * ones lie behind each other. Owned by one reader, or frozen inside a struct vertex_names. The hash
 * is seeded per table, so that no file can be made to collide. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_table;

MUST_CHECK enum status name_table_create(struct name_table **ret_table);
void name_table_destroy(struct name_table *table);

/* The row of the name, a new one when it was not seen before. STATUS_NO_MEMORY; STATUS_TOO_LARGE
 * when rows run out of uint32. */
MUST_CHECK enum status name_table_intern(struct name_table *table, const char *name, size_t size,
                                         uint32_t *ret_row);
bool name_table_find(const struct name_table *table, const char *name, size_t size,
                     uint32_t *ret_row);

/* Bytes that it holds. */
uint64_t name_table_memory(const struct name_table *table);
uint32_t name_table_count(const struct name_table *table);
/* While every name is an integer in canonical form. */
bool name_table_is_numeric(const struct name_table *table);
/* The name of the row, which is such an integer. */
int64_t name_table_number(const struct name_table *table, uint32_t row);
/* The place of each row in ascending order, where all are integers. STATUS_NO_MEMORY. */
MUST_CHECK enum status name_table_order(const struct name_table *table, uint32_t *ret_row_of);
/* Gives the name of each row to row_of[row]. STATUS_NO_MEMORY leaves the table as it was. */
MUST_CHECK enum status name_table_permute(struct name_table *table, const uint32_t *row_of);
/* Borrowed until the next name is interned; not NUL-terminated. */
const char *name_table_get(const struct name_table *table, uint32_t row, size_t *ret_size);
