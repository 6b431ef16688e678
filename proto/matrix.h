/* An n by n distance matrix, row-major without padding: what a solve becomes.
 * The elements are the caller's storage (a mapped result file, or memory); the struct owns
 * nothing. Row i, column j is the distance from vertex i to vertex j. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct matrix {
    uint32_t vertex_count;
    enum kind kind;
    void *elements; /* vertex_count * vertex_count, aligned to its element */
};

/* n * n * kind_size in bytes, STATUS_TOO_LARGE when that overflows. */
MUST_CHECK enum status matrix_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes);

/* False when unreachable; else the distance (exact: every kind's values fit a double). */
bool matrix_distance(const struct matrix *matrix, uint32_t row, uint32_t column,
                     double *ret_distance);

/* Copies an i4 matrix into u2 storage. STATUS_WEIGHT_RANGE when a finite distance is negative or
 * above 65534; `to` is then undefined. */
MUST_CHECK enum status matrix_narrow(const struct matrix *from, struct matrix *to);

/* Query for the nearest vertices: reachable ones other than the source itself, at most count of
 * them and none farther than `within`. */
struct nearest_query {
    enum kind kind;
    const void *distances; /* from the source, vertex_count of them */
    uint32_t vertex_count;
    uint32_t source;
    uint32_t count;
    double within; /* infinity: however far */
};

/* Rows of the vertices nearest to one, by distance, those equally far by row; to be freed with
 * free(), NULL when there are none. Takes four bytes for each. */
MUST_CHECK enum status matrix_nearest(const struct nearest_query *query, uint32_t **ret_rows,
                                      size_t *ret_count);
