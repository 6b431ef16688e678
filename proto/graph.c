#include "proto/graph.h"

#include "proto/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integer distances below this bound are exact in f8, because a double represents every smaller
 * integer exactly. */
#define BOUND_F8 9007199254740992.0 /* 2^53 */

void graph_destroy(struct graph *graph)
{
    if (graph == NULL) {
        return;
    }
    free(graph->row_offset);
    free(graph->target);
    free(graph->weight_i4);
    free(graph->weight_f8);
    vertex_names_destroy(graph->names);
    free(graph);
}

double graph_weight(const struct graph *graph, uint64_t edge)
{
    CHECK(edge < graph->edge_count);
    return graph->weight_i4 != NULL ? graph->weight_i4[edge] : graph->weight_f8[edge];
}

uint64_t graph_find_edge(const struct graph *graph, uint32_t source, uint32_t target)
{
    uint64_t begin = graph->row_offset[source];
    uint64_t end = graph->row_offset[source + 1];
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (graph->target[middle] == target) {
            return middle;
        }
        if (graph->target[middle] < target) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return NO_EDGE;
}

bool graph_has_reverse(const struct graph *graph)
{
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        for (uint64_t edge = graph->row_offset[vertex]; edge < graph->row_offset[vertex + 1];
             edge++) {
            const uint32_t target = graph->target[edge];
            if (target > vertex && graph_find_edge(graph, target, vertex) != NO_EDGE) {
                return true;
            }
        }
    }
    return false;
}

static enum status refuse_bound(const struct graph *graph, enum kind kind, double limit,
                                const char *hint, struct problem *reterr)
{
    return problem_refuse_limit(
        reterr, STATUS_WEIGHT_RANGE, limit, graph->summary.distance_bound, hint,
        limit < (double)FLT_MAX ? "A distance may reach %s, but kind %s is exact only below %s."
                                : "A distance may reach %s, but kind %s holds values up to %s.",
        number_text(graph->summary.distance_bound).text, kind_name(kind), number_text(limit).text);
}

/* Checks that every distance is correct in this kind. u2 is checked like i4, in which it is solved;
 * the conversion checks each distance. */
static enum status check_kind(const struct graph *graph, enum kind kind, struct problem *reterr)
{
    const struct graph_summary *summary = &graph->summary;
    const double largest_weight = fmax(fabs(summary->min_weight), fabs(summary->max_weight));

    if (kind == KIND_F4 && fmax(summary->distance_bound, largest_weight) > (double)FLT_MAX) {
        return refuse_bound(graph, kind, (double)FLT_MAX, "Use kind=f8.", reterr);
    }
    if (kind_is_float(kind)) {
        return isfinite(summary->distance_bound)
                   ? STATUS_OK
                   : refuse_bound(graph, kind, DBL_MAX, "Scale the weights down.", reterr);
    }
    if (kind == KIND_U2 && summary->negative) {
        return problem_refuse(reterr, STATUS_WEIGHT_RANGE, "Use kind=i4.",
                              "The graph has negative weights, which kind u2 cannot hold.");
    }
    if (summary->decimals != 0) {
        return problem_refuse(reterr, STATUS_WEIGHT_RANGE, "Use kind=f8.",
                              "The graph has decimal weights, which kind %s cannot hold.",
                              kind_name(kind));
    }
    return summary->distance_bound < GRAPH_BOUND_I4
               ? STATUS_OK
               : refuse_bound(graph, kind, GRAPH_BOUND_I4, "Use kind=f8.", reterr);
}

enum status graph_choose_kind(const struct graph *graph, enum kind requested, enum kind *ret_kind,
                              struct problem *reterr)
{
    const double bound = graph->summary.distance_bound;
    enum kind kind = requested;

    if (requested == KIND_AUTO && graph->summary.decimals != 0) {
        kind = KIND_F8;
    } else if (requested == KIND_AUTO && bound >= BOUND_F8) {
        return refuse_bound(graph, KIND_F8, BOUND_F8,
                            "Scale the weights down, mark missing edges with no_edge=, or use "
                            "kind=f8, which rounds distances.",
                            reterr);
    } else if (requested == KIND_AUTO) {
        kind = bound < GRAPH_BOUND_I4 ? KIND_I4 : KIND_F8;
    }
    STATUS_TRY(check_kind(graph, kind, reterr));
    *ret_kind = kind;
    return STATUS_OK;
}

