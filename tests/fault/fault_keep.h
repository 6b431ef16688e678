/* A worker's process that keeps what it has said that it has let go of, and writes it later: the
 * file of a result. */
#pragma once

#include "proto/matrix.h"

/* How: map (a second mapping), file (a second descriptor), or lease (a second mapping, and nobody
 * else may open the file). Aborts when it cannot be had. */
void fault_keep(const char *how, const struct matrix *matrix);
/* Writes into the first row of what was kept, and lets go of it; does nothing when there is none.
 */
void fault_keep_spoil(void);
