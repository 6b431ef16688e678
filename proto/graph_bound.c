#include "proto/graph_bound.h"

#include "proto/adjacency.h"

#include <math.h>
#include <stdlib.h>

#define NOT_REACHED UINT64_MAX

/* A breadth-first search from or to a hub. It visits vertices without regard to weights, and
 * computes the length of the path by which it reaches each vertex. */
struct walk {
    const struct graph *graph;
    const struct adjacency *entering; /* edges of graph, grouped by target */
    uint64_t *length;                 /* length of the path to each vertex, or NOT_REACHED */
    uint32_t *queue;
    uint32_t count; /* number of vertices reached */
};

static void reach_vertices(struct walk *walk, uint64_t begin, uint64_t end, const uint32_t *vertex,
                           const int32_t *weight, uint64_t length)
{
    for (uint64_t edge = begin; edge < end; edge++) {
        if (walk->length[vertex[edge]] == NOT_REACHED) {
            walk->length[vertex[edge]] = length + (uint64_t)weight[edge];
            walk->queue[walk->count++] = vertex[edge];
        }
    }
}

static void walk_all(struct walk *walk, uint32_t hub, bool forwards, bool backwards)
{
    const struct graph *graph = walk->graph;
    const struct adjacency *entering = walk->entering;

    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        walk->length[v] = NOT_REACHED;
    }
    walk->length[hub] = 0;
    walk->queue[0] = hub;
    walk->count = 1;
    for (uint32_t done = 0; done < walk->count; done++) {
        const uint32_t v = walk->queue[done];

        if (forwards) {
            reach_vertices(walk, graph->row_offset[v], graph->row_offset[v + 1], graph->target,
                           graph->weight_i4, walk->length[v]);
        }
        if (backwards) {
            reach_vertices(walk, entering->offset[v], entering->offset[v + 1], entering->source,
                           entering->weight_i4, walk->length[v]);
        }
    }
}

/* Chooses the vertex with the largest minimum of out-degree and in-degree, because many vertices
 * are likely to reach it and to be reached from it. */
static uint32_t choose_hub(const struct graph *graph, const struct adjacency *entering)
{
    uint32_t hub = 0;
    uint64_t most = 0;

    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        const uint64_t out = graph->row_offset[v + 1] - graph->row_offset[v];
        const uint64_t in = entering->offset[v + 1] - entering->offset[v];
        const uint64_t degree = !graph->directed ? out + in : out < in ? out : in;

        if (degree > most) {
            most = degree;
            hub = v;
        }
    }
    return hub;
}

static uint64_t find_largest(uint64_t begin, uint64_t end, const int32_t *weight)
{
    uint64_t most = 0;

    for (uint64_t edge = begin; edge < end; edge++) {
        most = (uint64_t)weight[edge] > most ? (uint64_t)weight[edge] : most;
    }
    return most;
}

/* Computes the bound from the path lengths from the hub (length_out) and to the hub (length_in). */
static double bound_by_hub(const struct graph *graph, const struct adjacency *entering,
                           const uint64_t *length_out, const uint64_t *length_in)
{
    uint64_t out = 0;
    uint64_t in = 0;
    uint64_t across = 0;
    double outside = 0;
    bool whole = true;

    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        const uint64_t *const rows = &graph->row_offset[v];
        uint64_t largest = find_largest(rows[0], rows[1], graph->weight_i4);

        if (!graph->directed) {
            const uint64_t other =
                find_largest(entering->offset[v], entering->offset[v + 1], entering->weight_i4);

            largest = other > largest ? other : largest;
        }
        if (length_out[v] == NOT_REACHED || length_in[v] == NOT_REACHED) {
            outside += (double)largest;
            whole = false;
            continue;
        }
        out = length_out[v] > out ? length_out[v] : out;
        in = length_in[v] > in ? length_in[v] : in;
        across = largest > across ? largest : across;
    }
    return (double)out + (double)in + outside + (whole ? 0 : (double)across);
}

void graph_tighten_bound(struct graph *graph)
{
    const size_t vertices = (size_t)graph->vertex_count + 1;
    struct graph one_way = *graph; /* treated as directed, so that adjacency lists each edge once */
    struct adjacency *created = NULL;
    uint64_t *lengths = NULL;

    one_way.directed = true;
    if (graph->weight_type != WEIGHT_INTEGER || graph->summary.negative ||
        graph->summary.max_weight >= GRAPH_BOUND_I4 ||
        graph->summary.distance_bound < GRAPH_BOUND_I4) {
        return;
    }
    const bool symmetric = graph->directed && graph_is_symmetric(graph);
    if (!symmetric && adjacency_create(&one_way, &created) != STATUS_OK) {
        return;
    }
    /* In a symmetric graph, the edges into a vertex are the reverse of those out of it, and the
     * paths to the hub are as long as those from it. */
    const struct adjacency reverse = {
        .offset = graph->row_offset, .source = graph->target, .weight_i4 = graph->weight_i4};
    const struct adjacency *entering = symmetric ? &reverse : created;
    const bool walks_back = graph->directed && !symmetric;

    lengths = reallocarray(NULL, vertices * (walks_back ? 2 : 1), sizeof(*lengths));
    struct walk walk = {.graph = graph, .entering = entering, .length = lengths};

    walk.queue = reallocarray(NULL, vertices, sizeof(*walk.queue));
    if (lengths != NULL && walk.queue != NULL) {
        const uint32_t hub = choose_hub(graph, entering);

        walk_all(&walk, hub, true, !graph->directed);
        if (walk.count == graph->vertex_count) {
            graph->summary.components = 1;
        }
        if (walks_back) {
            walk.length = lengths + vertices;
            walk_all(&walk, hub, false, true);
        }
        graph->summary.distance_bound = fmin(graph->summary.distance_bound,
                                             bound_by_hub(graph, entering, lengths, walk.length));
    }
    free(lengths);
    free(walk.queue);
    adjacency_destroy(created);
}
