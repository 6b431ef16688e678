/* Names as they occur in a file, each with the row it was given, in order of appearance.
 *
 * While all names are integers in canonical form they are kept as numbers, 8 bytes each; the first
 * other name turns the table into one of strings. Owned by one reader, or frozen inside a struct
 * vertex_names. The hash is seeded per table, so that no file can be made to collide. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any int64 with its NUL. */
#define NAME_NUMBER_BUFFER 24

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
/* True while every name is an integer in canonical form; ret_numbers (may be NULL) is then the
 * borrowed array of them, by row. */
bool name_table_numbers(const struct name_table *table, const int64_t **ret_numbers);
/* While all are numbers: the rows in ascending order of them, and the place of each row there. Both
 * have room for all rows. STATUS_NO_MEMORY. */
MUST_CHECK enum status name_table_order(const struct name_table *table, uint32_t *ret_order,
                                        uint32_t *ret_place);
/* Borrowed bytes, not NUL-terminated; buffer is used for numbers. */
const char *name_table_get(const struct name_table *table, uint32_t row,
                           char buffer[NAME_NUMBER_BUFFER], size_t *ret_size);
