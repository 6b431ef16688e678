/* Tiles of a band, or the 16-bit numbers of one, go to their rows by way of a copy of the band, as
 * they come to lie on top of each other. */
#include "server/solver/cpu_finish.h"

#include "proto/check.h"
#include "proto/solve_options.h"
#include "server/solver/cpu_mirror.h"
#include "server/solver/cpu_permutation.h"
#include "server/solver/cpu_rows.h"

#include <stdlib.h>
#include <string.h>

struct finish {
    const struct cpu_tiles *tiles;
    const struct cpu_finish_options *options;
    struct matrix *matrix;
    unsigned char *copies; /* a band for each thread */
    size_t copy_bytes;
    uint32_t first; /* of the bands in hand */
};

/* ---- Bands ---- */

static size_t elements_before(const struct finish *finish, uint32_t band)
{
    return (size_t)finish->tiles->begin[band] * finish->tiles->vertex_count;
}

/* Row-major, whatever the tiles are. */
static void copy_band(const struct finish *finish, uint32_t band, unsigned char *ret_copy)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const size_t size = tiles->element_bytes;
    for (uint32_t tile = 0; tile < tiles->tile_count; ++tile) {
        const struct cpu_block block = cpu_tiles_block(tiles, band, tile);
        unsigned char *to = ret_copy + tiles->begin[tile] * size;
        for (uint32_t row = 0; row < block.rows; ++row) {
            memcpy(to + row * size * tiles->vertex_count,
                   (const unsigned char *)block.elements + row * size * block.stride,
                   block.columns * size);
        }
    }
}

static void widen(const int16_t *from, size_t count, int32_t *ret_wide)
{
    for (size_t index = 0; index < count; ++index) {
        ret_wide[index] = from[index] == NARROW_UNREACHABLE ? UNREACHABLE_I4 : from[index];
    }
}

static void copy_canonical(const int32_t *from, size_t count, int32_t *ret_to)
{
    for (size_t index = 0; index < count; ++index) {
        ret_to[index] = from[index] > UNREACHABLE_I4_DRIFT ? UNREACHABLE_I4 : from[index];
    }
}

static void finish_band(void *context, uint32_t thread, uint64_t task)
{
    const struct finish *finish = context;
    const struct cpu_tiles *tiles = finish->tiles;
    const uint32_t band = finish->first + (uint32_t)task;
    const size_t before = elements_before(finish, band);
    const size_t count = elements_before(finish, band + 1) - before;
    unsigned char *copy = finish->copies + thread * finish->copy_bytes;
    copy_band(finish, band, copy);
    if (tiles->arithmetic == ARITHMETIC_NARROW) {
        widen((const int16_t *)copy, count, (int32_t *)finish->matrix->elements + before);
    } else if (finish->options->drifted && tiles->arithmetic == ARITHMETIC_I4) {
        copy_canonical((const int32_t *)copy, count, (int32_t *)finish->matrix->elements + before);
    } else {
        memcpy((unsigned char *)finish->matrix->elements + before * tiles->element_bytes, copy,
               count * tiles->element_bytes);
    }
}

/* Bands [first, end) may be finished side by side once those behind them are: in 16 bits a band
 * comes from half as far into the storage as it goes to. A band by itself always may. */
static uint32_t first_beside(const struct finish *finish, uint32_t end)
{
    const uint32_t *begin = finish->tiles->begin;
    uint32_t first = finish->tiles->arithmetic == ARITHMETIC_NARROW ? end - 1 : 0;
    while (first > 0 && 2 * (uint64_t)begin[first - 1] >= begin[end]) {
        --first;
    }
    return first;
}

static void finish_bands(struct cpu_pool *pool, struct finish *finish)
{
    for (uint32_t end = finish->tiles->tile_count; end > 0; end = finish->first) {
        finish->first = first_beside(finish, end);
        cpu_pool_run(pool, end - finish->first, finish_band, finish);
    }
}

static size_t widest_band(const struct cpu_tiles *tiles)
{
    size_t widest = 0;
    for (uint32_t tile = 0; tile < tiles->tile_count; ++tile) {
        const size_t width = cpu_tiles_width(tiles, tile);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static enum status bring_bands_home(struct cpu_pool *pool, struct finish *finish)
{
    const struct cpu_tiles *tiles = finish->tiles;
    finish->copy_bytes = widest_band(tiles) * tiles->vertex_count * tiles->element_bytes;
    finish->copies = malloc(finish->copy_bytes * cpu_pool_threads(pool) + 1);
    if (finish->copies == NULL) {
        return STATUS_NO_MEMORY;
    }
    finish_bands(pool, finish);
    free(finish->copies);
    return STATUS_OK;
}

/* ---- All of it ---- */

enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                           const struct cpu_finish_options *options, struct matrix *matrix)
{
    struct finish finish = {.tiles = tiles, .options = options, .matrix = matrix};
    enum status status = STATUS_OK;
    if (options->symmetric) {
        cpu_mirror_run(pool, tiles);
    }
    if (tiles->elements != matrix->elements) {
        cpu_rows_write(pool, tiles, options->drifted, matrix);
        return STATUS_OK;
    }
    if (tiles->plan->vertex_at != NULL) {
        status = cpu_permutation_apply(pool, tiles->plan->vertex_at, tiles->vertex_count,
                                       tiles->element_bytes, tiles->elements);
    }
    const bool row_major = !tiles->banded || tiles->tile_count <= 1;
    const bool in_place = row_major && tiles->arithmetic != ARITHMETIC_NARROW;
    const bool canonical = tiles->arithmetic != ARITHMETIC_I4 || !options->drifted;
    if (status != STATUS_OK || (in_place && canonical)) {
        return status;
    }
    return bring_bands_home(pool, &finish);
}

uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic,
                          bool ordered)
{
    const uint32_t element_bytes = cpu_tiles_element_bytes(arithmetic);
    const uint64_t band = vertex_count < CPU_TILE ? vertex_count : CPU_TILE;
    const uint64_t copies = threads * band * vertex_count * element_bytes;
    const uint64_t rows = ordered ? cpu_permutation_bytes(threads, vertex_count, element_bytes) : 0;
    return copies > rows ? copies : rows;
}

bool cpu_finish_check_diagonal(struct matrix *matrix, bool clamp)
{
    for (uint32_t row = 0; row < matrix->vertex_count; ++row) {
        const size_t index = (size_t)row * ((size_t)matrix->vertex_count + 1);
        const double value = matrix->kind == KIND_F4 ? (double)((float *)matrix->elements)[index]
                                                     : ((double *)matrix->elements)[index];
        if (value < 0) {
            if (!clamp) {
                return false;
            }
            cpu_tiles_store(matrix->kind == KIND_F4 ? ARITHMETIC_F4 : ARITHMETIC_F8,
                            matrix->elements, index, 0);
        }
    }
    return true;
}
