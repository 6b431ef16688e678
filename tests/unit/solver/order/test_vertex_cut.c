#include "server/solver/order/vertex_cut.h"

#include "server/solver/order/separator.h"
#include "tests/lib/range_fixture.h"

#include <string.h>

#define BAND 12
#define VERTICES (BAND + 2) /* the last two are the two sides */
#define GRAPHS 300

static struct range_edge edges[VERTICES * VERTICES];

/* Makes a random graph of the band and the sides, which are not adjacent. */
static struct pattern make_random(uint64_t *seed)
{
    static uint32_t mark[VERTICES];
    struct pattern pattern;
    size_t count = 0;
    for (uint32_t a = 0; a < VERTICES; ++a) {
        for (uint32_t b = 0; b < a && b < BAND; ++b) {
            if (range_next(seed, 4) == 0) {
                edges[count++] = (struct range_edge){b, a, 1};
            }
        }
    }
    struct graph *graph = range_build(VERTICES, edges, count, false);
    assert_int_equal(pattern_make(graph, NULL, mark, &pattern), STATUS_OK);
    graph_destroy(graph);
    return pattern;
}

/* Returns whether these vertices of the band, a bit each, separate the sides. */
static bool separates(const struct pattern *pattern, uint32_t cut)
{
    uint32_t reached = 1u << BAND;
    for (uint32_t before = 0; reached != before;) {
        before = reached;
        for (uint32_t vertex = 0; vertex < VERTICES; ++vertex) {
            for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; ++e) {
                if (reached >> vertex & 1 && !(cut >> pattern->target[e] & 1)) {
                    reached |= 1u << pattern->target[e];
                }
            }
        }
    }
    return !(reached >> (BAND + 1) & 1);
}

static uint32_t find_minimum(const struct pattern *pattern)
{
    uint32_t least = BAND;
    for (uint32_t cut = 0; cut < 1u << BAND; ++cut) {
        const uint32_t size = (uint32_t)__builtin_popcount(cut);
        least = size < least && separates(pattern, cut) ? size : least;
    }
    return least;
}

static void assert_valid(const struct pattern *pattern, const int32_t *side)
{
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; ++vertex) {
        for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; ++e) {
            assert_false(side[vertex] == SIDE_FIRST && side[pattern->target[e]] == SIDE_SECOND);
        }
    }
}

static uint32_t count_cut(const struct pattern *pattern, const int32_t *side)
{
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; ++vertex) {
        count += side[vertex] == SIDE_SEPARATOR;
    }
    return count;
}

TEST(no_smaller_set_separates_the_sides)
{
    uint64_t seed = 1;
    uint32_t largest = 0;
    for (int graph = 0; graph < GRAPHS; ++graph) {
        struct pattern pattern = make_random(&seed);
        uint32_t vertices[BAND];
        uint32_t place[VERTICES];
        int32_t side[VERTICES] = {[BAND] = SIDE_FIRST, [BAND + 1] = SIDE_SECOND};
        int32_t former[VERTICES];
        for (uint32_t vertex = 0; vertex < BAND; ++vertex) {
            vertices[vertex] = vertex;
            side[vertex] = SIDE_SEPARATOR;
        }
        memcpy(former, side, sizeof(side));
        const struct band band = {&pattern, vertices, BAND, place};
        const uint32_t minimum = find_minimum(&pattern);
        bool found = true;
        if (minimum > 0) {
            assert_int_equal(vertex_cut_find(&band, minimum - 1, side, &found), STATUS_OK);
            assert_false(found);
            assert_memory_equal(side, former, sizeof(side));
        }
        assert_int_equal(vertex_cut_find(&band, minimum, side, &found), STATUS_OK);
        assert_true(found);
        assert_int_equal(count_cut(&pattern, side), minimum);
        assert_valid(&pattern, side);
        largest = minimum > largest ? minimum : largest;
        pattern_finish(&pattern);
    }
    assert_in_range(largest, 4, BAND);
}
