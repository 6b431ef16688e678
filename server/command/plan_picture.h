/* A plan as a picture: its tiles, coloured by the round that first writes to them, with the parts
 * outlined on the diagonal; and under it, column by column, the tree of the parts and the
 * separators above them. */
#pragma once

#include "proto/plan.h"
#include "server/command/svg.h"

/* Begins and ends a zeroed svg, which the caller finishes. Large plans are drawn several tiles to a
 * cell. STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_picture_draw(const struct plan *plan, const char *name,
                                         struct svg *svg);
