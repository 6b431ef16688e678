/* The last passes: from solved tiles to distances row by row, in the same storage or, of tiles that
 * were solved beside the matrix, into it. */
#pragma once

#include "server/solver/cpu_pool.h"
#include "server/solver/cpu_tiles.h"

struct cpu_finish_options {
    bool symmetric; /* only tiles on and below the diagonal were solved: mirror them */
    bool drifted;   /* integers may have drifted below unreachable: make them canonical */
};

/* STATUS_NO_MEMORY, with the elements of matrix in no order. */
MUST_CHECK enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                                      const struct cpu_finish_options *options,
                                      struct matrix *matrix);

/* The bytes that takes beside the matrix, for a dense plan and for one with an order of its own. */
uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic,
                          bool ordered);

/* True when no diagonal entry is below 0. With clamp those that are become 0 first. Floats only:
 * there a cycle of length 0 may round to less after its last vertex was pivot. */
bool cpu_finish_check_diagonal(struct matrix *matrix, bool clamp);
