/* The operands of the interior phase: the panels of a round, copied out of the matrix into the
 * layout in which the interior kernel reads them, so that the matrix may already change.
 *
 * A panel is cut into blocks of 64 words over GPU_TILE pivots: block h holds, pivot after pivot, 64
 * consecutive words, GPU_TILE * 64 words in all without a gap. Any run of pivots of a block is one
 * contiguous piece of memory: one bulk copy.
 *   left:  64 rows of the column panel, transposed; a word is one row (a 16-bit one twice)
 *   right: 64 words of the row panel; a word is one column, or two 16-bit ones
 * A tile has two left blocks, and two right blocks or one. Where the matrix is symmetric and words
 * are elements both are the same numbers, and stored once. */
#pragma once

#include "gpu/semiring.cuh"

/* Words of a block along the panel. */
#define OPERAND_WORDS 64
#define OPERAND_BLOCK_WORDS (GPU_TILE * OPERAND_WORDS)
/* Pivot tiles whose products one interior launch can fuse. */
#define OPERAND_PIVOTS 2

static_assert(GPU_TILE == 2 * OPERAND_WORDS, "a tile has two left blocks");
static_assert(GPU_DEPTH == OPERAND_PIVOTS * GPU_TILE, "a launch is a pass over the matrix");

/* The panels of one pivot tile. */
template <typename word> struct operand {
    word *left;
    word *right;
};

/* Right blocks per tile. */
template <typename semiring>
static __host__ __device__ constexpr uint32_t operand_right_blocks(void)
{
    return GPU_TILE / OPERAND_WORDS / semiring_packing<semiring>();
}

/* Words that the left or the right panels of one pivot tile take. */
static inline uint64_t operand_words(uint64_t tile_count, uint32_t blocks_per_tile)
{
    return tile_count * blocks_per_tile * OPERAND_BLOCK_WORDS;
}
