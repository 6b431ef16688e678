#include "proto/graph_rows.h"

#include "proto/check.h"
#include "proto/edge_array.h"
#include "proto/real_edge_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loops over all edges below are written once, for either type of weight, and compiled for
 * each. */
#define FOR_EACH_TYPE inline __attribute__((always_inline))

/* An edge on its way, its ends as one number, by which rows are in order. */
struct edge {
    uint64_t key;
    int64_t integer; /* its weight */
    double decimal;  /* or this, when real */
};

static FOR_EACH_TYPE struct edge edge_at(const struct edge_list *list, uint64_t index, bool real)
{
    if (real) {
        const struct edge_f8 *edge = (const struct edge_f8 *)list->edges + index;

        return (struct edge){(uint64_t)edge->source << 32 | edge->target, 0, edge->weight};
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)list->edges + index;

    return (struct edge){(uint64_t)edge->source << 32 | edge->target, edge->weight, 0};
}

static FOR_EACH_TYPE uint32_t source_of(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static FOR_EACH_TYPE uint32_t target_of(uint64_t key)
{
    return (uint32_t)key;
}

/* Final rows, smaller end first when undirected. */
static FOR_EACH_TYPE uint64_t final_key(const struct graph *graph, const uint32_t *row_of,
                                        uint64_t key)
{
    uint32_t source = row_of == NULL ? source_of(key) : row_of[source_of(key)];
    uint32_t target = row_of == NULL ? target_of(key) : row_of[target_of(key)];

    CHECK(source < graph->vertex_count && target < graph->vertex_count);
    return !graph->directed && source > target ? (uint64_t)target << 32 | source
                                               : (uint64_t)source << 32 | target;
}

/* ---- Loops leave ---- */

static void note_negative_loop(struct graph_summary *summary, uint32_t vertex, double weight)
{
    summary->negative = true;
    if (vertex > summary->negative_loop ||
        (vertex == summary->negative_loop && weight >= summary->negative_loop_weight)) {
        return;
    }
    summary->negative_loop = vertex;
    summary->negative_loop_weight = weight;
}

static FOR_EACH_TYPE void settle_loop(struct graph_summary *summary, struct edge loop, bool real)
{
    const double weight = real ? loop.decimal : (double)loop.integer;

    if (weight < 0) {
        note_negative_loop(summary, source_of(loop.key), weight);
    } else {
        summary->loops_dropped++;
    }
}

static FOR_EACH_TYPE bool is_loop(uint64_t key)
{
    return source_of(key) == target_of(key);
}

static FOR_EACH_TYPE void put_edge(struct edge_list *list, uint64_t index, struct edge edge,
                                   bool real)
{
    if (real) {
        ((struct edge_f8 *)list->edges)[index] =
            (struct edge_f8){source_of(edge.key), target_of(edge.key), edge.decimal};
    } else {
        ((struct edge_i4 *)list->edges)[index] =
            (struct edge_i4){source_of(edge.key), target_of(edge.key), (int32_t)edge.integer};
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
        struct edge edge = edge_at(list, i, real);

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

/* ---- Rows ---- */

/* Where the rows have been filled up to, and the weights so far: integers, or decimals when real.
 */
struct filling {
    uint64_t kept;
    uint32_t row;
    int64_t largest; /* |weight| of the row */
    int64_t least;
    int64_t most;
    double largest_decimal;
    double least_decimal;
    double most_decimal;
    double bound; /* the sum of the largest of the rows before */
    bool integral;
};

static FOR_EACH_TYPE void end_row(struct filling *filling, struct graph *graph, bool real)
{
    filling->bound += real ? filling->largest_decimal : (double)filling->largest;
    filling->largest = 0;
    filling->largest_decimal = 0;
    graph->row_offset[++filling->row] = filling->kept;
}

static FOR_EACH_TYPE void note_integer(struct filling *filling, int64_t weight)
{
    const int64_t size = weight < 0 ? -weight : weight;

    filling->largest = size > filling->largest ? size : filling->largest;
    filling->least = weight < filling->least ? weight : filling->least;
    filling->most = weight > filling->most ? weight : filling->most;
}

static FOR_EACH_TYPE void note_decimal(struct filling *filling, double weight)
{
    const double size = fabs(weight);

    filling->largest_decimal = size > filling->largest_decimal ? size : filling->largest_decimal;
    filling->least_decimal = weight < filling->least_decimal ? weight : filling->least_decimal;
    filling->most_decimal = weight > filling->most_decimal ? weight : filling->most_decimal;
    filling->integral = filling->integral && weight == trunc(weight);
}

static FOR_EACH_TYPE void keep_edge(struct filling *filling, struct graph *graph, struct edge edge,
                                    bool real)
{
    while (filling->row < source_of(edge.key)) {
        end_row(filling, graph, real);
    }
    graph->target[filling->kept] = target_of(edge.key);
    if (real) {
        memcpy(&graph->weight_f8[filling->kept], &edge.decimal, sizeof edge.decimal);
        note_decimal(filling, edge.decimal);
    } else {
        graph->weight_i4[filling->kept] = (int32_t)edge.integer;
        note_integer(filling, edge.integer);
    }
    filling->kept++;
}

static FOR_EACH_TYPE void end_filling(struct filling *filling, struct graph *graph, bool real)
{
    struct graph_summary *summary = &graph->summary;

    while (filling->row < graph->vertex_count) {
        end_row(filling, graph, real);
    }
    graph->edge_count = filling->kept;
    summary->distance_bound = filling->bound;
    summary->integral = filling->integral;
    if (filling->kept > 0) {
        summary->min_weight = real ? filling->least_decimal : (double)filling->least;
        summary->max_weight = real ? filling->most_decimal : (double)filling->most;
        summary->negative = summary->negative || summary->min_weight < 0;
    }
}

/* False as soon as an edge is out of order; what has been filled by then is of no use. Parallel
 * edges are neighbours: the shortest stays. Decimals go into the first half of the memory of the
 * edges themselves, whose ends have left by then: each is moved to where an edge before it, or its
 * own ends, were. */
static FOR_EACH_TYPE bool fill(const struct edge_list *list, const uint32_t *row_of,
                               struct graph *graph, bool real)
{
    struct filling filling = {.least = INT64_MAX,
                              .most = INT64_MIN,
                              .least_decimal = INFINITY,
                              .most_decimal = -INFINITY,
                              .integral = true};
    struct edge last = {0};
    bool has_last = false;

    for (uint64_t i = 0; i < list->count; i++) {
        struct edge edge = edge_at(list, i, real);

        edge.key = final_key(graph, row_of, edge.key);
        if (is_loop(edge.key)) {
            settle_loop(&graph->summary, edge, real);
        } else if (!has_last) {
            last = edge;
            has_last = true;
        } else if (edge.key > last.key) {
            keep_edge(&filling, graph, last, real);
            last = edge;
        } else if (edge.key == last.key) {
            graph->summary.parallel_merged++;
            last.integer = edge.integer < last.integer ? edge.integer : last.integer;
            last.decimal = edge.decimal < last.decimal ? edge.decimal : last.decimal;
        } else {
            return false;
        }
    }
    if (has_last) {
        keep_edge(&filling, graph, last, real);
    }
    end_filling(&filling, graph, real);
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

enum status graph_rows_build(struct edge_list *edges, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_NO_MEMORY;

    graph->summary.edges_read = edges->count;
    graph->summary.negative_loop = NO_VERTEX;
    graph->row_offset = calloc((size_t)graph->vertex_count + 1, sizeof *graph->row_offset);
    if (graph->row_offset != NULL) {
        status =
            edges->real ? fill_reals(edges, row_of, graph) : fill_integers(edges, row_of, graph);
    }
    free(edges->edges);
    *edges = (struct edge_list){0};
    if (status == STATUS_OK && !trim(graph)) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK && !graph->directed) {
        status = bound_undirected(graph);
    }
    return status == STATUS_OK ? graph_count_components(graph) : status;
}
