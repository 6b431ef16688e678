/* Phase 2: computes the row panel and the column panel of the pivot, or the tiles of a list, as
 * min-plus products with the closed diagonal tile D. Row tile X becomes D x X, and column tile Y
 * becomes Y x D. Because D is closed (D x D = D), no pivot has to wait for the previous one.
 *
 * Every tile is cut into strips that do not depend on each other. A strip of a row tile has all
 * rows and 32 words. A strip of a column tile has all words, and the number of rows that gives each
 * thread 4x4 words. One block of 256 threads computes a strip. The operands are in 80 KiB of shared
 * memory (for doubles, those of half of the pivots at a time), so that the block fits into the
 * space that a block of the interior phase frees. Tiles are updated in place, because a block reads
 * its whole strip before it writes.
 *
 * Results are stored in the matrix and, as operands of phase 3, in `operand` (semiring.cuh). If the
 * matrix is symmetric, only its tiles on and below the diagonal are stored. The panels then have
 * one tile for each index t, which serves as both operands: the column tile (t, pivot) if t is
 * below the pivot, else the row tile (pivot, t). */
#pragma once

#include "gpu/schedule.h"
#include "gpu/semiring.cuh"

#define PANEL_THREADS 256
/* Width of a strip of a row tile, in words. */
#define PANEL_STRIP 32

struct panel_step {
    /* List in device memory: row tiles, then column tiles, each with its pivot. The i-th row tile
     * and the i-th column tile have slot i. If NULL, the panels are the first row_count tiles of
     * the row of `pivot`, then column_count tiles of the column of `pivot`, starting at the
     * device's tile row first_column. */
    const struct schedule_panel *panels;
    uint32_t row_count;
    uint32_t column_count;
    uint32_t first_column;
    uint32_t pivot;
    uint32_t depth; /* number of vertices in the pivot tile, rounded up to whole quads */
    bool symmetric; /* each of the row_count entries is either a row tile or a column tile */
    const struct tile_control *control;
    const void *diagonal; /* the closed diagonal tile; NULL: read from the matrix */
    struct tile_rows rows;
};

/* The work of one block. */
struct panel_work {
    uint32_t tile;
    uint32_t pivot;
    uint32_t row; /* tile row in the device's memory */
    uint32_t depth;
    uint32_t slot; /* slot of the tile in the operands */
    uint32_t strip;
    bool in_row;
};

template <typename semiring> static __host__ __device__ constexpr uint32_t panel_tile_words(void)
{
    return GPU_TILE / semiring_packing<semiring>();
}

/* Returns the number of rows in a strip of a column tile. */
template <typename semiring> static __host__ __device__ constexpr uint32_t panel_strip_rows(void)
{
    return PANEL_THREADS * QUAD * QUAD / panel_tile_words<semiring>();
}

/* Returns the number of strips per tile, which is the same for row tiles and column tiles. */
template <typename semiring> static __host__ __device__ constexpr uint32_t panel_strips(void)
{
    return panel_tile_words<semiring>() / PANEL_STRIP;
}

static_assert(panel_strips<semiring_i4>() * panel_strip_rows<semiring_i4>() == GPU_TILE &&
                  panel_strips<semiring_u2>() * panel_strip_rows<semiring_u2>() == GPU_TILE,
              "rows are cut as often as columns");

/* Returns the number of pivots whose operands are in shared memory at the same time. */
template <typename semiring> static __host__ __device__ constexpr uint32_t panel_slice(void)
{
    return GPU_TILE * 4 / sizeof(typename semiring::word);
}

/* Returns the bytes of shared memory for both operands of a product: D, and a strip of a tile. */
template <typename semiring> static constexpr size_t panel_shared_bytes(void)
{
    const size_t row_words = panel_slice<semiring>() * (GPU_TILE + PANEL_STRIP);
    const size_t column_words =
        panel_slice<semiring>() * (panel_strip_rows<semiring>() + panel_tile_words<semiring>());
    return (row_words > column_words ? row_words : column_words) * sizeof(typename semiring::word);
}

