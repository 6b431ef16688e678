#include "server/command/generator.h"

/* splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014. The k-th output depends on seed and k alone, so the position of any crossing of a road
 * network can be computed again instead of stored. */
#define GAMMA UINT64_C(0x9e3779b97f4a7c15)

__extension__ typedef unsigned __int128 wide;

struct generation {
    const struct generator_request *request;
    const struct generator_sink *sink;
    uint64_t state;
    uint32_t width; /* number of columns of the grid */
};

static uint64_t mix_bits(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t draw_random(struct generation *generation)
{
    generation->state += GAMMA;
    return mix_bits(generation->state);
}

/* Scales a random number to 0..range-1 by the upper half of a product: D. Lemire, "Fast random
 * integer generation in an interval", 2019. The last step of the method is omitted; the bias is
 * below 2^-30 here. */
static uint64_t scale_random(uint64_t random, uint64_t range)
{
    return (uint64_t)(((wide)random * range) >> 64);
}

static bool draw_percent(struct generation *generation, uint64_t percent)
{
    return scale_random(draw_random(generation), 100) < percent;
}

static enum status give_edge(struct generation *generation, uint32_t source, uint32_t target,
                             uint64_t weight, bool both)
{
    const struct generator_sink *sink = generation->sink;
    enum status status = sink->take(sink->context, source, target, weight);
    return status == STATUS_OK && both ? sink->take(sink->context, target, source, weight) : status;
}

/* Passes on an edge of random weight and, unless the graph is directed, its reverse. */
static enum status give_random(struct generation *generation, uint32_t source, uint32_t target)
{
    const uint64_t weight =
        1 + scale_random(draw_random(generation), generation->request->max_weight);
    return give_edge(generation, source, target, weight, !generation->request->directed);
}

static enum status make_dense(struct generation *generation)
{
    const uint32_t n = generation->request->vertex_count;
    const bool directed = generation->request->directed;
    for (uint32_t source = 0; source < n; source++) {
        for (uint32_t target = directed ? 0 : source + 1; target < n; target++) {
            if (target == source) {
                continue;
            }
            STATUS_TRY(give_random(generation, source, target));
        }
    }
    return STATUS_OK;
}

/* The number of pairs without an edge before the next edge is a geometric random variable. Its
 * binary digits are independent, and digit k is 1 with probability q^(2^k) / (1 + q^(2^k)), where q
 * is the probability that a pair is not an edge. Drawing digit by digit avoids logarithms. */
#define GAP_DIGITS 62
#define ONE ((uint64_t)1 << 32)

struct gap_law {
    uint64_t digit_chance[GAP_DIGITS]; /* probability times 2^32 */
    uint32_t digits;                   /* higher digits are always 0 */
};

static uint64_t draw_gap(struct generation *generation, const struct gap_law *law)
{
    uint64_t gap = 0;
    for (uint32_t digit = 0; digit < law->digits; digit++) {
        if ((draw_random(generation) >> 32) < law->digit_chance[digit]) {
            gap |= (uint64_t)1 << digit;
        }
    }
    return gap;
}

/* Visits, row by row, the pairs that may be edges; place is the index of a pair in its row. */
static enum status make_gnp(struct generation *generation)
{
    const uint32_t n = generation->request->vertex_count;
    const bool directed = generation->request->directed;
    const uint32_t degree = generation->request->degree;
    struct gap_law law = {0};
    if (n < 2 || degree == 0) {
        return STATUS_OK;
    }
    if (degree >= n - 1) {
        return make_dense(generation);
    }
    for (uint64_t q = ONE - (uint64_t)(((wide)degree << 32) / (n - 1));
         law.digits < GAP_DIGITS && q > 0; q = (q * q) >> 32) {
        law.digit_chance[law.digits++] = (uint64_t)(((wide)q << 32) / (ONE + q));
    }
    uint64_t place = draw_gap(generation, &law);
    for (uint32_t source = 0; source < n; source++) {
        const uint32_t row = directed ? n - 1 : n - 1 - source;
        for (; place < row; place += 1 + draw_gap(generation, &law)) {
            uint32_t target = (uint32_t)place + (directed ? 0 : source + 1);
            target += directed && target >= source;
            STATUS_TRY(give_random(generation, source, target));
        }
        place -= row;
    }
    return STATUS_OK;
}

static enum status make_grid(struct generation *generation)
{
    const uint32_t n = generation->request->vertex_count;
    const uint32_t width = generation->width;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if ((vertex + 1) % width != 0 && vertex + 1 < n) {
            STATUS_TRY(give_random(generation, vertex, vertex + 1));
        }
        if (width < n - vertex) {
            STATUS_TRY(give_random(generation, vertex, vertex + width));
        }
    }
    return STATUS_OK;
}

