/* Vertex separators: a set of vertices without which a pattern falls apart into two sides of about
 * the same size. separator_metis.c finds them; separator_absent.c stands in where METIS is not
 * built, and then every component is one leaf. */
#pragma once

#include "server/solver/order/pattern.h"

/* Where a vertex is. No edge leads from one side to the other. */
enum side { SIDE_FIRST = 0, SIDE_SECOND = 1, SIDE_SEPARATOR = 2 };

/* Whether this program finds separators at all. */
bool separator_present(void);

/* ret_side: of each vertex, an enum side. The pattern is only read. The same pattern gives the same
 * separator, unless another thread looks for one at the same time. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status separator_find(const struct pattern *pattern, int32_t *ret_side);
