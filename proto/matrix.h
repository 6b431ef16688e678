/* An n by n distance matrix, row-major without padding: the result of a solve. The element in row
 * i, column j is the distance from vertex i to vertex j. The elements are the caller's storage (a
 * mapped result file, or memory); the struct owns nothing. Any thread may read a matrix that is
 * complete. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

struct matrix {
    uint32_t vertex_count;
    enum kind kind;
    void *elements; /* vertex_count * vertex_count elements, each aligned to its size */
};

/* Computes n * n * kind_size in bytes. STATUS_TOO_LARGE on overflow. */
MUST_CHECK enum status matrix_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes);
