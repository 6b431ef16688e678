#include "tests/solver/random_plan.h"

#include "server/solver/plan/layout.h"
#include "tests/solver/shapes.h"

#include <stdlib.h>

/* Maximum number of places by which an element moves in a nearly ordered sequence of vertices or
 * tiles. Neighbours then stay close together, so some tiles stay empty. */
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

/* Chooses how far elements may move: 0 = not at all, NEAR = a little, UINT32_MAX = anywhere. */
static uint32_t choose_reach(uint64_t *seed)
{
    static const uint32_t reaches[] = {0, NEAR, UINT32_MAX};
    return reaches[shapes_random(seed, 3)];
}

/* Chooses the boundaries of the tiles: either all tiles are full, or each has a random width. */
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

struct plan *random_plan_make(const struct graph *graph, uint32_t tile, bool symmetric,
                              uint64_t seed)
{
    uint32_t tile_count = 0;
    uint32_t *vertex_at = make_sequence(graph->vertex_count, choose_reach(&seed), &seed);
    uint32_t *tile_begin = cut_tiles(graph->vertex_count, tile, &seed, &tile_count);
    uint32_t *pivot = make_sequence(tile_count, choose_reach(&seed), &seed);
    const struct plan_outline outline = {.vertex_at = vertex_at,
                                         .tile_begin = tile_begin,
                                         .tile_count = tile_count,
                                         .tile = tile,
                                         .pivot = pivot,
                                         .symmetric = symmetric};
    struct plan *plan = NULL;
    CHECK(plan_symbolic_make(graph, &outline, &plan) == STATUS_OK);
    free(vertex_at);
    free(tile_begin);
    free(pivot);
    return plan;
}
