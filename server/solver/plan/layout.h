/* How the parts of a dissection become tiles and an order of pivots: what is small is joined to
 * larger parts, each part starts on a tile boundary, and parts that are independent of each other
 * are pivots together. */
#pragma once

#include "server/solver/order/order.h"
#include "server/solver/plan/symbolic.h"

/* How far the trees are cut back. */
struct plan_layout_options {
    uint32_t tile;
    uint32_t granule; /* tiles of one part are about equal, and multiples of this but the last */
    uint32_t leaf;    /* what has at most so many vertices is one part, separators and all */
    uint32_t clump;   /* the separators in what has at most so many are one part, after its leaves;
                         above it each separator is a part */
    bool symmetric;   /* for an undirected graph */
};

struct plan_layout {
    struct plan_outline outline; /* vertex_at, with the other arrays in its memory */
    uint32_t *tile_of;           /* by vertex */
    uint32_t part_count; /* what lies between separators, or a separator, or small components */
};

/* STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_layout_make(const struct order *order,
                                        const struct plan_layout_options *options,
                                        struct plan_layout *ret_layout);
/* Zeroed is allowed. */
void plan_layout_finish(struct plan_layout *layout);
