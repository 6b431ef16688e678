/* The output side of distance matrices: .npy header and JSON rows. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* The .npy header is always this long, so that a result file is the download and its matrix starts
 * on a cache line: format 1.0 padded with blanks. */
#define NPY_HEADER_SIZE 128

void npy_header_write(enum kind kind, uint64_t rows, uint64_t columns,
                      unsigned char header[NPY_HEADER_SIZE]);
/* Reads any little-endian C-order 2-d .npy 1.0 to 3.0 header of the kinds we write.
 * ret_offset: where the elements start. STATUS_BAD_GRAPH with the reason otherwise. */
struct problem;
MUST_CHECK enum status npy_header_read(const unsigned char *bytes, size_t size, enum kind *ret_kind,
                                       uint64_t *ret_rows, uint64_t *ret_columns,
                                       size_t *ret_offset, struct problem *reterr);

/* One element as JSON: an integer, the shortest decimal, or null when unreachable. */
void writer_append_distance(struct text *text, enum kind kind, const void *element);
/* A finite number as JSON: the shortest decimal, of a float when it is single. */
void writer_append_real(struct text *text, double value, bool single);
/* A vertex as JSON: a number when the names are numeric, else a string. */
void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row);
/* A vertex as a field of CSV. */
void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row);
