#include "proto/graph_rows.h"

#include "proto/check.h"
#include "proto/edge_array.h"
#include "proto/real_edge_sort.h"
#include "proto/row_filling.h"

#include <math.h>
#include <stdlib.h>

static FOR_EACH_TYPE void put_edge(struct edge_list *list, uint64_t index, struct edge edge,
                                   bool real)
{
    if (real) {
        ((struct edge_f8 *)list->edges)[index] =
            (struct edge_f8){source_of(edge.key), target_of(edge.key), edge.decimal};
    } else {
        ((struct edge_i4 *)list->edges)[index] =
            (struct edge_i4){source_of(edge.key), target_of(edge.key), edge.integer};
    }
}

/* Final rows in their place. True when the edges are in order then. */
static FOR_EACH_TYPE bool normalise(struct edge_list *list, const uint32_t *row_of,
                                    struct graph *graph, bool real)
{
    uint64_t kept = 0;
    uint64_t before = 0;
    bool sorted = true;

    for (uint64_t i = 0; i < list->count; i++) {
        struct edge edge = edge_at(list->edges, i, real);

        edge.key = final_key(graph, row_of, edge.key);
        if (is_loop(edge.key)) {
            settle_loop(&graph->summary, edge, real);
            continue;
        }
        put_edge(list, kept++, edge, real);
        sorted = sorted && before <= edge.key;
        before = edge.key;
    }
    list->count = kept;
    return sorted;
}

/* False as soon as an edge is out of order; what has been filled by then is of no use. */
static FOR_EACH_TYPE bool fill(const struct edge_list *list, const uint32_t *row_of,
                               struct graph *graph, bool real)
{
    struct row_filling filling = row_filling_begin();

    if (fill_rows(&filling, list->edges, list->count, row_of, graph, real) < list->count) {
        return false;
    }
    end_rows(&filling, graph, real);
    return true;
}

/* ---- An undirected edge counts at both of its ends ---- */

static FOR_EACH_TYPE double stored_weight(const struct graph *graph, uint64_t edge, bool real)
{
    return real ? graph->weight_f8[edge] : graph->weight_i4[edge];
}

static FOR_EACH_TYPE void find_largest(const struct graph *graph, double *largest, bool real)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        double most = largest[v];

        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            double size = fabs(stored_weight(graph, edge, real));

            most = size > most ? size : most;
            if (size > largest[graph->target[edge]]) {
                largest[graph->target[edge]] = size;
            }
        }
        largest[v] = most;
    }
}

static enum status bound_undirected(struct graph *graph)
{
    double *largest = calloc((size_t)graph->vertex_count + 1, sizeof *largest);

    if (largest == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (graph->weight_type == WEIGHT_REAL) {
        find_largest(graph, largest, true);
    } else {
        find_largest(graph, largest, false);
    }
    graph->summary.distance_bound = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        graph->summary.distance_bound += largest[v];
    }
    free(largest);
    return STATUS_OK;
}

/* ---- All together ---- */

static enum status take_rows(struct graph *graph, uint64_t count, bool real)
{
    graph->weight_type = real ? WEIGHT_REAL : WEIGHT_INTEGER;
    if (!edge_array_resize(&graph->target, count + 1, sizeof *graph->target) ||
        (!real && !edge_array_resize(&graph->weight_i4, count + 1, sizeof *graph->weight_i4))) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static void give_back(struct graph *graph)
{
    free(graph->target);
    graph->target = NULL;
    free(graph->weight_i4);
    graph->weight_i4 = NULL;
}

/* Many files list their edges in order: then all is done in one go. */
static enum status fill_at_once(const struct edge_list *list, const uint32_t *row_of,
                                struct graph *graph, bool *ret_filled)
{
    const struct graph_summary before = graph->summary;
    enum status status = take_rows(graph, list->count, false);

    if (status != STATUS_OK) {
        return status;
    }
    *ret_filled = fill(list, row_of, graph, false);
    if (!*ret_filled) {
        graph->summary = before;
        give_back(graph);
    }
    return STATUS_OK;
}

static enum status fill_integers(struct edge_list *list, const uint32_t *row_of,
                                 struct graph *graph)
{
    struct edge_i4 *edges = list->edges;
    bool filled = false;
    enum status status = fill_at_once(list, row_of, graph, &filled);

    if (filled || status != STATUS_OK) {
        return status;
    }
    if (!normalise(list, row_of, graph, false)) {
        status = edge_sort(&edges, list->count, graph->vertex_count);
        list->edges = edges;
    }
    if (status == STATUS_OK) {
        status = take_rows(graph, list->count, false);
    }
    if (status == STATUS_OK) {
        CHECK(fill(list, NULL, graph, false));
    }
    return status;
}

/* In their place, so nothing is tried. */
static enum status fill_reals(struct edge_list *list, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_OK;

    if (!normalise(list, row_of, graph, true)) {
        status = real_edge_sort(list->edges, list->count, graph->vertex_count);
    }
    if (status == STATUS_OK) {
        status = take_rows(graph, list->count, true);
    }
    if (status == STATUS_OK) {
        graph->weight_f8 = list->edges;
        list->edges = NULL;
        const struct edge_list moved = {list->count, true, graph->weight_f8};
        CHECK(fill(&moved, NULL, graph, true));
    }
    return status;
}

/* To their length; what is empty stays a valid pointer. */
static bool trim(struct graph *graph)
{
    const uint64_t count = graph->edge_count + 1;

    return edge_array_resize(&graph->target, count, sizeof *graph->target) &&
           (graph->weight_type == WEIGHT_REAL
                ? edge_array_resize(&graph->weight_f8, count, sizeof *graph->weight_f8)
                : edge_array_resize(&graph->weight_i4, count, sizeof *graph->weight_i4));
}

enum status graph_rows_complete(struct graph *graph)
{
    enum status status = trim(graph) ? STATUS_OK : STATUS_NO_MEMORY;

    if (status == STATUS_OK && !graph->directed) {
        status = bound_undirected(graph);
    }
    return status == STATUS_OK ? graph_count_components(graph) : status;
}

enum status graph_rows_build(struct edge_list *edges, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_NO_MEMORY;

    graph->row_offset = calloc((size_t)graph->vertex_count + 1, sizeof *graph->row_offset);
    if (graph->row_offset != NULL) {
        status =
            edges->real ? fill_reals(edges, row_of, graph) : fill_integers(edges, row_of, graph);
    }
    free(edges->edges);
    *edges = (struct edge_list){0};
    return status == STATUS_OK ? graph_rows_complete(graph) : status;
}
