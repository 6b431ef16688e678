/* Elements of matrices, numbers and vertices as text. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* Most bytes of a cell with its separator; a word for unreachable fits too. */
#define CELL_SIZE 33

struct cell_style {
    char separator;
    const char *unreachable; /* at most 15 bytes */
};

/* Writes the cells of a row at columns[0..count), or at first, first + 1, ... when columns is NULL,
 * with separators between them; to has room for count * CELL_SIZE. Not-a-number, which only damaged
 * data has, is written as unreachable. Returns the end. */
char *writer_print_cells(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                         uint32_t count, const struct cell_style *style, char *to);

/* One element as JSON: an integer, the shortest decimal, or null when unreachable. */
void writer_append_distance(struct text *text, enum kind kind, const void *element);
/* A finite number as JSON: the shortest decimal, of a float when it is single. */
void writer_append_real(struct text *text, double value, bool single);
/* A vertex as JSON: a number when the names are numeric, else a string. */
void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row);
/* A vertex as a field of CSV. */
void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row);
