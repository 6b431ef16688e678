/* The upper half of a symmetric matrix whose lower half is solved. */
#pragma once

#include "server/solver/cpu_pool.h"
#include "server/solver/cpu_tiles.h"

/* Tiles above the diagonal become the mirror images of those below it, and so does what is above
 * the diagonal of tiles on it: floats that mirror each other may differ by their rounding. */
void cpu_mirror_run(struct cpu_pool *pool, const struct cpu_tiles *tiles);
