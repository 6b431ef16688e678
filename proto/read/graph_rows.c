#include "proto/read/graph_rows.h"

#include "proto/graph_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t key_of(struct edge edge)
{
    return (uint64_t)edge.source << 32 | edge.target;
}

static void settle_loop(struct graph_summary *summary, struct edge loop)
{
    if (loop.weight >= 0) {
        summary->loops_dropped++;
    } else if (loop.source < summary->negative_loop ||
               (loop.source == summary->negative_loop &&
                loop.weight < summary->negative_loop_weight)) {
        summary->negative_loop = loop.source;
        summary->negative_loop_weight = loop.weight;
    }
}

/* Maps the endpoints of edges to their final rows, makes the smaller endpoint the source in an
 * undirected graph, and removes loops. Returns whether the edges are sorted afterwards. */
static bool normalise_edges(struct edge_buffer *list, const uint32_t *row_of, struct graph *graph)
{
    uint64_t kept = 0;
    uint64_t before = 0;
    bool sorted = true;

    for (uint64_t i = 0; i < list->count; i++) {
        struct edge edge = list->edges[i];

        if (row_of != NULL) {
            edge.source = row_of[edge.source];
            edge.target = row_of[edge.target];
        }
        CHECK(edge.source < graph->vertex_count && edge.target < graph->vertex_count);
        if (edge.source == edge.target) {
            settle_loop(&graph->summary, edge);
            continue;
        }
        if (!graph->directed && edge.source > edge.target) {
            edge = (struct edge){edge.target, edge.source, edge.weight};
        }
        list->edges[kept++] = edge;
        sorted = sorted && before <= key_of(edge);
        before = key_of(edge);
    }
    list->count = kept;
    return sorted;
}

/* Fills the rows from sorted edges and keeps the shortest of parallel edges. The weights are
 * written into the first half of the array of edges, which becomes the graph's array of weights; a
 * weight overwrites only edges that have already been read. */
static void fill_rows(struct edge_buffer *list, struct graph *graph)
{
    struct graph_summary *summary = &graph->summary;
    double *weight = (double *)(void *)list->edges;
    uint64_t last_key = 0; /* 0: no edge yet; a kept edge is not a loop, so its key is above 0 */
    uint64_t kept = 0;
    uint32_t row = 0;

    for (uint64_t i = 0; i < list->count; i++) {
        const struct edge edge = list->edges[i];
        const uint64_t key = key_of(edge);

        if (key != last_key) {
            while (row < edge.source) {
                graph->row_offset[++row] = kept;
            }
            graph->target[kept] = edge.target;
            memcpy(&weight[kept++], &edge.weight, sizeof(*weight));
            last_key = key;
            continue;
        }
        summary->parallel_merged++;
        summary->parallel_differing += edge.weight != weight[kept - 1];
        if (edge.weight < weight[kept - 1]) {
            memcpy(&weight[kept - 1], &edge.weight, sizeof(*weight));
        }
    }
    while (row < graph->vertex_count) {
        graph->row_offset[++row] = kept;
    }
    graph->edge_count = kept;
    graph->weight_type = WEIGHT_REAL;
    graph->weight_f8 = weight;
    list->edges = NULL;
}

bool graph_rows_fit_integer(double weight)
{
    return weight >= INT32_MIN && weight <= INT32_MAX && weight == (double)(int32_t)weight;
}

enum status graph_rows_narrow(struct graph *graph)
{
    const uint64_t count = graph->edge_count;
    double *wide = graph->weight_f8;
    bool is_integer = true;

    for (uint64_t edge = 0; edge < count && is_integer; edge++) {
        is_integer = graph_rows_fit_integer(wide[edge]);
    }
    if (is_integer) {
        int32_t *narrow = (int32_t *)(void *)wide;

        for (uint64_t edge = 0; edge < count; edge++) {
            const int32_t weight = (int32_t)wide[edge];

            memcpy(&narrow[edge], &weight, sizeof(weight));
        }
        graph->weight_type = WEIGHT_INTEGER;
        graph->weight_i4 = narrow;
        graph->weight_f8 = NULL;
    }
    /* Shrinks the array. One extra element keeps the pointer of an empty array valid. */
    return is_integer ? edge_array_resize(&graph->weight_i4, count + 1, sizeof(int32_t))
                      : edge_array_resize(&graph->weight_f8, count + 1, sizeof(double));
}

