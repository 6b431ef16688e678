/* The names that a file gave its vertices, by matrix row, and the way back from name to row.
 * Either a range of numbers (base, base+1, ...) that costs no memory, or a table of strings.
 * Immutable once created; any thread may read. */
#pragma once

#include "proto/name_table.h"
#include "proto/problem.h"
#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest vertex name accepted, in bytes. */
#define VERTEX_NAME_LIMIT 1024
/* Room for any integer that is a name. */
#define VERTEX_NAME_BUFFER 24

struct vertex_names;

MUST_CHECK enum status vertex_names_create_range(uint32_t count, uint32_t base,
                                                 struct vertex_names **ret_names);
/* The names of the table, which is moved on success, by its rows. Consecutive integers become a
 * range. numeric: integers are answered as numbers. */
MUST_CHECK enum status vertex_names_create(struct name_table **take_table, bool numeric,
                                           struct vertex_names **ret_names);
void vertex_names_destroy(struct vertex_names *names);

uint32_t vertex_names_count(const struct vertex_names *names);
bool vertex_names_numeric(const struct vertex_names *names);

/* The row of a name; false when no vertex has it. */
bool vertex_names_find(const struct vertex_names *names, const char *name, size_t size,
                       uint32_t *ret_row);
/* The same; STATUS_NO_SUCH_VERTEX with words. */
MUST_CHECK enum status vertex_names_require(const struct vertex_names *names, const char *name,
                                            size_t size, uint32_t *ret_row, struct problem *reterr);
/* The name of a row: borrowed bytes, not NUL-terminated; buffer is used for integers. */
const char *vertex_names_get(const struct vertex_names *names, uint32_t row,
                             char buffer[VERTEX_NAME_BUFFER], size_t *ret_size);

/* The form inside a graph file: little-endian, self-describing, checked when read back. */
size_t vertex_names_encoded_size(const struct vertex_names *names);
void vertex_names_encode(const struct vertex_names *names, unsigned char *bytes);
/* STATUS_CORRUPT when the bytes are not what encode writes. */
MUST_CHECK enum status vertex_names_decode(const unsigned char *bytes, size_t size,
                                           struct vertex_names **ret_names);
