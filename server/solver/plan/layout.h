/* Turns the parts of a dissection into tiles and an order of pivots. Small parts are merged into
 * larger ones, each part starts on a tile boundary, and independent parts are pivots of the same
 * rounds. */
#pragma once

#include "server/solver/order/order.h"
#include "server/solver/plan/symbolic.h"

/* Options that determine how the parts of a tree are merged. */
struct plan_layout_options {
    uint32_t tile;
    uint32_t granule; /* tiles of a part have about equal widths, multiples of this except for the
                       * last */
    uint32_t leaf;    /* subtrees of at most this many vertices are one part, separators included */
    uint32_t clump; /* separators of a subtree of at most this many vertices are one part, after its
                       leaves; other separators are a part each */
    bool symmetric; /* the graph is undirected */
};

struct plan_layout {
    struct plan_outline outline; /* vertex_at; its allocation contains the other arrays too */
    uint32_t part_count;         /* leaves, separators and groups of small components */
};

/* Makes the layout of an order. STATUS_NO_MEMORY. */
MUST_CHECK enum status plan_layout_make(const struct order *order,
                                        const struct plan_layout_options *options,
                                        struct plan_layout *ret_layout);
/* Frees the layout. Accepts a zeroed layout. */
void plan_layout_finish(struct plan_layout *layout);