/* Copies ROWS x COLUMNS words into shared memory, where rows have no gaps between them. */
template <uint32_t ROWS, uint32_t COLUMNS, typename word>
static __device__ __forceinline__ void panel_copy(word *shared, const word *global, uint64_t stride)
{
    constexpr uint32_t words = 16 / sizeof(word);
    constexpr uint32_t across = COLUMNS / words;
    constexpr uint32_t rows_per_pass = PANEL_THREADS / across;
    static_assert(PANEL_THREADS % across == 0 && ROWS % rows_per_pass == 0, "whole passes only");
    const uint32_t row = threadIdx.x / across;
    const uint32_t column = threadIdx.x % across * words;
#pragma unroll 8
    for (uint32_t line = row; line < ROWS; line += rows_per_pass) {
        tile_copy_16(shared + line * COLUMNS + column, global + line * stride + column);
    }
}

/* Returns a word with the low 16 bits of a pair in both halves. */
static __device__ __forceinline__ uint32_t panel_low_twice(uint32_t pair)
{
    return __byte_perm(pair, 0, 0x1010);
}

static __device__ __forceinline__ uint32_t panel_high_twice(uint32_t pair)
{
    return __byte_perm(pair, 0, 0x3232);
}

/* Copies ROWS x panel_slice elements into shared memory as a left operand, one element per word. */
template <typename semiring, uint32_t ROWS>
static __device__ __forceinline__ void panel_copy_left(typename semiring::word *shared,
                                                       const typename semiring::element *global,
                                                       uint64_t stride)
{
    constexpr uint32_t slice = panel_slice<semiring>();
    if constexpr (semiring_packing<semiring>() == 1) {
        panel_copy<ROWS, slice>(shared, global, stride);
    } else {
        for (uint32_t at = threadIdx.x * 2; at < ROWS * slice; at += PANEL_THREADS * 2) {
            const uint32_t pair =
                *reinterpret_cast<const uint32_t *>(global + at / slice * stride + at % slice);
            shared[at] = panel_low_twice(pair);
            shared[at + 1] = panel_high_twice(pair);
        }
    }
}

/* Computes tile = min(tile, left x right) over `depth` pivots. left and right are in shared memory;
 * left has rows of panel_slice words, right has rows of COLUMNS words. */
template <typename semiring, uint32_t COLUMNS>
static __device__ __forceinline__ void
panel_product(typename semiring::word (&tile)[QUAD][QUAD], struct tile_place place, uint32_t depth,
              const typename semiring::word *left, const typename semiring::word *right)
{
    for (uint32_t pivot = 0; pivot < depth; pivot += QUAD) {
        typename semiring::word to[QUAD][QUAD];
#pragma unroll
        for (uint32_t i = 0; i < QUAD; i++) {
            tile_load_quad(left + (place.row + i) * panel_slice<semiring>() + pivot, to[i]);
        }
#pragma unroll
        for (uint32_t k = 0; k < QUAD; k++) {
            typename semiring::word from[QUAD];
            tile_load_quad(right + (pivot + k) * COLUMNS + place.column, from);
#pragma unroll
            for (uint32_t i = 0; i < QUAD; i++) {
#pragma unroll
                for (uint32_t j = 0; j < QUAD; j++) {
                    tile[i][j] = semiring_relax_word<semiring>(tile[i][j], to[i][k], from[j]);
                }
            }
        }
    }
}

/* Operands of a strip's product, one of which is the strip itself, and the number of pivots. */
template <typename element> struct panel_operands {
    struct tile_matrix<element> left;
    struct tile_matrix<element> right;
    uint32_t depth;
};

/* Computes the thread's part of a strip of ROWS x COLUMNS words. Loads operands slice by slice. */
template <typename semiring, uint32_t ROWS, uint32_t COLUMNS>
static __device__ __forceinline__ void
panel_compute(typename semiring::word (&tile)[QUAD][QUAD], struct tile_place place,
              const struct panel_operands<typename semiring::element> &operands,
              struct tile_matrix<typename semiring::element> home, typename semiring::word *shared)
{
    typedef typename semiring::word word;
    constexpr uint32_t slice = panel_slice<semiring>();
    const uint64_t word_stride = home.stride / semiring_packing<semiring>();
    const uint64_t right_words = operands.right.stride / semiring_packing<semiring>();
    word *const shared_right = shared + ROWS * slice;
    const word *const old =
        reinterpret_cast<const word *>(home.elements) + place.row * word_stride + place.column;
#pragma unroll
    for (uint32_t i = 0; i < QUAD; i++) {
        tile_load_quad(old + i * word_stride, tile[i]);
    }
    for (uint32_t first = 0; first < operands.depth; first += slice) {
        panel_copy_left<semiring, ROWS>(shared, operands.left.elements + first,
                                        operands.left.stride);
        panel_copy<slice, COLUMNS>(shared_right,
                                   reinterpret_cast<const word *>(operands.right.elements) +
                                       first * right_words,
                                   right_words);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        panel_product<semiring, COLUMNS>(tile, place, min(operands.depth - first, slice), shared,
                                         shared_right);
        /* After this barrier threads may overwrite the operands and, at the end, the strip. */
        __syncthreads();
    }
}

