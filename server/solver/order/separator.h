/* Vertex separators: a set of vertices whose removal splits a pattern into two sides of about the
 * same size. separator_metis.c finds separators. In builds without METIS, separator_absent.c
 * replaces that file, and every component is one leaf. */
#pragma once

#include "server/solver/order/pattern.h"

/* The part that a vertex belongs to. No edge joins the two sides. */
enum side { SIDE_FIRST = 0, SIDE_SECOND = 1, SIDE_SEPARATOR = 2 };

/* Returns whether this program can find separators. */
bool separator_present(void);

/* Finds a separator. weights: the weight of each vertex, borrowed; NULL = 1 each. METIS does not
 * change them. ret_side: an enum side for each vertex. The same pattern gives the same
 * separator, unless another thread searches at the same time. Any thread. STATUS_NO_MEMORY. */
MUST_CHECK enum status separator_find(const struct pattern *pattern, int32_t *weights,
                                      int32_t *ret_side);
