/* Distributes the tile rows of the matrix over the devices of a group.
 *
 * Blocks of TILE_ROWS_BLOCK tile rows are dealt back and forth, 0 1 2 2 1 0 0 1 ..., so that the
 * members get about equal shares of the triangle that a symmetric solve computes. A member stores
 * its tile rows contiguously. A `local` index counts the tile rows of a member, a `global` index
 * the tile rows of the whole matrix. A single device is a group of one.
 *
 * Panels that members send to each other are stored in slots, `most` slots for each member, in the
 * order of the members, so that each member sends one contiguous piece. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define TILE_ROWS_INLINE __host__ __device__ __forceinline__
#else
#define TILE_ROWS_INLINE inline
#endif

/* Number of tile rows in a block: the largest number of pivot tiles in a round, so that one member
 * owns all pivot tiles of a round. */
#define TILE_ROWS_BLOCK 2

struct tile_rows {
    uint32_t members; /* number of members, at least 1 */
    uint32_t member;
    uint32_t most; /* largest number of tile rows of any member */
};

static inline struct tile_rows tile_rows_deal(uint32_t members, uint32_t member,
                                              uint32_t tile_count)
{
    const uint32_t blocks = (tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    struct tile_rows rows = {members, member, 0};
    rows.most = members == 1 ? tile_count : (blocks + members - 1) / members * TILE_ROWS_BLOCK;
    return rows;
}

/* Returns the same distribution as seen by another member. */
static inline struct tile_rows tile_rows_of(struct tile_rows rows, uint32_t member)
{
    rows.member = member;
    return rows;
}

/* Returns the member's position within a deal. A deal is one pass over all members. */
static TILE_ROWS_INLINE uint32_t tile_rows_place(struct tile_rows rows, uint32_t deal)
{
    return deal % 2 == 0 ? rows.member : rows.members - 1 - rows.member;
}

static TILE_ROWS_INLINE uint32_t tile_rows_global(struct tile_rows rows, uint32_t local)
{
    const uint32_t deal = local / TILE_ROWS_BLOCK;
    return rows.members == 1
               ? local
               : (deal * rows.members + tile_rows_place(rows, deal)) * TILE_ROWS_BLOCK +
                     local % TILE_ROWS_BLOCK;
}

/* Returns the local index of a tile row on the member that owns it. */
static TILE_ROWS_INLINE uint32_t tile_rows_local(struct tile_rows rows, uint32_t global)
{
    return rows.members == 1 ? global
                             : global / TILE_ROWS_BLOCK / rows.members * TILE_ROWS_BLOCK +
                                   global % TILE_ROWS_BLOCK;
}

/* Returns the member that owns a tile row. */
static TILE_ROWS_INLINE uint32_t tile_rows_owner(struct tile_rows rows, uint32_t global)
{
    const uint32_t block = global / TILE_ROWS_BLOCK;
    const uint32_t deal = block / rows.members;
    const uint32_t place = block - deal * rows.members;
    return deal % 2 == 0 ? place : rows.members - 1 - place;
}

static TILE_ROWS_INLINE bool tile_rows_owns(struct tile_rows rows, uint32_t global)
{
    return rows.members == 1 || tile_rows_owner(rows, global) == rows.member;
}

static TILE_ROWS_INLINE uint32_t tile_rows_slot(struct tile_rows rows, uint32_t global)
{
    return rows.members == 1
               ? global
               : tile_rows_owner(rows, global) * rows.most + tile_rows_local(rows, global);
}

/* Returns how many of the first tile_count tile rows the member owns. */
static TILE_ROWS_INLINE uint32_t tile_rows_count(struct tile_rows rows, uint32_t tile_count)
{
    const uint32_t blocks = (tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    const uint32_t deals = blocks / rows.members;
    const bool more = tile_rows_place(rows, deals) < blocks % rows.members;
    const uint32_t missing = blocks > 0 && tile_rows_owns(rows, blocks * TILE_ROWS_BLOCK - 1)
                                 ? blocks * TILE_ROWS_BLOCK - tile_count
                                 : 0;
    return (deals + (more ? 1 : 0)) * TILE_ROWS_BLOCK - missing;
}

#ifdef __cplusplus
}
#endif