static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1) {
        if ((root | bit) * (root | bit) <= value) {
            root |= bit;
        }
    }
    return root;
}

/* Crossings of roads are CELL apart, each displaced to the right and down by less than JITTER. */
#define CELL 1000
#define JITTER 700
#define LONGEST 2404 /* larger than the longest diagonal, sqrt(2) * (CELL + JITTER - 1) */

static int64_t place_of(const struct generation *generation, uint32_t vertex, bool down)
{
    const uint64_t index = 2 * (uint64_t)vertex + (down ? 1 : 0) + 1;
    const uint64_t cell = down ? vertex / generation->width : vertex % generation->width;
    const uint64_t random = mix_bits(~generation->request->seed + GAMMA * index);
    return (int64_t)(cell * CELL + scale_random(random, JITTER));
}

/* Passes on a street. In a directed graph, a street outside the spanning tree is one-way in a
 * random direction. */
static enum status give_road(struct generation *generation, uint32_t a, uint32_t b, bool tree)
{
    const int64_t across = place_of(generation, a, false) - place_of(generation, b, false);
    const int64_t down = place_of(generation, a, true) - place_of(generation, b, true);
    const uint64_t length = square_root((uint64_t)(across * across + down * down));
    const uint64_t weight =
        1 + (uint64_t)((wide)length * generation->request->max_weight / LONGEST);
    const bool both = tree || !generation->request->directed;
    return !both && draw_percent(generation, 50) ? give_edge(generation, b, a, weight, both)
                                                 : give_edge(generation, a, b, weight, both);
}

/* Makes a road network. Each crossing keeps the street to its left or upper neighbour; these
 * streets form a spanning tree. Of the other streets 60 % remain, and a fifth of the cells have a
 * diagonal. */
static enum status make_road(struct generation *generation)
{
    const uint32_t width = generation->width;
    for (uint32_t vertex = 1; vertex < generation->request->vertex_count; vertex++) {
        const bool has_left = vertex % width != 0;
        const bool has_up = vertex >= width;
        const bool tree_left = draw_percent(generation, 50) ? has_left : !has_up;
        if (has_left && (tree_left || draw_percent(generation, 60))) {
            STATUS_TRY(give_road(generation, vertex - 1, vertex, tree_left));
        }
        if (has_up && (!tree_left || draw_percent(generation, 60))) {
            STATUS_TRY(give_road(generation, vertex - width, vertex, !tree_left));
        }
        if (has_left && has_up && draw_percent(generation, 20)) {
            STATUS_TRY(draw_percent(generation, 50)
                           ? give_road(generation, vertex - width - 1, vertex, false)
                           : give_road(generation, vertex - width, vertex - 1, false));
        }
    }
    return STATUS_OK;
}

enum status generator_run(const struct generator_request *request,
                          const struct generator_sink *sink)
{
    struct generation generation = {.request = request, .sink = sink, .state = request->seed};
    if (request->vertex_count == 0) {
        return STATUS_OK;
    }
    generation.width = (uint32_t)square_root(request->vertex_count);
    return request->shape == GENERATOR_GNP     ? make_gnp(&generation)
           : request->shape == GENERATOR_DENSE ? make_dense(&generation)
           : request->shape == GENERATOR_GRID  ? make_grid(&generation)
                                               : make_road(&generation);
}