template <typename semiring>
static __device__ __forceinline__ void
panel_store(const typename semiring::word (&tile)[QUAD][QUAD], struct tile_place place,
            struct tile_matrix<typename semiring::element> home)
{
    typedef typename semiring::word word;
    const uint64_t stride = home.stride / semiring_packing<semiring>();
    word *const to = reinterpret_cast<word *>(home.elements) + place.row * stride + place.column;
#pragma unroll
    for (uint32_t i = 0; i < QUAD; i++) {
        tile_store_quad(to + i * stride, tile[i][0], tile[i][1], tile[i][2], tile[i][3]);
    }
}

/* Returns the address of the slot's left word for pivot 0 and vertex `at` (0..GPU_TILE-1). */
template <typename word>
static __device__ __forceinline__ word *panel_left(struct operand<word> operand, uint32_t slot,
                                                   uint32_t at)
{
    return operand.left + ((uint64_t)slot * 2 + at / OPERAND_WORDS) * OPERAND_BLOCK_WORDS +
           at % OPERAND_WORDS;
}

/* Returns the address, in the right operand of the slot, of the tile's word `at` for pivot 0. */
template <typename semiring>
static __device__ __forceinline__ typename semiring::word *
panel_right(struct operand<typename semiring::word> operand, uint32_t slot, uint32_t at)
{
    return operand.right +
           ((uint64_t)slot * operand_right_blocks<semiring>() + at / OPERAND_WORDS) *
               OPERAND_BLOCK_WORDS +
           at % OPERAND_WORDS;
}

/* Stores a row strip, whose rows are pivots, into the right operand without transposing the strip.
 * In a symmetric solve a strip of 16-bit elements is also stored into the left operand. */
template <typename semiring>
static __device__ __forceinline__ void
panel_give_row(const typename semiring::word (&tile)[QUAD][QUAD], struct tile_place place,
               struct operand<typename semiring::word> operand, uint32_t slot, uint32_t strip,
               bool symmetric)
{
    typedef typename semiring::word word;
    const uint32_t column = strip * PANEL_STRIP + place.column;
    word *const right = panel_right<semiring>(operand, slot, column) + place.row * OPERAND_WORDS;
#pragma unroll
    for (uint32_t i = 0; i < QUAD; i++) {
        tile_store_quad(right + i * OPERAND_WORDS, tile[i][0], tile[i][1], tile[i][2], tile[i][3]);
    }
    if constexpr (semiring_packing<semiring>() == 2) {
        if (symmetric) {
            word *const left = panel_left(operand, slot, column * 2) + place.row * OPERAND_WORDS;
#pragma unroll
            for (uint32_t i = 0; i < QUAD; i++) {
                tile_store_quad(left + i * OPERAND_WORDS, panel_low_twice(tile[i][0]),
                                panel_high_twice(tile[i][0]), panel_low_twice(tile[i][1]),
                                panel_high_twice(tile[i][1]));
                tile_store_quad(left + i * OPERAND_WORDS + QUAD, panel_low_twice(tile[i][2]),
                                panel_high_twice(tile[i][2]), panel_low_twice(tile[i][3]),
                                panel_high_twice(tile[i][3]));
            }
        }
    }
}

/* Transposes a column strip, whose columns are pivots, and stores it into the left operand. In a
 * symmetric solve a strip of 16-bit elements is also stored into the right operand. */