struct scaling graph_scaling(const struct graph_summary *summary, enum kind kind)
{
    const uint32_t decimals = summary->decimals;
    if (kind != KIND_F8 || decimals == 0 || decimals == NO_DECIMALS) {
        return (struct scaling){kind, 0};
    }
    const double bound = decimals_multiply(summary->distance_bound, decimals);
    return (struct scaling){bound < GRAPH_BOUND_I4 ? KIND_I4 : KIND_F8, decimals};
}

uint32_t graph_cost(const struct graph_summary *summary, enum kind kind)
{
    const struct scaling scaling = graph_scaling(summary, kind);
    return scaling.decimals > 0 && scaling.kind == KIND_I4 ? COST_DECIMALS : (uint32_t)kind;
}

struct scaling_text graph_scaling_text(struct scaling scaling)
{
    struct scaling_text text;
    snprintf(text.text, sizeof(text.text), scaling.decimals > 0 ? "%s x %s" : "%s",
             kind_name(scaling.kind), number_text(decimals_divide(1, scaling.decimals)).text);
    return text;
}

uint32_t graph_digits(const struct graph_summary *summary)
{
    uint32_t digits = NUMBER_DIGITS;
    if (summary->decimals != NO_DECIMALS) {
        const double bound = decimals_multiply(summary->distance_bound, summary->decimals);
        while (digits > 1 && bound < pow(10, digits - 1)) {
            digits--;
        }
    }
    return digits;
}

struct graph *graph_create_like(const struct graph *like, enum weight_type weight_type,
                                uint64_t edge_count)
{
    struct graph *graph = malloc(sizeof(*graph));
    const size_t edges = (size_t)edge_count + 1;
    if (graph == NULL) {
        return NULL;
    }
    *graph = *like;
    graph->weight_type = weight_type;
    graph->edge_count = edge_count;
    graph->row_offset = malloc(((size_t)like->vertex_count + 1) * sizeof(*graph->row_offset));
    graph->target = malloc(edges * sizeof(*graph->target));
    graph->weight_i4 =
        weight_type == WEIGHT_INTEGER ? malloc(edges * sizeof(*graph->weight_i4)) : NULL;
    graph->weight_f8 =
        weight_type == WEIGHT_REAL ? malloc(edges * sizeof(*graph->weight_f8)) : NULL;
    if (graph->row_offset == NULL || graph->target == NULL ||
        (graph->weight_i4 == NULL && graph->weight_f8 == NULL)) {
        graph_destroy_copy(graph);
        return NULL;
    }
    return graph;
}

void graph_destroy_copy(struct graph *copy)
{
    if (copy != NULL) {
        copy->names = NULL;
        graph_destroy(copy);
    }
}

enum status graph_scale(const struct graph *graph, uint32_t decimals, struct graph **ret_scaled)
{
    const double largest = fmax(-graph->summary.min_weight, graph->summary.max_weight);
    *ret_scaled = NULL;
    if (decimals == 0) {
        return STATUS_OK;
    }
    const bool is_integer = decimals_multiply(largest, decimals) < GRAPH_BOUND_I4;
    struct graph *scaled =
        graph_create_like(graph, is_integer ? WEIGHT_INTEGER : WEIGHT_REAL, graph->edge_count);
    if (scaled == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct graph_summary *summary = &scaled->summary;
    double *const figures[] = {&summary->min_weight, &summary->max_weight, &summary->distance_bound,
                               &summary->negative_loop_weight};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        *figures[i] = decimals_multiply(*figures[i], decimals);
    }
    summary->decimals = 0;
    memcpy(scaled->row_offset, graph->row_offset,
           ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset));
    memcpy(scaled->target, graph->target, graph->edge_count * sizeof(*graph->target));
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        const double integer = decimals_multiply(graph_weight(graph, edge), decimals);
        if (is_integer) {
            scaled->weight_i4[edge] = (int32_t)integer;
        } else {
            scaled->weight_f8[edge] = integer;
        }
    }
    *ret_scaled = scaled;
    return STATUS_OK;
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Counts components by union-find. Stops when one is left, in most graphs after a few rows. */
enum status graph_count_components(struct graph *graph)
{
    const uint32_t vertex_count = graph->vertex_count;
    uint32_t *parent = malloc(((size_t)vertex_count + 1) * sizeof(*parent));
    uint32_t count = vertex_count;

