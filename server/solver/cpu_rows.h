/* The last pass over a solve with storage of its own: its rows, in the order of the vertices, into
 * the matrix. Each is written once and after the one before it, as a disk likes it. */
#pragma once

#include "server/solver/cpu_pool.h"
#include "server/solver/cpu_tiles.h"

#include <stdbool.h>

/* tiles: of a plan with an order of its own, all of them solved, elsewhere than in the matrix.
 * drifted: integers may have drifted below unreachable; they become canonical. */
void cpu_rows_write(struct cpu_pool *pool, const struct cpu_tiles *tiles, bool drifted,
                    struct matrix *matrix);
