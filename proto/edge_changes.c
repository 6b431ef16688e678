#include "proto/edge_changes.h"

#include "proto/read/graph_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void edge_changes_finish(struct edge_changes *changes)
{
    free(changes->list);
    free(changes->weights);
    changes->list = NULL; /* the digest is kept to recognize a repeated request */
    changes->weights = NULL;
}

static uint64_t key_of(const struct edge_change *change)
{
    return (uint64_t)change->source << 32 | change->target;
}

static int compare_changes(const void *left, const void *right)
{
    const struct edge_change *a = left;
    const struct edge_change *b = right;
    if (key_of(a) != key_of(b)) {
        return key_of(a) < key_of(b) ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

/* Sorts the list by source and target. In an undirected graph the smaller endpoint becomes the
 * source. Keeps the last of several changes to an edge, and drops self-loops, as an upload does. */
static enum status sort_list(struct edge_changes *changes, const struct graph *graph,
                             uint64_t *ret_loops, struct problem *reterr)
{
    size_t kept = 0;
    size_t loops = 0;
    for (size_t i = 0; i < changes->count; i++) {
        struct edge_change *change = &changes->list[i];
        if (change->source >= graph->vertex_count || change->target >= graph->vertex_count) {
            return problem_set(reterr, STATUS_PRECONDITION_FAILED,
                               "The name now refers to another graph, which has other vertices.");
        }
        if (change->source == change->target && change->weight < 0) {
            return problem_refuse(
                reterr, STATUS_BAD_GRAPH,
                "Give an edge from a vertex to itself a weight of 0 or more.",
                "Change %zu, counted from 1, gives a self-loop a negative weight.", i + 1);
        }
        loops += change->source == change->target;
        change->place = i;
        if (!graph->directed && change->source > change->target) {
            const uint32_t source = change->source;
            change->source = change->target;
            change->target = source;
        }
    }
    qsort(changes->list, changes->count, sizeof(*changes->list), compare_changes);
    for (size_t i = 0; i < changes->count; i++) {
        const struct edge_change *change = &changes->list[i];
        const bool is_last =
            i + 1 == changes->count || key_of(change) != key_of(&changes->list[i + 1]);
        if (is_last && change->source != change->target) {
            changes->list[kept++] = *change;
        }
    }
    changes->count = kept;
    *ret_loops = loops;
    return STATUS_OK;
}

static enum status make_real(struct graph *graph)
{
    const uint64_t count = graph->edge_count;
    if (graph->weight_type == WEIGHT_REAL) {
        return STATUS_OK;
    }
    STATUS_TRY(edge_array_resize(&graph->weight_f8, count + 1, sizeof(*graph->weight_f8)));
    for (uint64_t edge = 0; edge < count; edge++) {
        graph->weight_f8[edge] = graph->weight_i4[edge];
    }
    free(graph->weight_i4);
    graph->weight_i4 = NULL;
    graph->weight_type = WEIGHT_REAL;
    return STATUS_OK;
}

/* Sets the weight of an edge. Adding 0.0 turns -0 into 0, as when an upload is read. */
static void put_weight(struct graph *graph, uint64_t edge, double weight)
{
    if (graph->weight_type == WEIGHT_INTEGER) {
        graph->weight_i4[edge] = (int32_t)weight;
    } else {
        graph->weight_f8[edge] = weight + 0.0;
    }
}

/* Looks up the edges of the list. Returns whether all of them exist and none is to be removed. */
static bool find_edges(struct edge_changes *changes, const struct graph *graph)
{
    bool keeps_edges = true;
    for (size_t i = 0; i < changes->count && keeps_edges; i++) {
        struct edge_change *change = &changes->list[i];
        change->place = graph_find_edge(graph, change->source, change->target);
        keeps_edges = change->place != NO_EDGE && !isnan(change->weight);
    }
    return keeps_edges;
}

/* Sets the weights of existing edges. Adds the sum of all increases of weights to *raised, or
 * infinity if a weight is negative. */
static enum status set_weights(struct edge_changes *changes, struct graph *graph, double *raised)
{
    struct edge_change *kept = changes->list;
    for (size_t i = 0; i < changes->count; i++) {
        const struct edge_change change = changes->list[i];
        const double before = graph_weight(graph, change.place);
        STATUS_TRY(graph_rows_fit_integer(change.weight) ? STATUS_OK : make_real(graph));
        put_weight(graph, change.place, change.weight);
        *raised += change.weight < 0 ? INFINITY : fmax(change.weight - before, 0);
        if (change.weight != before) {
            *kept++ = change;
        }
    }
    changes->count = (size_t)(kept - changes->list);
    return graph->weight_type == WEIGHT_REAL ? graph_rows_narrow(graph) : STATUS_OK;
}

static enum status replace_weights(const struct edge_changes *changes, struct graph *graph,
                                   struct problem *reterr)
{
    const uint64_t wanted = graph->edge_count * kind_size(changes->kind);
    if (changes->weights_size != wanted) {
        return problem_refuse_limit(
            reterr, STATUS_BAD_GRAPH, (double)wanted, (double)changes->weights_size,
            "Send one weight per edge, in the order of GET .../edges.",
            "The %" PRIu64 " weights of kind %s take %" PRIu64 " bytes, but the body has %zu.",
            graph->edge_count, kind_name(changes->kind), wanted, changes->weights_size);
    }
    STATUS_TRY(kind_is_float(changes->kind) ? make_real(graph) : STATUS_OK);
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        const double weight = kind_element(changes->kind, changes->weights, edge);
        if (!isfinite(weight)) {
            return problem_set(reterr, STATUS_BAD_GRAPH,
                               "Weight %" PRIu64 ", counted from 0, is not a finite number.", edge);
        }
        put_weight(graph, edge, weight);
    }
    return graph->weight_type == WEIGHT_REAL ? graph_rows_narrow(graph) : STATUS_OK;
}

/* Merges the sorted edges of the graph and the sorted changes into one sorted list. */
static void merge_edges(struct edge_changes *changes, const struct graph *graph,
                        struct edge_buffer *edges, uint64_t *ret_absent)
{
    const struct edge_change *change = changes->list;
    const struct edge_change *end = changes->list + changes->count;
    struct edge_change *kept = changes->list;
    *ret_absent = 0;
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        uint64_t edge = graph->row_offset[row];
        const uint64_t stop = graph->row_offset[row + 1];
        while (edge < stop || (change < end && change->source == row)) {
            const bool has_change = change < end && change->source == row;
            const bool is_before =
                edge < stop && (!has_change || graph->target[edge] < change->target);
            if (is_before) {
                edges->edges[edges->count++] =
                    (struct edge){row, graph->target[edge], graph_weight(graph, edge)};
                edge++;
                continue;
            }
            const bool is_there = edge < stop && graph->target[edge] == change->target;
            if (!isnan(change->weight)) {
                edges->edges[edges->count++] =
                    (struct edge){row, change->target, change->weight + 0.0};
            }
            *ret_absent += isnan(change->weight) && !is_there;
            const double before = is_there ? graph_weight(graph, edge) : INFINITY;
            edge += is_there;
            const double after = isnan(change->weight) ? INFINITY : change->weight;
            if (after != before) {
                *kept++ = *change;
            }
            change++;
        }
    }
    changes->count = (size_t)(kept - changes->list);
}

