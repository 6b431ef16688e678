#include "proto/read/graph_rows.h"
#include "proto/graph_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loops over all edges below are written once, for either type of weight, and compiled for
 * each. */
#define FOR_EACH_TYPE inline __attribute__((always_inline))

/* An edge on its way, its ends as one number, by which rows are in order. */
struct edge {
    uint64_t key;
    int32_t integer; /* its weight */
    double decimal;  /* or this, when real */
};

static FOR_EACH_TYPE struct edge edge_at(const void *edges, uint64_t index, bool real)
{
    if (real) {
        const struct edge_f8 *edge = (const struct edge_f8 *)edges + index;

        return (struct edge){(uint64_t)edge->source << 32 | edge->target, 0, edge->weight};
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)edges + index;

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

static FOR_EACH_TYPE void settle_loop(struct graph_summary *summary, struct edge loop, bool real)
{
    const double weight = real ? loop.decimal : (double)loop.integer;

    const uint32_t vertex = source_of(loop.key);

    if (weight >= 0) {
        summary->loops_dropped++;
        return;
    }
    if (vertex < summary->negative_loop ||
        (vertex == summary->negative_loop && weight < summary->negative_loop_weight)) {
        summary->negative_loop = vertex;
        summary->negative_loop_weight = weight;
    }
}

static FOR_EACH_TYPE bool is_loop(uint64_t key)
{
    return source_of(key) == target_of(key);
}

/* ---- Rows ---- */

/* The progress of filling rows. */
struct row_filling {
    uint64_t kept;
    uint64_t last; /* key of the edge kept last; 0: none, as no loop is kept */
    uint32_t row;
};

static FOR_EACH_TYPE void put_weight(struct graph *graph, uint64_t place, struct edge edge,
                                     bool real)
{
    if (real) {
        memcpy(&graph->weight_f8[place], &edge.decimal, sizeof(edge.decimal));
    } else {
        graph->weight_i4[place] = edge.integer;
    }
}

/* Edges that go on where the last one was: of the same row, each with a larger target, and no loop.
 * Most are. Returns the index of the first that does not. */
static FOR_EACH_TYPE uint64_t fill_run(struct row_filling *filling, const void *edges, uint64_t i,
                                       uint64_t count, struct graph *graph, bool real)
{
    uint32_t *target = graph->target;
    const uint32_t source = source_of(filling->last);
    uint32_t last = target_of(filling->last);
    uint64_t place = filling->kept;

    for (; i < count; i++, place++) {
        const struct edge edge = edge_at(edges, i, real);
        const uint32_t next = target_of(edge.key);

        if (source_of(edge.key) != source || next <= last || next == source) {
            break;
        }
        target[place] = next;
        put_weight(graph, place, edge, real);
        last = next;
    }
    CHECK(last < graph->vertex_count);
    filling->kept = place;
    filling->last = (uint64_t)source << 32 | last;
    return i;
}

/* Fills the rows from the whole list. False as soon as an edge is out of order: what has been
 * filled by then is of no use. Parallel edges are neighbours: the shortest stays. Integers need
 * room in the graph for all of them; decimals go into the first half of the memory of the edges
 * themselves, whose ends have left by then: each is moved to where an edge before it, or its own
 * ends, were. */
static FOR_EACH_TYPE bool fill_rows(const struct edge_buffer *list, const uint32_t *row_of,
                                    struct graph *graph, bool real)
{
    struct row_filling filling = {0};
    struct graph_summary *summary = &graph->summary;

    for (uint64_t i = 0; i < list->count;) {
        struct edge edge = edge_at(list->edges, i, real);

        edge.key = final_key(graph, row_of, edge.key);
        if (is_loop(edge.key)) {
            settle_loop(summary, edge, real);
        } else if (edge.key > filling.last) {
            while (filling.row < source_of(edge.key)) {
                graph->row_offset[++filling.row] = filling.kept;
            }
            graph->target[filling.kept] = target_of(edge.key);
            put_weight(graph, filling.kept++, edge, real);
            filling.last = edge.key;
            if (row_of == NULL) {
                i = fill_run(&filling, list->edges, i + 1, list->count, graph, real);
                continue;
            }
        } else if (edge.key == filling.last) {
            const uint64_t last = filling.kept - 1;

            summary->parallel_merged++;
            summary->parallel_differing += real ? edge.decimal != graph->weight_f8[last]
                                                : edge.integer != graph->weight_i4[last];
            if (real ? edge.decimal < graph->weight_f8[last]
                     : edge.integer < graph->weight_i4[last]) {
                put_weight(graph, last, edge, real);
            }
        } else {
            return false;
        }
        i++;
    }
    while (filling.row < graph->vertex_count) {
        graph->row_offset[++filling.row] = filling.kept;
    }
    graph->edge_count = filling.kept;
    return true;
}

static FOR_EACH_TYPE void put_edge(struct edge_buffer *list, uint64_t index, struct edge edge,
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
static FOR_EACH_TYPE bool normalise(struct edge_buffer *list, const uint32_t *row_of,
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

/* ---- What the weights say ---- */

/* The sum of the largest |weight| of each row is the bound, where edges are directed. */
static void note_integers(const struct graph *graph, struct graph_summary *summary)
{
    int64_t least = INT32_MAX;
    int64_t most = INT32_MIN;
    uint64_t bound = 0;

    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        int64_t size = 0;

        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const int64_t weight = graph->weight_i4[edge];

            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
            size = weight > size ? weight : -weight > size ? -weight : size;
        }
        bound += (uint64_t)size;
    }
    summary->min_weight = (double)least;
    summary->max_weight = (double)most;
    summary->distance_bound = (double)bound;
    summary->decimals = 0;
}

static void note_decimals(const struct graph *graph, struct graph_summary *summary)
{
    double least = INFINITY;
    double most = -INFINITY;
    double bound = 0;
    uint32_t decimals = 0;

    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        double size = 0;

        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; edge++) {
            const double weight = graph->weight_f8[edge];

            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
            size = weight > size ? weight : -weight > size ? -weight : size;
            if (decimals != NO_DECIMALS && (decimals > 0 || weight != trunc(weight))) {
                decimals = decimals_count(weight, decimals);
            }
        }
        bound += size;
    }
    summary->min_weight = least;
    summary->max_weight = most;
    summary->distance_bound = bound;
    summary->decimals = decimals;
}

