#include "tests/solver/random_plan.h"

#include "server/solver/plan/layout.h"
#include "tests/solver/shapes.h"

#include <stdlib.h>

/* A vertex or tile moves at most this far: neighbours in the file stay neighbours, so that some
 * tiles stay empty. */
#define NEAR 4

static uint32_t *make_sequence(uint32_t count, uint32_t reach, uint64_t *seed)
{
    uint32_t *sequence = calloc((size_t)count + 1, sizeof(*sequence));
    CHECK(sequence != NULL);
    for (uint32_t place = 0; place < count; ++place) {
        sequence[place] = place;
    }
    for (uint32_t place = 0; place < count && reach > 0; ++place) {
        const uint32_t rest = count - place;
        const uint32_t other = place + (uint32_t)shapes_random(seed, rest < reach ? rest : reach);
        const uint32_t moved = sequence[place];
        sequence[place] = sequence[other];
        sequence[other] = moved;
    }
    return sequence;
}

/* 0 = as it is, NEAR = a little, all = any order. */
static uint32_t choose_reach(uint64_t *seed)
{
    static const uint32_t reaches[] = {0, NEAR, UINT32_MAX};
    return reaches[shapes_random(seed, 3)];
}

/* Tile boundaries: all full, or of any width. */
static uint32_t *cut_tiles(uint32_t vertex_count, uint32_t tile, uint64_t *seed,
                           uint32_t *ret_count)
{
    uint32_t *begin = calloc((size_t)vertex_count + 1, sizeof(*begin));
    CHECK(begin != NULL);
    const bool full = shapes_random(seed, 3) == 0;
    uint32_t count = 0;
    for (uint32_t place = 0; place < vertex_count;) {
        const uint32_t wish = full ? tile : 1 + (uint32_t)shapes_random(seed, tile);
        place += wish < vertex_count - place ? wish : vertex_count - place;
        begin[++count] = place;
    }
    *ret_count = count;
    return begin;
}

static uint64_t *choose_extra(uint32_t tile_count, bool symmetric, uint64_t *seed)
{
    static const uint64_t chances[] = {0, 0, 16, 4, 1}; /* one tile in so many; 0 = none */
    const uint64_t chance = chances[shapes_random(seed, 5)];
    const size_t tiles = tile_count;
    uint64_t *extra = calloc(tiles * tiles / 64 + 1, sizeof(*extra));
    CHECK(extra != NULL);
    for (size_t row = 0; row < tiles && chance > 0; ++row) {
        for (size_t column = 0; column < tiles; ++column) {
            const size_t bit = row * tiles + column;
            const size_t mirror = column * tiles + row;
            if (shapes_random(seed, chance) == 0) {
                extra[bit / 64] |= UINT64_C(1) << bit % 64;
                extra[mirror / 64] |= symmetric ? UINT64_C(1) << mirror % 64 : 0;
            }
        }
    }
    return extra;
}

struct plan *random_plan_make(const struct graph *graph, uint32_t tile, bool symmetric,
                              uint64_t seed)
{
    static const uint32_t limits[] = {0, 0, 1, 2, 3};
    uint32_t tile_count = 0;
    uint32_t *vertex_at = make_sequence(graph->vertex_count, choose_reach(&seed), &seed);
    uint32_t *tile_begin = cut_tiles(graph->vertex_count, tile, &seed, &tile_count);
    uint32_t *pivot = make_sequence(tile_count, choose_reach(&seed), &seed);
    uint64_t *extra = choose_extra(tile_count, symmetric, &seed);
    const struct plan_outline outline = {.vertex_at = vertex_at,
                                         .tile_begin = tile_begin,
                                         .tile_count = tile_count,
                                         .tile = tile,
                                         .pivot = pivot,
                                         .round_limit = limits[shapes_random(&seed, 5)],
                                         .symmetric = symmetric,
                                         .extra_tiles = extra};
    struct plan *plan = NULL;
    CHECK(plan_symbolic_make(graph, &outline, &plan) == STATUS_OK);
    free(vertex_at);
    free(tile_begin);
    free(pivot);
    free(extra);
    return plan;
}
