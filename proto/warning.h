/* Warnings about an upload: what was assumed or left out, why that may be wrong, and what changes
 * it. They never stop a job. A plain value: copied freely, owns nothing. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

enum warning_code {
    WARNING_DIRECTED_ASSUMED, /* nothing says so, and no edge has its reverse */
    WARNING_COLUMNS_UNUSED,   /* of numbers, with no part in the graph */
    WARNING_PARALLEL_MERGED,  /* edges of the same ends with other weights */
    WARNING_FORMAT_GUESSED,   /* the format, its dialect or its columns */
    WARNING_ZEROS_ARE_EDGES,  /* in an array that marks no edge as missing */
    WARNING_NAME_MOVED,       /* from another graph */
    WARNING_EDGES_ABSENT,     /* a change was to remove them */
    WARNING_WEIGHTS_ABSENT,   /* each edge counts 1, and there are columns that are not used */
    WARNING_HEADER_GUESSED,   /* the first line names columns, and its names are not known */
    WARNING_DIRECTIONS_READ,  /* by oneway or reverse_cost */
    WARNING_ALL_WEIGHTS_ZERO,
    WARNING_NEGATIVE_COSTS, /* -1 alone, as pgRouting writes for no way */
    WARNING_KIND_CHANGED,   /* by a change of weights: kind or arithmetic */
    WARNING_ROUNDED,        /* distances have more digits than the kind that was asked for */
    WARNING_COUNT
};

struct warning {
    enum warning_code code;
    char detail[PROBLEM_TEXT_SIZE];
    char hint[PROBLEM_TEXT_SIZE];
    char columns[PROBLEM_TEXT_SIZE]; /* the names of those that it is about, one a line */
};

/* Warnings in the order of their codes, one of each at most. */
struct warnings {
    size_t count;
    struct warning list[WARNING_COUNT];
};

/* Adds a warning with its detail and no hint; one that is there with the same code is replaced. */
struct warning *warning_add(struct warnings *warnings, enum warning_code code, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
/* Says what the reader can do. */
void warning_hint(struct warning *warning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The array of {"code","detail","hint"}, with "columns" where there are some, as JSON text that the
 * caller frees; NULL when there are none, or no memory. */
char *warning_print(const struct warnings *warnings);