/* Computes the range of the weights, their number of decimals, and a bound on distances: the sum,
 * over all vertices, of the largest |weight| of an edge (in a directed graph, an outgoing edge).
 * Only undirected graphs need an array for it. */
static enum status note_weights(struct graph *graph)
{
    const bool real = graph->weight_type == WEIGHT_REAL;
    double *largest = calloc(graph->directed ? 1 : (size_t)graph->vertex_count + 1, sizeof(double));
    struct graph_summary *summary = &graph->summary;
    double least = graph->edge_count > 0 ? INFINITY : 0;
    double most = graph->edge_count > 0 ? -INFINITY : 0;
    double bound = 0;
    uint32_t decimals = 0;

    if (largest == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        double row_size = graph->directed ? 0 : largest[row];

        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const double weight = real ? graph->weight_f8[edge] : graph->weight_i4[edge];
            const double size = fabs(weight);

            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
            row_size = size > row_size ? size : row_size;
            if (!graph->directed && size > largest[graph->target[edge]]) {
                largest[graph->target[edge]] = size;
            }
            if (real && decimals != NO_DECIMALS && (decimals > 0 || weight != trunc(weight))) {
                decimals = decimals_count(weight, decimals);
            }
        }
        bound += row_size; /* no later row has an edge to this one */
    }
    summary->min_weight = least;
    summary->max_weight = most;
    summary->decimals = decimals;
    summary->negative = summary->negative_loop != NO_VERTEX || least < 0;
    summary->distance_bound = bound;
    free(largest);
    return STATUS_OK;
}

/* Computes the bound and the components from the scaled integers. Weights are treated as decimals
 * only if every sum of scaled weights is an integer that a double represents exactly. */
static enum status summarize_decimals(struct graph *graph, double known_bound)
{
    struct graph_summary *summary = &graph->summary;
    struct graph *scaled = NULL;
    summary->distance_bound = known_bound;
    STATUS_TRY(graph_scale(graph, summary->decimals, &scaled));
    const enum status status = graph_rows_summarize(scaled);
    if (status == STATUS_OK) {
        summary->components = scaled->summary.components;
        summary->distance_bound =
            decimals_divide(scaled->summary.distance_bound, summary->decimals);
        if (scaled->summary.distance_bound >= DECIMALS_LIMIT) {
            summary->decimals = NO_DECIMALS;
        }
    }
    graph_destroy_copy(scaled);
    return status;
}

enum status graph_rows_summarize(struct graph *graph)
{
    const double known_bound = graph->summary.distance_bound;
    double *bound = &graph->summary.distance_bound;

    STATUS_TRY(note_weights(graph));
    if (graph->summary.decimals != 0 && graph->summary.decimals != NO_DECIMALS) {
        return summarize_decimals(graph, known_bound);
    }
    if (known_bound > 0 && known_bound < *bound && *bound >= GRAPH_BOUND_I4 &&
        graph->summary.max_weight < GRAPH_BOUND_I4) {
        *bound = known_bound;
    }
    graph_tighten_bound(graph);
    return graph->summary.components == 0 ? graph_count_components(graph) : STATUS_OK;
}

static enum status build_rows(struct edge_buffer *edges, const uint32_t *row_of,
                              struct graph *graph)
{
    graph->row_offset = calloc((size_t)graph->vertex_count + 1, sizeof(*graph->row_offset));
    if (graph->row_offset == NULL) {
        return STATUS_NO_MEMORY;
    }
    STATUS_TRY(normalise_edges(edges, row_of, graph)
                   ? STATUS_OK
                   : edge_sort(edges->edges, edges->count, graph->vertex_count));
    STATUS_TRY(edge_array_resize(&graph->target, edges->count + 1, sizeof(*graph->target)));
    if (edges->edges == NULL) {
        STATUS_TRY(edge_array_resize(&edges->edges, 1, sizeof(*edges->edges)));
    }
    fill_rows(edges, graph);
    STATUS_TRY(graph_rows_narrow(graph));
    STATUS_TRY(edge_array_resize(&graph->target, graph->edge_count + 1, sizeof(*graph->target)));
    return graph_rows_summarize(graph);
}

enum status graph_rows_build(struct edge_buffer *edges, const uint32_t *row_of, struct graph *graph)
{
    const enum status status = build_rows(edges, row_of, graph);

    free(edges->edges);
    *edges = (struct edge_buffer){0};
    return status;
}