/* Replaces the graph by one with these edges. Their memory is moved, even on failure. */
static enum status build_graph(struct edge_buffer *edges, struct graph **graph)
{
    const struct graph_summary *before = &(*graph)->summary;
    struct graph *changed = calloc(1, sizeof(*changed));
    if (changed == NULL) {
        free(edges->edges);
        return STATUS_NO_MEMORY;
    }
    changed->vertex_count = (*graph)->vertex_count;
    changed->directed = (*graph)->directed;
    changed->summary.negative_loop = before->negative_loop;
    changed->summary.negative_loop_weight = before->negative_loop_weight;
    const enum status status = graph_rows_build(edges, NULL, changed);
    if (status != STATUS_OK) {
        graph_destroy(changed);
        return status;
    }
    changed->names = (*graph)->names;
    (*graph)->names = NULL;
    graph_destroy(*graph);
    *graph = changed;
    return STATUS_OK;
}

static enum status change_edges(struct edge_changes *changes, uint64_t edge_limit,
                                struct graph **graph, uint64_t *ret_absent, struct problem *reterr)
{
    struct edge_buffer edges = {0};
    const uint64_t room = (*graph)->edge_count + changes->count + 1;
    STATUS_TRY(edge_array_resize(&edges.edges, room, sizeof(*edges.edges)));
    merge_edges(changes, *graph, &edges, ret_absent);
    if (edge_limit > 0 && edges.count > edge_limit) {
        free(edges.edges);
        return problem_refuse_limit(reterr, STATUS_TOO_LARGE, (double)edge_limit,
                                    (double)edges.count, NULL,
                                    "The changed graph would have too many edges.");
    }
    return build_graph(&edges, graph);
}

/* Changes weights only. Keeps the components, and raises the bound on distances by the sum of all
 * increases, because a path uses an edge at most once. Only negative weights, or new weights for
 * all edges, need a new bound, which is expensive to compute. */
static enum status change_weights(struct edge_changes *changes, struct graph *graph,
                                  struct problem *reterr)
{
    struct graph_summary *summary = &graph->summary;
    double raised = changes->weights != NULL || summary->negative ? INFINITY : 0;
    STATUS_TRY(changes->weights != NULL ? replace_weights(changes, graph, reterr)
                                        : set_weights(changes, graph, &raised));
    summary->distance_bound = isfinite(raised) ? summary->distance_bound + raised : 0;
    return graph_rows_summarize(graph);
}

enum status edge_changes_apply(struct edge_changes *changes, uint64_t edge_limit,
                               struct graph **graph, uint64_t *ret_absent, struct problem *reterr)
{
    uint64_t loops = 0;
    *ret_absent = 0;
    if (changes->weights == NULL) {
        STATUS_TRY(sort_list(changes, *graph, &loops, reterr));
    }
    STATUS_TRY(changes->weights != NULL || find_edges(changes, *graph)
                   ? change_weights(changes, *graph, reterr)
                   : change_edges(changes, edge_limit, graph, ret_absent, reterr));
    struct graph_summary *summary = &(*graph)->summary;
    summary->edges_read = (*graph)->edge_count + loops;
    summary->loops_dropped = loops;
    summary->parallel_merged = 0;
    summary->parallel_differing = 0;
    return STATUS_OK;
}
