/* Distances as a picture: the matrix from afar, in the colours of viridis, and beside it what it
 * says as a whole, with a histogram. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"
#include "server/command/svg.h"

/* Begins and ends a zeroed svg, which the caller finishes. statistics: of the matrix.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status matrix_picture_draw(const struct matrix *matrix,
                                           const struct statistics *statistics, const char *name,
                                           struct svg *svg);
