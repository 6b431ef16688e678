#include "server/solver/diameter_search.h"
#include "tests/unit/range_fixture.h"

#define TRIALS 3000
#define GRID 21

/* The longest distance between two vertices of the component. */
static uint64_t find_diameter(const struct graph *graph, const uint64_t *d,
                              const struct strong_components *components, uint32_t component)
{
    const size_t n = graph->vertex_count;
    uint64_t longest = 0;
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
            if (components->of[i] == component && components->of[j] == component) {
                longest = d[i * n + j] > longest ? d[i * n + j] : longest;
            }
        }
    }
    return longest;
}

static void check_components(const struct graph *graph, uint64_t limit)
{
    struct strong_components components = {0};
    struct diameter_search *search = NULL;
    uint64_t *const d = range_distances(graph);
    assert_int_equal(strong_components_find(graph, &components), STATUS_OK);
    assert_int_equal(diameter_search_create(graph, &components, &search), STATUS_OK);
    for (uint32_t component = 0; component < components.count; ++component) {
        const uint64_t diameter = find_diameter(graph, d, &components, component);
        uint64_t bound = 0;
        if (diameter_search_bound(search, component, limit, &bound)) {
            assert_true(diameter <= bound && bound <= limit);
        } else {
            assert_true(2 * diameter > limit);
        }
    }
    diameter_search_destroy(search);
    strong_components_finish(&components);
    free(d);
}

/* d(i,r) + d(r,j) is at most twice the diameter: so much must always be proven. */
static void no_distance_exceeds_the_bound_nor_the_bound_twice_the_longest(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; ++seed) {
        struct graph *graph = range_random(seed);
        check_components(graph, seed % 1500);
        graph_destroy(graph);
    }
}

/* A square of streets, all of length 1: from its first corner the bound is twice the diameter. */
static struct graph *build_grid(bool directed)
{
    struct range_edge edges[4 * GRID * GRID];
    size_t count = 0;
    for (uint32_t i = 0; i < GRID * GRID; ++i) {
        const uint32_t next[] = {i % GRID + 1 < GRID ? i + 1 : i,
                                 i + GRID < GRID * GRID ? i + GRID : i};
        for (size_t k = 0; k < 2; ++k) {
            edges[count++] = (struct range_edge){i, next[k], 1};
            edges[count++] = (struct range_edge){next[k], i, 1};
        }
    }
    return range_build(GRID * GRID, edges, count, directed);
}

static void searches_from_the_middle_prove_more(void **state)
{
    (void)state;
    const uint64_t diameter = 2 * (GRID - 1);
    for (int directed = 0; directed < 2; ++directed) {
        struct graph *graph = build_grid(directed);
        struct strong_components components = {0};
        struct diameter_search *search = NULL;
        uint64_t bound = 0;
        assert_int_equal(strong_components_find(graph, &components), STATUS_OK);
        assert_int_equal(components.count, 1);
        assert_int_equal(diameter_search_create(graph, &components, &search), STATUS_OK);
        assert_true(diameter_search_bound(search, 0, diameter * 5 / 4, &bound));
        assert_true(bound >= diameter);
        assert_false(diameter_search_bound(search, 0, diameter - 1, &bound));
        diameter_search_destroy(search);
        strong_components_finish(&components);
        graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_distance_exceeds_the_bound_nor_the_bound_twice_the_longest),
        cmocka_unit_test(searches_from_the_middle_prove_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
