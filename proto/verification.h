/* The account of a certificate: what it proved of a matrix of distances.
 *
 * A row is right exactly when its own entry is 0, no edge shortens an entry, and every finite entry
 * is reached from the row's vertex along tight edges, those that account for a distance exactly.
 * Not the last edge alone must be tight but a whole path: edges of a cycle of length 0 could
 * otherwise vouch for each other. A plain value; zeroed it says that nothing was verified. */
#pragma once

#include "proto/kind.h"

#include <stdbool.h>
#include <stdint.h>

struct verification {
    bool done;        /* all that was checked holds */
    uint64_t rows;    /* checked */
    uint64_t of;      /* rows of the matrix */
    uint64_t edges;   /* each checked against every one of these rows, undirected ones both ways */
    double tolerance; /* relative; 0 = exact */
    double seconds;
};

/* Relative tolerance of a comparison, whatever the length of the path, and the relative error of
 * one addition: 0 for integers, which are compared exactly. */
double verification_tolerance(enum kind kind);
double verification_epsilon(enum kind kind);
/* Smaller magnitudes have errors as this one has: floats below it have fewer digits, and the least
 * weights vanish. Added to every magnitude. */
double verification_least(enum kind kind);

/* The index-th of row_count rows spread evenly: ascending, the first is row 0. */
uint32_t verification_row(uint32_t vertex_count, uint32_t row_count, uint32_t index);
