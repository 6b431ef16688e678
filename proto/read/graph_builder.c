#include "proto/read/graph_builder.h"

#include "proto/read/graph_rows.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_CAPACITY 1024
/* Bytes per vertex in graph_tighten_bound: two arrays of offsets, two of lengths, and a queue. */
#define VERTEX_BYTES 36

struct graph_builder graph_builder_init(const struct graph_options *options)
{
    return (struct graph_builder){
        .options = options, .vertex_count = options->has_vertex_count ? options->vertex_count : 0};
}

void graph_builder_clear(struct graph_builder *builder)
{
    free(builder->list.edges);
    *builder = (struct graph_builder){0};
}

/* Checks the disk space for the matrix. The rest of the result is checked later. */
static enum status check_room(const struct graph_builder *builder, uint64_t vertex_count,
                              struct problem *reterr)
{
    const struct graph_options *options = builder->options;
    const double bytes =
        (double)vertex_count * (double)vertex_count * (double)options->element_bytes;

    if (vertex_count > options->matrix_vertices || bytes <= (double)options->room_bytes) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_DISK_FULL, (double)options->room_bytes, bytes,
        "Delete graphs, or retry when more disk space is free.",
        "There is not enough disk space for the result of a graph with %llu vertices.",
        (unsigned long long)vertex_count);
}

enum status graph_builder_admit(struct graph_builder *builder, uint64_t vertex_count,
                                struct problem *reterr)
{
    const char *reason = builder->options->vertex_limit_reason;
    uint64_t limit = builder->options->vertex_limit;

    if (limit == 0 || limit > GRAPH_VERTEX_LIMIT) {
        limit = GRAPH_VERTEX_LIMIT;
        reason = "";
    }
    if (vertex_count <= limit) {
        builder->vertex_count = vertex_count;
        return check_room(builder, vertex_count, reterr);
    }
    problem_refuse_limit(reterr, STATUS_TOO_LARGE, (double)limit, (double)vertex_count, NULL,
                         "The graph has %llu vertices, but at most %llu are accepted.",
                         (unsigned long long)vertex_count, (unsigned long long)limit);
    problem_hint(reterr,
                 "%s%s%sSplit the graph into its components or regions, or use a device with more "
                 "memory.",
                 reason[0] != '\0' ? "The limit comes from " : "", reason,
                 reason[0] != '\0' ? ". " : "");
    return STATUS_TOO_LARGE;
}

enum status graph_builder_admit_edges(const struct graph_builder *builder, uint64_t edge_count,
                                      struct problem *reterr)
{
    const uint64_t limit = builder->options->edge_limit;

    if (limit == 0 || edge_count <= limit) {
        return STATUS_OK;
    }
    return problem_refuse_limit(reterr, STATUS_TOO_LARGE, (double)limit, (double)edge_count,
                                "Merge parallel edges, or upload a smaller graph.",
                                "The graph has %llu edges or more, but at most %llu are accepted.",
                                (unsigned long long)edge_count, (unsigned long long)limit);
}

static enum status make_room(struct graph_builder *builder, struct problem *reterr)
{
    uint64_t capacity = builder->capacity + builder->capacity / 2;

    STATUS_TRY(graph_builder_admit_edges(builder, builder->list.count + 1, reterr));
    capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;
    if (builder->options->edge_limit > 0 && capacity > builder->options->edge_limit) {
        capacity = builder->options->edge_limit;
    }
    STATUS_TRY(edge_array_resize(&builder->list.edges, capacity, sizeof(*builder->list.edges)));
    builder->capacity = capacity;
    return STATUS_OK;
}

enum status graph_builder_add(struct graph_builder *builder, uint32_t source, uint32_t target,
                              double weight, struct problem *reterr)
{
    CHECK(isfinite(weight));
    if (builder->list.count == builder->capacity) {
        STATUS_TRY(make_room(builder, reterr));
    }
    /* Adding 0.0 turns a weight of -0 into 0. */
    builder->list.edges[builder->list.count++] = (struct edge){source, target, weight + 0.0};
    return STATUS_OK;
}

uint64_t graph_builder_memory(const struct graph_builder *builder)
{
    return builder->list.count * GRAPH_BUILDER_EDGE_BYTES + builder->vertex_count * VERTEX_BYTES;
}

enum status graph_builder_finish(struct graph_builder *builder, struct vertex_names **take_names,
                                 const uint32_t *row_of, bool directed, struct graph **ret_graph,
                                 struct problem *reterr)
{
    STATUS_TRY(graph_builder_admit(builder, vertex_names_count(*take_names), reterr));
    struct graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL) {
        return STATUS_NO_MEMORY;
    }
    graph->vertex_count = vertex_names_count(*take_names);
    graph->directed = builder->options->has_directed ? builder->options->directed : directed;
    graph->summary.edges_read = builder->list.count;
    graph->summary.negative_loop = NO_VERTEX;
    const enum status status = graph_rows_build(&builder->list, row_of, graph);
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return status;
    }
    graph->names = *take_names;
    *take_names = NULL;
    *ret_graph = graph;
    return STATUS_OK;
}
