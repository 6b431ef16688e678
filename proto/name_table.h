/* Vertex names of a file: each new name gets the next row, in order of appearance. A name of up to
 * 8 bytes, such as most numbers, is stored in the entry of its row; longer names are stored one
 * after the other in a buffer. A table belongs to one reader, or is immutable inside a struct
 * vertex_names. Each table has a random hash seed, so that nobody can craft names that collide. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_table;

MUST_CHECK enum status name_table_create(struct name_table **ret_table);
void name_table_destroy(struct name_table *table);

/* Returns the row of the name; a new name gets a new row. STATUS_NO_MEMORY; STATUS_TOO_LARGE when
 * the number of rows would exceed a uint32. */
MUST_CHECK enum status name_table_intern(struct name_table *table, const char *name, size_t size,
                                         uint32_t *ret_row);
/* Returns the row of a name that is a small integer, without hashing. Returns UINT32_MAX if the
 * table of small integers does not contain it; name_table_find may still find it. */
uint32_t name_table_find_integer(const struct name_table *table, uint32_t integer);
bool name_table_find(const struct name_table *table, const char *name, size_t size,
                     uint32_t *ret_row);

/* Returns an upper bound on the memory in bytes, now and while a graph is built, which needs a
 * sorted copy of the table and an array of rows. */
uint64_t name_table_memory(const struct name_table *table);
uint32_t name_table_count(const struct name_table *table);
/* Returns whether every name so far is an integer in canonical form. */
bool name_table_is_numeric(const struct name_table *table);
/* Returns the integer that is the name of the row; every name must be an integer. */
int64_t name_table_number(const struct name_table *table, uint32_t row);
/* Fills ret_row_of with the rank of each row when the names are sorted as integers; every name must
 * be an integer. STATUS_NO_MEMORY. */
MUST_CHECK enum status name_table_order(const struct name_table *table, uint32_t *ret_row_of);
/* Moves the name of each row to row_of[row]. On STATUS_NO_MEMORY the table is unchanged. */
MUST_CHECK enum status name_table_permute(struct name_table *table, const uint32_t *row_of);
/* Returns a row's name, without a NUL, borrowed until the next call of name_table_intern. */
const char *name_table_get(const struct name_table *table, uint32_t row, size_t *ret_size);