template <typename semiring>
static __device__ __forceinline__ void
panel_give_column(const typename semiring::word (&tile)[QUAD][QUAD], struct tile_place place,
                  struct operand<typename semiring::word> operand, uint32_t slot, uint32_t strip,
                  bool symmetric)
{
    typedef typename semiring::word word;
    const uint32_t row = strip * panel_strip_rows<semiring>() + place.row;
    word *const left = panel_left(operand, slot, row);
    if constexpr (semiring_packing<semiring>() == 1) {
#pragma unroll
        for (uint32_t j = 0; j < QUAD; j++) {
            tile_store_quad(left + (place.column + j) * OPERAND_WORDS, tile[0][j], tile[1][j],
                            tile[2][j], tile[3][j]);
        }
    } else {
#pragma unroll
        for (uint32_t j = 0; j < QUAD; j++) {
            word *const low = left + (place.column + j) * 2 * OPERAND_WORDS;
            tile_store_quad(low, panel_low_twice(tile[0][j]), panel_low_twice(tile[1][j]),
                            panel_low_twice(tile[2][j]), panel_low_twice(tile[3][j]));
            tile_store_quad(low + OPERAND_WORDS, panel_high_twice(tile[0][j]),
                            panel_high_twice(tile[1][j]), panel_high_twice(tile[2][j]),
                            panel_high_twice(tile[3][j]));
        }
        if (symmetric) {
            word *const right = panel_right<semiring>(operand, slot, row / 2);
#pragma unroll
            for (uint32_t j = 0; j < QUAD; j++) {
                word *const low = right + (place.column + j) * 2 * OPERAND_WORDS;
                *reinterpret_cast<uint2 *>(low) =
                    make_uint2(__byte_perm(tile[0][j], tile[1][j], 0x5410),
                               __byte_perm(tile[2][j], tile[3][j], 0x5410));
                *reinterpret_cast<uint2 *>(low + OPERAND_WORDS) =
                    make_uint2(__byte_perm(tile[0][j], tile[1][j], 0x7632),
                               __byte_perm(tile[2][j], tile[3][j], 0x7632));
            }
        }
    }
}

/* Returns the diagonal tile of the thread block's pivot, as phase 1 has computed it. */
template <typename semiring>
static __device__ __forceinline__ struct tile_matrix<typename semiring::element>
panel_diagonal(struct tile_matrix<typename semiring::element> matrix, const struct panel_step &step,
               const struct panel_work &work) {
    if (step.diagonal == nullptr) {
        matrix.elements = tile_at(matrix, work.pivot, work.pivot);
        return matrix;
    }
    matrix.elements = (typename semiring::element *)step.diagonal;
    matrix.stride = GPU_TILE;
    return matrix;
}

/* Computes a strip of a row tile. The pivot's own tile becomes a right operand too, because a pair
 * of columns may need it. This tile is not written to the matrix, because every block reads it. */
template <typename semiring>
static __device__ __forceinline__ void
panel_row_strip(struct tile_matrix<typename semiring::element> matrix,
                struct operand<typename semiring::word> operand, const struct panel_work &work,
                const struct panel_step &step, typename semiring::word *shared)
{
    const struct tile_place place = tile_place_of_thread<PANEL_STRIP>();
    const struct tile_matrix<typename semiring::element> home = {
        tile_at(matrix, work.row, work.tile) +
            work.strip *PANEL_STRIP *semiring_packing<semiring>(),
            matrix.stride
    };
    typename semiring::word tile[QUAD][QUAD];
    panel_compute<semiring, GPU_TILE, PANEL_STRIP>(
        tile, place, {panel_diagonal<semiring>(matrix, step, work), home, work.depth}, home,
        shared);
    if (work.tile != work.pivot) {
        panel_store<semiring>(tile, place, home);
    }
    panel_give_row<semiring>(tile, place, operand, work.slot, work.strip, step.symmetric);
}

template <typename semiring>
static __device__ __forceinline__ void
panel_column_strip(struct tile_matrix<typename semiring::element> matrix,
                   struct operand<typename semiring::word> operand, const struct panel_work &work,
                   const struct panel_step &step, typename semiring::word *shared)
{
    constexpr uint32_t rows = panel_strip_rows<semiring>();
    const struct tile_place place = tile_place_of_thread<panel_tile_words<semiring>()>();
    const struct tile_matrix<typename semiring::element> home = {
        tile_at(matrix, work.row, work.pivot) + work.strip *rows *matrix.stride, matrix.stride
    };
    typename semiring::word tile[QUAD][QUAD];
    panel_compute<semiring, rows, panel_tile_words<semiring>()>(
        tile, place, {home, panel_diagonal<semiring>(matrix, step, work), work.depth}, home,
        shared);
    panel_store<semiring>(tile, place, home);
    panel_give_column<semiring>(tile, place, operand, work.slot, work.strip, step.symmetric);
}

