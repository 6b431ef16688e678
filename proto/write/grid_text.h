/* A grid as text, piece by piece with bounded memory: JSON, CSV, NDJSON and Matrix Market. */
#pragma once

#include "proto/text.h"
#include "proto/write/grid.h"

enum grid_form {
    GRID_JSON,      /* {"sources":[..],"destinations":[..],"distances":[[..],..]} */
    GRID_TABLE,     /* the same with "code":"Ok" in front, as OSRM has it */
    GRID_ROW,       /* of one row: {"source":s,"destinations":[..],"distances":[..]} */
    GRID_CSV,       /* a line a row; an unreachable one is an empty field */
    GRID_CSV_NAMED, /* the same with a first line and a first field of names */
    GRID_NDJSON,    /* a line a row: [d,d,null,..] */
    GRID_MTX        /* array, column by column; an unreachable one is inf, of the field real */
};

struct grid_text {
    struct grid grid;
    enum grid_form form;
    bool has_unreachable; /* or may have: what the head of mtx depends on */
    unsigned part;        /* of the form, from 0 */
    uint64_t position;    /* in the part */
    char *block;          /* of mtx: columns side by side, gathered for one pass over the rows */
};

/* All that follows is 0 in a writer just made: = {.grid = .., .form = ..}. */
void grid_text_finish(struct grid_text *writer);
/* Appends the next piece, some KiB (but a block of mtx is gathered at once: 16 columns); false when
 * that was the last. */
bool grid_text_next(struct grid_text *writer, struct text *text);
