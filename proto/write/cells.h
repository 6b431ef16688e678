/* A run of distances as text: what all textual answers are made of, and fast. */
#pragma once

#include "proto/kind.h"

#include <stddef.h>
#include <stdint.h>

/* Most bytes of a cell with its separator; a word for unreachable fits too. */
#define CELL_SIZE 33

struct cell_style {
    char separator;
    const char *unreachable; /* at most 15 bytes */
};

/* Writes the cells of a row at columns[0..count), or at first, first + 1, ... when columns is NULL,
 * with separators between them; to has room for count * CELL_SIZE. Not-a-number, which only damaged
 * data has, is written as unreachable. Returns the end. */
char *cells_print(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                  uint32_t count, const struct cell_style *style, char *to);