/* Finds the block's work in a list of panels. */
template <typename semiring>
static __device__ __forceinline__ void panel_find_listed(const struct panel_step &step,
                                                         uint32_t entry, struct panel_work *work)
{
    const struct schedule_panel panel = step.panels[entry];
    const bool listed_as_row = entry < step.row_count;
    work->slot = listed_as_row ? entry : entry - step.row_count;
    work->tile = panel.tile;
    work->pivot = panel.pivot;
    work->in_row = step.symmetric ? panel.tile < panel.pivot : listed_as_row;
    work->row = work->in_row ? panel.pivot : panel.tile;
    /* A strip beyond the tile's vertices is padding. With depth 0 it is copied unchanged. */
    const uint32_t across =
        work->in_row ? PANEL_STRIP * semiring_packing<semiring>() : panel_strip_rows<semiring>();
    work->depth = work->strip * across < panel.width ? panel.depth : 0;
}

/* Finds the block's work among the panels of one pivot. */
static __device__ __forceinline__ void panel_find_dense(const struct panel_step &step,
                                                        uint32_t entry, struct panel_work *work)
{
    const uint32_t own = entry - step.row_count + step.first_column;
    work->in_row = entry < step.row_count;
    work->tile = work->in_row ? entry : tile_rows_global(step.rows, own);
    work->slot = tile_rows_slot(step.rows, work->tile);
    work->row = work->in_row ? tile_rows_local(step.rows, step.pivot) : own;
    work->pivot = step.pivot;
    work->depth = step.depth;
}

/* Finds the tile and the strip that the block computes. Returns false if the block has none. */
template <typename semiring>
static __device__ __forceinline__ bool panel_locate(const struct panel_step &step,
                                                    struct panel_work *work)
{
    const uint32_t entry = blockIdx.x / panel_strips<semiring>();
    work->strip = blockIdx.x % panel_strips<semiring>();
    if (step.panels != nullptr) {
        panel_find_listed<semiring>(step, entry, work);
    } else {
        panel_find_dense(step, entry, work);
    }
    work->depth = (work->depth + QUAD - 1) / QUAD * QUAD;
    if (work->tile == work->pivot) {
        work->in_row = true;
        return semiring_packing<semiring>() == 2 && entry < step.row_count;
    }
    return true;
}

/* Computes the panels. Grid: the strips of each row tile, then the strips of each column tile. */
template <typename semiring>
__global__ void __launch_bounds__(PANEL_THREADS, sizeof(typename semiring::word) == 4 ? 2 : 1)
    panel_kernel(struct tile_matrix<typename semiring::element> matrix,
                 struct operand<typename semiring::word> operand,
                 const __grid_constant__ struct panel_step step)
{
    extern __shared__ __align__(128) unsigned char block_storage[];
    typename semiring::word *const shared =
        reinterpret_cast<typename semiring::word *>(block_storage);
    struct panel_work work;
    if (__syncthreads_or(tile_stopped(step.control)) || !panel_locate<semiring>(step, &work)) {
        return;
    }
    if (work.in_row) {
        panel_row_strip<semiring>(matrix, operand, work, step, shared);
    } else {
        panel_column_strip<semiring>(matrix, operand, work, step, shared);
    }
}

template <typename semiring>
MUST_CHECK static enum status panel_launch(struct tile_matrix<typename semiring::element> matrix,
                                           struct operand<typename semiring::word> operand,
                                           struct panel_step step, cudaStream_t stream)
{
    const uint32_t blocks = (step.row_count + step.column_count) * panel_strips<semiring>();
    if (blocks == 0) {
        return STATUS_OK;
    }
    panel_kernel<semiring>
        <<<blocks, PANEL_THREADS, panel_shared_bytes<semiring>(), stream>>>(matrix, operand, step);
    return try_translate(cudaGetLastError());
}
