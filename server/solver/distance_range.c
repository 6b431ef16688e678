#include "server/solver/distance_range.h"

#include "server/solver/diameter_search.h"
#include "server/solver/distance_star.h"

#include <stdlib.h>

/* What the proofs take on one core, measured on random graphs of 10^3 to 10^5 vertices. */
#define STAR_VERTEX_S 200e-9
#define STAR_EDGE_S 5e-9
/* At worst: a search that fails is tried from several vertices. */
#define SEARCH_VERTEX_S 600e-9
#define SEARCH_EDGE_S 90e-9
/* With fewer edges at a vertex than this the few that one way reads do not reach everywhere. */
#define STAR_DEGREE 8

struct bounds {
    const struct graph *graph;
    const struct strong_components *components;
    uint64_t limit;
    uint64_t *longest; /* per component: of the distances that begin in it */
};

static bool is_bounded_by_summary(const struct graph *graph, uint32_t limit)
{
    const double edges = graph->vertex_count > 0 ? graph->vertex_count - 1.0 : 0;
    return graph->summary.distance_bound <= limit || edges * graph->summary.max_weight <= limit;
}

static bool is_bounded_by_star(const struct graph *graph, uint32_t limit, double affordable_s)
{
    uint32_t bound;
    const double for_edges_s = affordable_s - graph->vertex_count * STAR_VERTEX_S;
    const double edges = for_edges_s / STAR_EDGE_S;
    return graph->edge_count / STAR_DEGREE >= graph->vertex_count && for_edges_s > 0 &&
           distance_star_bound(graph, limit, edges < 1e18 ? (uint64_t)edges : UINT64_MAX, &bound);
}

/* The longest way on from a vertex of a component into those of lower number. */
static uint64_t find_longest_exit(const struct bounds *bounds, uint32_t vertex)
{
    const struct graph *graph = bounds->graph;
    const uint32_t *const component = bounds->components->of;
    uint64_t longest = 0;
    for (uint64_t edge = graph->row_offset[vertex]; edge < graph->row_offset[vertex + 1]; ++edge) {
        const uint32_t next = component[graph->target[edge]];
        if (next != component[vertex]) {
            const uint64_t length = (uint64_t)graph->weight_i4[edge] + bounds->longest[next];
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

/* A shortest path crosses each component at most once, from the higher numbers to the lower. */
static bool is_bounded_along_edges(const struct bounds *bounds, struct diameter_search *search)
{
    const struct strong_components *components = bounds->components;
    for (uint32_t component = 0; component < components->count; ++component) {
        uint64_t exit = 0;
        for (uint32_t i = components->first[component]; i < components->first[component + 1]; ++i) {
            const uint64_t length = find_longest_exit(bounds, components->member[i]);
            exit = length > exit ? length : exit;
        }
        uint64_t diameter = 0;
        if (exit > bounds->limit ||
            !diameter_search_bound(search, component, bounds->limit - exit, &diameter)) {
            return false;
        }
        bounds->longest[component] = diameter + exit;
    }
    return true;
}

static bool is_bounded_by_components(const struct graph *graph, uint32_t limit)
{
    struct strong_components components = {0};
    struct diameter_search *search = NULL;
    struct bounds bounds = {.graph = graph, .components = &components, .limit = limit};
    bool bounded = false;
    if (strong_components_find(graph, &components) == STATUS_OK &&
        diameter_search_create(graph, &components, &search) == STATUS_OK) {
        bounds.longest = calloc((size_t)components.count + 1, sizeof(*bounds.longest));
        bounded = bounds.longest != NULL && is_bounded_along_edges(&bounds, search);
    }
    free(bounds.longest);
    diameter_search_destroy(search);
    strong_components_finish(&components);
    return bounded;
}

bool distance_range_within(const struct graph *graph, uint32_t limit, double affordable_s)
{
    const double search_s =
        graph->vertex_count * SEARCH_VERTEX_S + (double)graph->edge_count * SEARCH_EDGE_S;
    if (graph->weight_i4 == NULL || graph->summary.negative) {
        return false;
    }
    if (is_bounded_by_summary(graph, limit) || is_bounded_by_star(graph, limit, affordable_s)) {
        return true;
    }
    return search_s <= affordable_s && is_bounded_by_components(graph, limit);
}
