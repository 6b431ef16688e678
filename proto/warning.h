/* Warnings about an upload: each says what was assumed or ignored, why that may be wrong, and how
 * to change it. A warning never stops a job. A plain value: copied freely, owns nothing. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

enum warning_code {
    WARNING_DIRECTED_ASSUMED, /* edges were assumed to be directed, but none has its reverse */
    WARNING_COLUMNS_UNUSED,   /* columns of numbers that were not used */
    WARNING_PARALLEL_MERGED,  /* edges with the same endpoints but different weights */
    WARNING_FORMAT_GUESSED,   /* the format, its dialect or its columns were guessed */
    WARNING_ZEROS_ARE_EDGES,  /* zeros in an array that may mean missing edges */
    WARNING_NAME_MOVED,       /* an alias that was moved from another graph */
    WARNING_EDGES_ABSENT,     /* edges that a change should remove but that do not exist */
    WARNING_WEIGHTS_ABSENT,   /* every edge has weight 1, although some columns are not used */
    WARNING_HEADER_GUESSED,   /* the first line was read as a header without known names */
    WARNING_DIRECTIONS_READ,  /* edge directions were read from oneway or reverse_cost */
    WARNING_ALL_WEIGHTS_ZERO,
    WARNING_NEGATIVE_COSTS, /* a cost of -1, with which pgRouting marks a closed direction */
    WARNING_KIND_CHANGED,   /* the kind or the arithmetic changed because weights changed */
    WARNING_ROUNDED,        /* distances with more digits than the requested kind can represent */
    WARNING_COUNT
};

struct warning {
    enum warning_code code;
    char detail[PROBLEM_TEXT_SIZE];
    char hint[PROBLEM_TEXT_SIZE];
    char columns[PROBLEM_TEXT_SIZE]; /* names of columns, separated by \x1F */
};

/* Warnings in the order of their codes, at most one of each code. */
struct warnings {
    size_t count;
    struct warning list[WARNING_COUNT];
};

/* Adds a warning with its detail and no hint. A warning with the same code is replaced. */
struct warning *warning_add(struct warnings *warnings, enum warning_code code, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
void warning_hint(struct warning *warning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints the warnings as a JSON array of {"code","detail","hint"}, with "columns" if the warning
 * has columns. The caller frees the text; NULL when there are no warnings, or no memory. */
char *warning_print(const struct warnings *warnings);
