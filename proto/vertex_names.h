/* The names of the vertices in the uploaded file: finds the name of a row, and the row of a name.
 * The names are either a range of numbers (base, base+1, ...), which needs no memory, or a table of
 * strings. The graph owns the names. They are immutable once created: any thread may read them. */
#pragma once

#include "proto/name_table.h"
#include "proto/problem.h"
#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest vertex name accepted, in bytes. */
#define VERTEX_NAME_LIMIT 1024
/* Buffer size for any name that is an integer. */
#define VERTEX_NAME_BUFFER 24

struct vertex_names;

MUST_CHECK enum status vertex_names_create_range(uint32_t count, uint32_t base,
                                                 struct vertex_names **ret_names);
/* Creates names from a table, which is moved on success. Consecutive integers become a range.
 * numeric: whether integer names are printed as JSON numbers. */
MUST_CHECK enum status vertex_names_create(struct name_table **take_table, bool numeric,
                                           struct vertex_names **ret_names);
void vertex_names_destroy(struct vertex_names *names);

uint32_t vertex_names_count(const struct vertex_names *names);
bool vertex_names_numeric(const struct vertex_names *names);

/* Finds the row of a name; false when no vertex has it. */
bool vertex_names_find(const struct vertex_names *names, const char *name, size_t size,
                       uint32_t *ret_row);
/* Finds the row of a name. STATUS_NO_SUCH_VERTEX, with a detail and a hint, if no vertex has it. */
MUST_CHECK enum status vertex_names_require(const struct vertex_names *names, const char *name,
                                            size_t size, uint32_t *ret_row, struct problem *reterr);
/* Returns the name of a row: borrowed, not NUL-terminated; integers are printed into the buffer. */
const char *vertex_names_get(const struct vertex_names *names, uint32_t row,
                             char buffer[VERTEX_NAME_BUFFER], size_t *ret_size);

/* These functions encode the names for a graph file, as little-endian numbers and bytes. */
size_t vertex_names_encoded_size(const struct vertex_names *names);
void vertex_names_encode(const struct vertex_names *names, unsigned char *bytes);
/* Reads names back. STATUS_CORRUPT when the bytes are not an output of vertex_names_encode. */
MUST_CHECK enum status vertex_names_decode(const unsigned char *bytes, size_t size,
                                           struct vertex_names **ret_names);
