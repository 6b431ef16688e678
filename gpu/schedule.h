/* A plan that omits tiles, in the form that the device reads: flat lists, round after round, in one
 * upload. Two 16-bit targets in one tile row with the same left operands form one entry, because a
 * block computes two such tiles side by side. The entries of a round are sorted by work, the
 * largest first. One device executes the whole schedule.
 *
 * A schedule is in host memory and immutable. The caller of schedule_create owns it. */
#pragma once

#include "proto/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A diagonal tile that a round closes. */
struct schedule_pivot {
    uint32_t tile;
    uint32_t depth; /* number of vertices in the tile */
};

/* A tile of a panel. Its slot in the operands is its index in the round's list. */
struct schedule_panel {
    uint32_t tile; /* the panel is (tile, pivot) if left, (pivot, tile) if right */
    uint32_t pivot;
    uint8_t depth;
    uint8_t width; /* number of vertices in `tile` */
};

/* One product of a target. The device reads it by one access of 16 bytes. */
struct schedule_product {
    uint32_t left; /* slot of the left operand; `right`: slots of the right operands */
    uint32_t right[2];
    uint32_t depth;
};

struct schedule_target {
    uint32_t row;
    uint32_t columns[2];    /* the same tile twice if the entry has only one */
    uint32_t product_begin; /* index of the first product in the plan */
    uint32_t slabs;         /* number of slabs of all products of the entry */
    uint8_t rows;           /* number of rows in use: the vertices of the row tile */
    uint8_t words[2];       /* number of words in use in each half of the columns; 0: none */
    uint8_t flags;
};

#define SCHEDULE_FRESH_FIRST 1u  /* columns[0] has not been written yet */
#define SCHEDULE_FRESH_SECOND 2u /* columns[1] has not been written yet */

/* A tile that is filled before the first round, because it has an edge or is on the diagonal. */
struct schedule_tile {
    uint32_t row;
    uint32_t column;
};

/* Entries [begin, begin + count) of a list. */
struct schedule_range {
    uint32_t begin;
    uint32_t count;
};

struct schedule_round {
    struct schedule_range pivots;
    struct schedule_range rights; /* right panels; a symmetric plan has none */
    struct schedule_range lefts;  /* left panels, after the right panels in the list */
    struct schedule_range targets;
};

struct schedule {
    struct schedule_round *rounds; /* one entry per round of the plan */
    uint32_t fill_count;
    uint32_t pivot_count;
    uint32_t panel_count;
    uint32_t target_count;
    uint32_t product_count;
    struct schedule_tile *fills;
    struct schedule_pivot *pivots;
    struct schedule_panel *panels;
    struct schedule_target *targets;
    struct schedule_product *products;
    uint32_t *position; /* row and column of each vertex in the padded matrix */
};

/* The units in which the device computes. The columns of a block have two halves of 64 words: the
 * two halves of one tile or, if a word has two elements, two tiles. */
struct schedule_grain {
    uint32_t packing; /* number of elements per word: 1 or 2 */
    uint32_t slab;    /* number of pivots per slab */
};

/* Creates the schedule of a plan, which is borrowed and not the dense plan. STATUS_NO_MEMORY;
 * STATUS_NO_DEVICE_MEMORY if a list would have 2^32 entries or more. */
MUST_CHECK enum status schedule_create(const struct plan *plan, struct schedule_grain grain,
                                       struct schedule **ret_schedule);
void schedule_destroy(struct schedule *schedule);

/* Returns an upper bound on the device memory of the lists in bytes, each list aligned. */
uint64_t schedule_bytes_most(const struct plan *plan, uint64_t alignment);
/* Returns the largest numbers of left and of right operand slots that a round needs. */
void schedule_slots(const struct plan *plan, uint32_t *ret_left, uint32_t *ret_right);

#ifdef __cplusplus
}
#endif
