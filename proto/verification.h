/* The record of a verification: what was proven about a distance matrix. A row is correct exactly
 * if its diagonal entry is 0, no edge shortens an entry, and every finite entry is reached from the
 * row's vertex along tight edges, edges with d(u) + weight = d(v). The whole path must be tight,
 * not only its last edge: otherwise the edges of a cycle of length 0 could justify each other. A
 * plain value; all zero means that nothing was verified. */
#pragma once

#include "proto/kind.h"

#include <stdbool.h>
#include <stdint.h>

struct verification {
    bool done;      /* whether every check succeeded */
    uint64_t rows;  /* number of rows checked */
    uint64_t of;    /* number of rows of the matrix */
    uint64_t edges; /* number of edges checked against each row; an undirected edge counts twice */
    double tolerance; /* relative tolerance; 0 = exact */
    double seconds;
};

/* verification_tolerance: relative tolerance of a comparison, independent of the length of the
 * path. verification_epsilon: relative error of one addition. Both are 0 for integers, which are
 * compared exactly. */
double verification_tolerance(enum kind kind);
double verification_epsilon(enum kind kind);
/* Returns the smallest normal number of a float kind, which is added to every magnitude: below it
 * floats have fewer digits, so errors are no longer relative to the magnitude. 0 for integers. */
double verification_least(enum kind kind);

/* Returns the row with this index among row_count evenly spread rows, ascending from row 0. */
uint32_t verification_row(uint32_t vertex_count, uint32_t row_count, uint32_t index);
