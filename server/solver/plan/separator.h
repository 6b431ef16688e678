/* Vertex separators: a set without which a graph falls apart into two sides of about the same size.
 * separator_metis.c finds them by METIS; separator_absent.c stands in where it is not built. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A symmetric pattern in compressed rows, without loops or parallel edges. Fewer than 2^31 entries
 * and vertices. */
struct pattern {
    uint32_t vertex_count;
    int32_t *offset; /* vertex_count + 1 */
    int32_t *target;
};

/* Which side a vertex is on. No edge leads from one side to the other. */
enum side { SIDE_FIRST = 0, SIDE_SECOND = 1, SIDE_SEPARATOR = 2 };

/* Whether separators can be found at all in this program. */
bool separator_present(void);

/* ret_side: of each vertex, an enum side. The pattern is only read. The same pattern gives the same
 * separator. Any thread; one at a time, the others wait. STATUS_NO_MEMORY. */
MUST_CHECK enum status separator_find(const struct pattern *pattern, int32_t *ret_side);
