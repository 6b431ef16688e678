
#include "server/solver/distance_range.h"

#include <stdlib.h>

/* Seconds that the proof takes per vertex and per edge on one core, measured on random graphs of
 * 10^3 to 10^5 vertices. */
#define STAR_VERTEX_S 200e-9
#define STAR_EDGE_S 5e-9
/* With fewer edges per vertex, the few edges that the proof reads do not reach all vertices. */
#define STAR_DEGREE 8
/* Maximum number of passes of a search over all rows; the search must reach every vertex. */
#define SWEEPS 4
/* Maximum number of paths to the hub that are compared for each vertex. */
#define WAYS 16
#define NOT_REACHED UINT32_MAX

/* Lengths of the paths that have been found from or to the hub. */
struct reach {
    const struct graph *graph;
    uint32_t limit;
    uint32_t hub;
    uint32_t *length;    /* indexed by vertex: at most limit, or NOT_REACHED */
    uint32_t count;      /* number of vertices reached */
    uint64_t edges_left; /* number of edges that may still be read */
};

static void put_length(struct reach *reach, uint32_t vertex, uint32_t length)
{
    if (length > reach->limit || length >= reach->length[vertex]) {
        return;
    }
    reach->count += reach->length[vertex] == NOT_REACHED;
    reach->length[vertex] = length;
}

static void spend_edges(struct reach *reach, uint64_t edges)
{
    reach->edges_left -= edges < reach->edges_left ? edges : reach->edges_left;
}

/* Follows the edges in a vertex's row. Lengths and weights are at most INT32_MAX, so sums fit. */
static void leave_row(struct reach *reach, uint32_t vertex)
{
    const struct graph *graph = reach->graph;
    const uint64_t end = graph->row_offset[vertex + 1];
    if (reach->length[vertex] == NOT_REACHED) {
        return;
    }
    spend_edges(reach, end - graph->row_offset[vertex]);
    for (uint64_t edge = graph->row_offset[vertex]; edge < end; edge++) {
        put_length(reach, graph->target[edge],
                   reach->length[vertex] + (uint32_t)graph->weight_i4[edge]);
    }
}

static void enter_row(struct reach *reach, uint32_t vertex)
{
    const struct graph *graph = reach->graph;
    const uint64_t end = graph->row_offset[vertex + 1];
    uint32_t ways = 0;
    if (reach->length[vertex] != NOT_REACHED) {
        return;
    }
    uint64_t edge = graph->row_offset[vertex];
    for (; edge < end && ways < WAYS; edge++) {
        const uint32_t onward = reach->length[graph->target[edge]];
        if (onward != NOT_REACHED) {
            put_length(reach, vertex, onward + (uint32_t)graph->weight_i4[edge]);
            ways++;
        }
    }
    spend_edges(reach, edge - graph->row_offset[vertex]);
}

/* Finds paths from the hub, to the hub, or both. Both are needed if an undirected edge is stored in
 * the row of only one endpoint. The hub's own row is read first, because it is the longest. Returns
 * false if a vertex was not reached. */
static bool reach_all(struct reach *reach, bool from, bool to)
{
    const uint32_t vertex_count = reach->graph->vertex_count;
    uint32_t before = 0;
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        reach->length[vertex] = NOT_REACHED;
    }
    reach->count = 0;
    put_length(reach, reach->hub, 0);
    if (from) {
        leave_row(reach, reach->hub);
    }
    for (uint32_t sweep = 0; sweep < SWEEPS && reach->count > before; sweep++) {
        before = reach->count;
        for (uint32_t vertex = 0;
             vertex < vertex_count && reach->count < vertex_count && reach->edges_left > 0;
             vertex++) {
            if (to) {
                enter_row(reach, vertex);
            }
            if (from) {
                leave_row(reach, vertex);
            }
        }
    }
    return reach->count == vertex_count;
}

static uint32_t find_longest(const struct reach *reach)
{
    uint32_t longest = 0;
    for (uint32_t vertex = 0; vertex < reach->graph->vertex_count; vertex++) {
        if (reach->length[vertex] > longest) {
            longest = reach->length[vertex];
        }
    }
    return longest;
}

/* Bounds all distances by paths through the hub, the vertex with the longest row: d(i,j) <=
 * d(i,hub) + d(hub,j). In dense graphs few edges are read to find such paths. */
static bool is_bounded_by_star(const struct graph *graph, uint32_t limit, double affordable_s)
{
    const uint64_t *const offset = graph->row_offset;
    const double for_edges_s = affordable_s - graph->vertex_count * STAR_VERTEX_S;
    const double edges = for_edges_s / STAR_EDGE_S;
    if (graph->edge_count / STAR_DEGREE < graph->vertex_count || for_edges_s <= 0) {
        return false;
    }
    struct reach reach = {.graph = graph,
                          .limit = limit,
                          .length = calloc(graph->vertex_count, sizeof(*reach.length)),
                          .edges_left = edges < 1e18 ? (uint64_t)edges : UINT64_MAX};
    for (uint32_t vertex = 1; vertex < graph->vertex_count; vertex++) {
        if (offset[vertex + 1] - offset[vertex] > offset[reach.hub + 1] - offset[reach.hub]) {
            reach.hub = vertex;
        }
    }
    bool bounded = reach.length != NULL && reach_all(&reach, true, !graph->directed);
    if (bounded) {
        const uint32_t out = find_longest(&reach);
        bounded = !graph->directed || reach_all(&reach, false, true);
        bounded = bounded && out <= limit - find_longest(&reach);
    }
    free(reach.length);
    return bounded;
}

bool distance_range_within(const struct graph *graph, uint32_t limit, double affordable_s)
{
    CHECK(limit <= INT32_MAX);
    if (graph->weight_i4 == NULL || graph->summary.negative) {
        return false;
    }
    const double edges = graph->vertex_count > 0 ? graph->vertex_count - 1.0 : 0;
    return graph->summary.distance_bound <= limit || edges * graph->summary.max_weight <= limit ||
           is_bounded_by_star(graph, limit, affordable_s);
}