    if (parent == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t v = 0; v < vertex_count; v++) {
        parent[v] = v;
    }
    for (uint32_t v = 0; v < vertex_count && count > 1; v++) {
        uint32_t a = find_root(parent, v);

        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            const uint32_t b = find_root(parent, graph->target[edge]);

            if (a != b) {
                parent[a > b ? a : b] = a > b ? b : a;
                a = a > b ? b : a;
                count--;
            }
        }
    }
    free(parent);
    graph->summary.components = count;
    return STATUS_OK;
}

/* Returns whether every edge has a reverse edge of the same weight. Rows and targets are visited in
 * ascending order, so the edges of row v to smaller vertices are needed as reverse edges in the
 * order in which the row stores them. next[v] is the next of these edges; when the loop reaches row
 * v, next[v] must be its first edge to a larger vertex. */
static bool is_symmetric(const struct graph *graph, uint64_t *next)
{
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        const uint64_t end = graph->row_offset[vertex + 1];
        for (uint64_t edge = next[vertex]; edge < end; edge++) {
            const uint32_t target = graph->target[edge];
            if (target < vertex || next[target] == graph->row_offset[target + 1]) {
                return false;
            }
            const uint64_t reverse = next[target]++;
            if (graph->target[reverse] != vertex ||
                graph_weight(graph, reverse) != graph_weight(graph, edge)) {
                return false;
            }
        }
    }
    return true;
}

/* Copies each row's edges to larger vertices. first[v]: the first such edge of row v. */
static void copy_larger(const struct graph *graph, const uint64_t *first, struct graph *folded)
{
    uint64_t kept = 0;
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        const size_t count = (size_t)(graph->row_offset[vertex + 1] - first[vertex]);
        folded->row_offset[vertex] = kept;
        memcpy(folded->target + kept, graph->target + first[vertex], count * sizeof(uint32_t));
        if (graph->weight_type == WEIGHT_INTEGER) {
            memcpy(folded->weight_i4 + kept, graph->weight_i4 + first[vertex],
                   count * sizeof(int32_t));
        } else {
            memcpy(folded->weight_f8 + kept, graph->weight_f8 + first[vertex],
                   count * sizeof(double));
        }
        kept += count;
    }
    folded->row_offset[graph->vertex_count] = kept;
}

/* Returns a copy of the offsets of the rows, or NULL when out of memory. */
static uint64_t *copy_offsets(const struct graph *graph)
{
    const size_t size = ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset);
    uint64_t *offsets = malloc(size);
    if (offsets != NULL) {
        memcpy(offsets, graph->row_offset, size);
    }
    return offsets;
}

bool graph_is_symmetric(const struct graph *graph)
{
    uint64_t *next = copy_offsets(graph);
    const bool found = next != NULL && is_symmetric(graph, next);
    free(next);
    return found;
}

enum status graph_fold(const struct graph *graph, struct graph **ret_folded)
{
    *ret_folded = NULL;
    if (!graph->directed || graph->edge_count == 0 || graph->edge_count % 2 != 0 ||
        graph->summary.negative || graph->summary.negative_loop != NO_VERTEX) {
        return STATUS_OK;
    }
    uint64_t *next = copy_offsets(graph);
    if (next == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    if (is_symmetric(graph, next)) {
        *ret_folded = graph_create_like(graph, graph->weight_type, graph->edge_count / 2);
        status = *ret_folded != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (*ret_folded != NULL) {
        (*ret_folded)->directed = false;
        copy_larger(graph, next, *ret_folded);
    }
    free(next);
    return status;
}
