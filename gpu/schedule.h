/* Tile rows of a group of devices, and a plan that leaves tiles out as the device reads it: flat
 * lists, round after round, from one upload. Of 16-bit numbers two tiles of a row that take the
 * same products are one entry, as a block computes two tiles side by side. A target whose products
 * would keep one block busy for long after all others is several entries, each with a share of the
 * products. The entries of a round that have the most to do come first.
 *
 * The schedule of a member of a group lists what is in its own tile rows. The panels of a round
 * have the same slots on all members, those of each member one after the other, so that it sends
 * what it has made as one piece.
 *
 * Host memory; immutable; owned by whoever made it. */
#pragma once

#include "proto/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rows of a group of devices ---- */

#ifdef __CUDACC__
#define TILE_ROWS_INLINE __host__ __device__ __forceinline__
#else
#define TILE_ROWS_INLINE inline
#endif

/* Tile rows are dealt to the members of a group in blocks of the pivot tiles of a round. */
#define TILE_ROWS_BLOCK 2

/* Which tile rows of the matrix a device holds: all when it is alone. In a group the blocks are
 * dealt there and back, 0 1 2 2 1 0 0 1 ..., so that of the triangle that a symmetric solve
 * computes all members have about as much. A member's memory has its own tile rows one after the
 * other: `local` counts these, `global` those of the whole matrix. */
struct tile_rows {
    uint32_t members; /* 0: alone */
    uint32_t member;
};

/* The member's place among the blocks of one deal. */
static TILE_ROWS_INLINE uint32_t tile_rows_place(struct tile_rows rows, uint32_t deal)
{
    return deal % 2 == 0 ? rows.member : rows.members - 1 - rows.member;
}

static TILE_ROWS_INLINE uint32_t tile_rows_global(struct tile_rows rows, uint32_t local)
{
    const uint32_t deal = local / TILE_ROWS_BLOCK;
    return rows.members == 0
               ? local
               : (deal * rows.members + tile_rows_place(rows, deal)) * TILE_ROWS_BLOCK +
                     local % TILE_ROWS_BLOCK;
}

/* The reverse, for a tile row that the member owns. */
static TILE_ROWS_INLINE uint32_t tile_rows_local(struct tile_rows rows, uint32_t global)
{
    return rows.members == 0 ? global
                             : global / TILE_ROWS_BLOCK / rows.members * TILE_ROWS_BLOCK +
                                   global % TILE_ROWS_BLOCK;
}

static TILE_ROWS_INLINE bool tile_rows_owns(struct tile_rows rows, uint32_t global)
{
    const uint32_t block = global / TILE_ROWS_BLOCK;
    return rows.members == 0 || block % rows.members == tile_rows_place(rows, block / rows.members);
}

/* How many tile rows the member owns, of tile_count. */
static inline uint32_t tile_rows_count(struct tile_rows rows, uint32_t tile_count)
{
    if (rows.members == 0) {
        return tile_count;
    }
    const uint32_t blocks = (tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    const uint32_t deals = blocks / rows.members;
    const bool more = tile_rows_place(rows, deals) < blocks % rows.members;
    const uint32_t missing = tile_rows_owns(rows, blocks * TILE_ROWS_BLOCK - 1)
                                 ? blocks * TILE_ROWS_BLOCK - tile_count
                                 : 0;
    return (deals + (more ? 1 : 0)) * TILE_ROWS_BLOCK - missing;
}

/* ---- Lists; the rows in them are tile rows of the device's memory ---- */

/* A tile of the diagonal that a round closes. */
struct schedule_pivot {
    uint32_t row;
    uint32_t tile;
    uint32_t depth; /* pivots in use */
};

/* A tile of a panel. Its place in the device's list of the round, from the first slot on, is its
 * slot among the operands. */
struct schedule_panel {
    uint32_t tile; /* (tile, pivot) of a left one, (pivot, tile) of a right one */
    uint32_t pivot;
    uint32_t row;
    uint16_t closed; /* slot of the pivot's tile among the closed ones of the round */
    uint8_t depth;
    uint8_t width; /* vertices of the tile */
};

/* Read whole, 16 bytes. */
struct schedule_product {
    uint32_t left; /* slot */
    uint32_t right[2];
    uint32_t depth;
};

struct schedule_target {
    uint32_t row;
    uint32_t columns[2];    /* the same one twice where it is alone */
    uint32_t product_begin; /* of all products of the plan */
    uint32_t slabs;         /* of all its products */
    uint8_t rows;           /* in use: vertices of the row tile */
    uint8_t words[2];       /* in use of each half of the block's columns; 0 = leave it alone */
    uint8_t flags;
};

#define SCHEDULE_FRESH_FIRST 1u  /* columns[0] holds nothing yet */
#define SCHEDULE_FRESH_SECOND 2u /* columns[1], likewise */
#define SCHEDULE_SHARED 4u       /* other entries of the round have the same tiles */

/* A tile that is filled before the first round: one with an edge, or whose first entries share it.
 */
struct schedule_tile {
    uint32_t row;
    uint32_t column;
};

/* Entries [begin, begin + count) of the lists. */
struct schedule_range {
    uint32_t begin;
    uint32_t count;
};

struct schedule_round {
    struct schedule_range pivots;
    struct schedule_range rights; /* of the panels; none of a symmetric plan */
    struct schedule_range lefts;  /* of the panels, behind the rights */
    struct schedule_range targets;
    /* The slots of the first of them: 0 on a device alone. */
    uint32_t first_pivot;
    uint32_t first_right;
    uint32_t first_left;
};

struct schedule {
    bool symmetric;
    uint32_t tile_count;
    uint32_t round_count;
    struct schedule_round *rounds;
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
    uint32_t *position; /* of each vertex: its row and its column in the padded matrix */
    uint32_t vertex_count;
    uint32_t *vertices; /* whose rows the device has, ascending */
};

/* In what the device computes. A block of threads has two halves of half a tile's words each: the
 * halves of one tile, or two tiles of which two elements are a word. */
struct schedule_grain {
    uint32_t packing; /* elements of a word: 1 or 2 */
    uint32_t slab;    /* pivots per slab */
    uint32_t units;   /* blocks that run side by side */
};

/* Borrows the plan, which is not the dense one. STATUS_NO_MEMORY; STATUS_NO_DEVICE_MEMORY when a
 * list has more than 2^32 - 1 entries, or a round more than 2^16 pivot tiles. */
MUST_CHECK enum status schedule_create(const struct plan *plan, struct schedule_grain grain,
                                       struct tile_rows rows, struct schedule **ret_schedule);
void schedule_destroy(struct schedule *schedule);

/* The most that its lists take on the device, each aligned to `alignment`. */
uint64_t schedule_bytes_most(const struct plan *plan, uint64_t alignment);
/* The most slots of a round's left and right operands, and of its closed tiles. */
void schedule_slots(const struct plan *plan, uint32_t *ret_left, uint32_t *ret_right,
                    uint32_t *ret_closed);

#ifdef __cplusplus
}
#endif