static void note_weights(struct graph *graph)
{
    struct graph_summary *summary = &graph->summary;

    if (graph->weight_type == WEIGHT_INTEGER) {
        note_integers(graph, summary);
    } else {
        note_decimals(graph, summary);
    }
    if (graph->edge_count == 0) {
        summary->min_weight = 0;
        summary->max_weight = 0;
    }
    summary->negative = summary->negative_loop != NO_VERTEX || summary->min_weight < 0;
}

/* An undirected edge counts at both of its ends. */
static FOR_EACH_TYPE void find_largest(const struct graph *graph, double *largest, bool real)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        double most = largest[v];

        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            double size = fabs(real ? graph->weight_f8[edge] : graph->weight_i4[edge]);

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
    double *largest = calloc((size_t)graph->vertex_count + 1, sizeof(*largest));

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

static enum status allocate_rows(struct graph *graph, uint64_t count, bool real)
{
    graph->weight_type = real ? WEIGHT_REAL : WEIGHT_INTEGER;
    if (!edge_array_resize(&graph->target, count + 1, sizeof(*graph->target)) ||
        (!real && !edge_array_resize(&graph->weight_i4, count + 1, sizeof(*graph->weight_i4)))) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

/* Many files list their edges in order: then all is done in one go. */
static enum status fill_integers(struct edge_buffer *list, const uint32_t *row_of,
                                 struct graph *graph)
{
    const struct graph_summary before = graph->summary;
    enum status status = allocate_rows(graph, list->count, false);

    if (status != STATUS_OK || fill_rows(list, row_of, graph, false)) {
        return status;
    }
    graph->summary = before;
    free(graph->target);
    graph->target = NULL;
    free(graph->weight_i4);
    graph->weight_i4 = NULL;
    if (!normalise(list, row_of, graph, false)) {
        status = edge_sort(list->edges, false, list->count, graph->vertex_count);
    }
    if (status == STATUS_OK) {
        status = allocate_rows(graph, list->count, false);
    }
    if (status == STATUS_OK) {
        CHECK(fill_rows(list, NULL, graph, false));
    }
    return status;
}

/* In their place, so nothing is tried. */
static enum status fill_reals(struct edge_buffer *list, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_OK;

    if (!normalise(list, row_of, graph, true)) {
        status = edge_sort(list->edges, true, list->count, graph->vertex_count);
    }
    if (status == STATUS_OK) {
        status = allocate_rows(graph, list->count, true);
    }
    if (status == STATUS_OK) {
        graph->weight_f8 = list->edges;
        list->edges = NULL;
        const struct edge_buffer moved = {list->count, true, graph->weight_f8};
        CHECK(fill_rows(&moved, NULL, graph, true));
    }
    return status;
}

/* To their length; what is empty stays a valid pointer. */
static bool trim(struct graph *graph)
{
    const uint64_t count = graph->edge_count + 1;

    return edge_array_resize(&graph->target, count, sizeof(*graph->target)) &&
           (graph->weight_type == WEIGHT_REAL
                ? edge_array_resize(&graph->weight_f8, count, sizeof(*graph->weight_f8))
                : edge_array_resize(&graph->weight_i4, count, sizeof(*graph->weight_i4)));
}

/* Bound and components by the integers that decimals are times a power of ten. A graph is one of
 * such decimals as long as no sum of them leaves what a double tells apart. */
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
    graph_scale_destroy(scaled);
    return status;
}

enum status graph_rows_summarize(struct graph *graph)
{
    const double known_bound = graph->summary.distance_bound;
    double *bound = &graph->summary.distance_bound;
    enum status status = STATUS_OK;

    note_weights(graph);
    if (graph->summary.decimals != 0 && graph->summary.decimals != NO_DECIMALS) {
        return summarize_decimals(graph, known_bound);
    }
    if (!graph->directed) {
        status = bound_undirected(graph);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (known_bound > 0 && known_bound < *bound && *bound >= GRAPH_BOUND_I4 &&
        graph->summary.max_weight < GRAPH_BOUND_I4) {
        *bound = known_bound;
    }
    graph_tighten_bound(graph);
    return graph->summary.components == 0 ? graph_count_components(graph) : STATUS_OK;
}

enum status graph_rows_build(struct edge_buffer *edges, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_NO_MEMORY;

    graph->row_offset = calloc((size_t)graph->vertex_count + 1, sizeof(*graph->row_offset));
    if (graph->row_offset != NULL) {
        status =
            edges->real ? fill_reals(edges, row_of, graph) : fill_integers(edges, row_of, graph);
    }
    free(edges->edges);
    *edges = (struct edge_buffer){0};
    if (status == STATUS_OK && !trim(graph)) {
        status = STATUS_NO_MEMORY;
    }
    return status == STATUS_OK ? graph_rows_summarize(graph) : status;
}
