/* Vertex separators of large parts. METIS separates clusters of neighbouring vertices, and the
 * minimum vertex cut in a band around their separator becomes the separator. In road networks, this
 * takes half of the time of METIS alone, and the separators are smaller. (Flows in a band: Sanders
 * and Schulz 2016.) */
#pragma once

#include "server/solver/order/separator.h"

/* Finds a separator as separator_find does, and calls separator_find if the part is small or its
 * cut is large or uneven. scratch: 3 entries per vertex. */
MUST_CHECK enum status coarse_separator_find(const struct pattern *pattern, uint32_t *scratch,
                                             int32_t *ret_side);
