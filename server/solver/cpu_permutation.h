/* Rows and columns of a square matrix moved to new places, in the matrix's own storage. */
#pragma once

#include "server/solver/cpu_pool.h"

#include <stddef.h>

/* What was at row r and column c comes to row to[r] and column to[c]. elements: n x n, row-major,
 * of element_bytes 2, 4 or 8 each. Every row is read and written once; beside the matrix it takes a
 * few rows for each thread. STATUS_NO_MEMORY, with the matrix as it was. */
MUST_CHECK enum status cpu_permutation_apply(struct cpu_pool *pool, const uint32_t *to, uint32_t n,
                                             uint32_t element_bytes, void *elements);

/* The bytes that takes. */
uint64_t cpu_permutation_bytes(uint32_t threads, uint32_t n, uint32_t element_bytes);
