/* Prints elements of matrices, numbers and vertices as text. Pure functions for any thread. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "proto/vertex_names.h"

/* Maximum size in bytes of a cell, reachable or not, with its separator. */
#define CELL_SIZE 33

struct cell_style {
    char separator;
    const char *unreachable; /* text of an unreachable cell, at most 15 bytes */
};

/* Prints `count` cells of a row, at columns[0], columns[1], ... or, if columns is NULL, at first,
 * first + 1, ..., with separators. `to` has space for count * CELL_SIZE bytes. Not-a-number, which
 * occurs only in damaged data, is printed as unreachable. Returns the end of the text. */
char *writer_print_cells(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                         uint32_t count, const struct cell_style *style, char *to);
/* Prints the cells to the text. */
void writer_append_cells(struct text *text, enum kind kind, const void *row,
                         const uint32_t *columns, uint32_t first, uint32_t count,
                         const struct cell_style *style);

/* Appends an element as JSON: an integer, a float's shortest decimal, or null if unreachable. */
void writer_append_distance(struct text *text, enum kind kind, const void *element);
/* Appends a finite number as JSON: the shortest decimal that parses to the double or, if `single`,
 * to the float. */
void writer_append_real(struct text *text, double value, bool single);
/* Appends the name of a vertex as JSON: a number if the names are numeric, else a string. */
void writer_append_vertex(struct text *text, const struct vertex_names *names, uint32_t row);
/* Appends the name of a vertex as a CSV field (RFC 4180), in quotes if its characters or its outer
 * spaces need them. */
void writer_append_field(struct text *text, const struct vertex_names *names, uint32_t row);
