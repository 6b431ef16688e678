/* Pairs of a body in any form, as rows of a result. */
#pragma once

#include "server/http/api/pairs.h"

/* Reads the rows of both vertices of up to `room` pairs; reader->ended once there are no more.
 * STATUS_BAD_REQUEST as pairs_next, STATUS_NO_SUCH_VERTEX with the place. */
MUST_CHECK enum status pair_rows_read(struct pairs_reader *reader, const struct vertex_names *names,
                                      size_t room, uint32_t ret_rows[][2], size_t *ret_count,
                                      struct problem *reterr);
