#include "proto/graph.h"

#include <math.h>
#include <stdlib.h>

#define NOT_REACHED UINT64_MAX

/* The edges by their targets. */
struct entering {
    uint64_t *offset; /* vertex_count + 1 */
    uint32_t *source;
    int32_t *weight;
};

/* Breadth-first search from or to a hub, along edges of any length. */
struct walk {
    const struct graph *graph;
    const struct entering *entering;
    uint64_t *length; /* of the path that reached it first, or NOT_REACHED */
    uint32_t *queue;
    uint32_t count; /* vertices reached */
};

static void entering_finish(struct entering *entering)
{
    free(entering->offset);
    free(entering->source);
    free(entering->weight);
}

static enum status entering_init(struct entering *entering, const struct graph *graph)
{
    const uint32_t n = graph->vertex_count;

    *entering = (struct entering){
        .offset = calloc((size_t)n + 2, sizeof(*entering->offset)),
        .source = malloc((graph->edge_count + 1) * sizeof(*entering->source)),
        .weight = malloc((graph->edge_count + 1) * sizeof(*entering->weight)),
    };
    if (entering->offset == NULL || entering->source == NULL || entering->weight == NULL) {
        entering_finish(entering);
        return STATUS_NO_MEMORY;
    }
    /* The offsets run one place ahead while the edges are put into their places. */
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        entering->offset[graph->target[edge] + 2]++;
    }
    for (uint32_t v = 2; v <= n; v++) {
        entering->offset[v] += entering->offset[v - 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            const uint64_t place = entering->offset[graph->target[edge] + 1]++;

            entering->source[place] = v;
            entering->weight[place] = graph->weight_i4[edge];
        }
    }
    return STATUS_OK;
}

static void reach(struct walk *walk, uint64_t begin, uint64_t end, const uint32_t *vertex,
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
    const struct entering *entering = walk->entering;

    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        walk->length[v] = NOT_REACHED;
    }
    walk->length[hub] = 0;
    walk->queue[0] = hub;
    walk->count = 1;
    for (uint32_t done = 0; done < walk->count; done++) {
        const uint32_t v = walk->queue[done];

        if (forwards) {
            reach(walk, graph->row_offset[v], graph->row_offset[v + 1], graph->target,
                  graph->weight_i4, walk->length[v]);
        }
        if (backwards) {
            reach(walk, entering->offset[v], entering->offset[v + 1], entering->source,
                  entering->weight, walk->length[v]);
        }
    }
}

/* One that many vertices are likely to reach and to be reached from. */
static uint32_t choose_hub(const struct graph *graph, const struct entering *entering)
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

/* length_out, length_in: by way of the hub. */
static double bound_by_hub(const struct graph *graph, const struct entering *entering,
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
                find_largest(entering->offset[v], entering->offset[v + 1], entering->weight);

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
    struct entering entering = {0};
    struct walk walk = {.graph = graph, .entering = &entering};
    uint64_t *length_out = NULL;

    if (graph->weight_type != WEIGHT_INTEGER || graph->summary.negative ||
        graph->summary.max_weight >= GRAPH_BOUND_I4 ||
        graph->summary.distance_bound < GRAPH_BOUND_I4 ||
        entering_init(&entering, graph) != STATUS_OK) {
        return;
    }
    length_out = malloc(vertices * sizeof(*length_out));
    walk.length = length_out;
    walk.queue = malloc(vertices * sizeof(*walk.queue));
    if (walk.length != NULL && walk.queue != NULL) {
        const uint32_t hub = choose_hub(graph, &entering);
        double bound = INFINITY;

        walk_all(&walk, hub, true, !graph->directed);
        walk.length = graph->directed ? malloc(vertices * sizeof(*walk.length)) : length_out;
        if (walk.length != NULL && graph->directed) {
            walk_all(&walk, hub, false, true);
        }
        if (walk.length != NULL) {
            bound = bound_by_hub(graph, &entering, length_out, walk.length);
        }
        graph->summary.distance_bound = fmin(graph->summary.distance_bound, bound);
    }
    if (walk.length != length_out) {
        free(walk.length);
    }
    free(length_out);
    free(walk.queue);
    entering_finish(&entering);
}
