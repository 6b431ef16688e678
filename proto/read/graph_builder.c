#include "proto/read/graph_builder.h"
#include "proto/read/graph_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024
/* A list of more than MANY edges usually becomes a lot longer: reserve a large array at once. Its
 * pages are untouched until they are needed and can be huge pages, which existing small pages do
 * not become. */
#define MANY (1u << 19)
#define ROOM_FOR_MANY (3u << 20)
/* Integers beyond this are not all doubles. */
#define EXACT_LIMIT (1ll << 53)
/* Begins of the rows, by source and by target, two lengths and a queue: graph_tighten_bound. */
#define VERTEX_BYTES 36

struct graph_builder {
    struct graph_options options;
    struct edge_buffer list; /* real from the first weight on that is no int32 */
    uint64_t capacity;
    uint64_t vertex_count; /* admitted */
};

enum status graph_builder_create(const struct graph_options *options,
                                 struct graph_builder **ret_builder)
{
    struct graph_builder *builder = calloc(1, sizeof(*builder));

    if (builder == NULL) {
        return STATUS_NO_MEMORY;
    }
    builder->options = *options;
    builder->vertex_count = options->has_vertex_count ? options->vertex_count : 0;
    *ret_builder = builder;
    return STATUS_OK;
}

void graph_builder_destroy(struct graph_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    free(builder->list.edges);
    free(builder);
}

static enum status set_capacity(struct graph_builder *builder, uint64_t capacity)
{
    const size_t size = builder->list.real ? sizeof(struct edge_f8) : sizeof(struct edge_i4);

    if (!edge_array_resize(&builder->list.edges, capacity, size)) {
        return STATUS_NO_MEMORY;
    }
    builder->capacity = capacity;
    return STATUS_OK;
}

/* The matrix alone: what lies behind it is counted when the graph is known. */
static enum status check_room(const struct graph_builder *builder, uint64_t vertex_count,
                              struct problem *reterr)
{
    const struct graph_options *options = &builder->options;
    const double bytes =
        (double)vertex_count * (double)vertex_count * (double)options->element_bytes;

    if (vertex_count > options->matrix_vertices || bytes <= (double)options->room_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_DISK_FULL,
                "There is no room on the disk for the result of %llu vertices.",
                (unsigned long long)vertex_count);
    problem_limit(reterr, (double)options->room_bytes, bytes);
    problem_hint(reterr, "Delete graphs, or ask again when there is room.");
    return STATUS_DISK_FULL;
}

enum status graph_builder_admit(struct graph_builder *builder, uint64_t vertex_count,
                                struct problem *reterr)
{
    const char *reason = builder->options.vertex_limit_reason;
    uint64_t limit = builder->options.vertex_limit;

    if (limit == 0 || limit > GRAPH_VERTEX_LIMIT) {
        limit = GRAPH_VERTEX_LIMIT;
        reason = "";
    }
    if (vertex_count <= limit) {
        builder->vertex_count = vertex_count;
        return check_room(builder, vertex_count, reterr);
    }
    problem_set(reterr, STATUS_TOO_LARGE,
                "The graph has %llu vertices, but at most %llu are accepted.",
                (unsigned long long)vertex_count, (unsigned long long)limit);
    problem_limit(reterr, (double)limit, (double)vertex_count);
    problem_hint(reterr,
                 "%s%s%sSplit the graph into its components or regions, or use a device with more "
                 "memory.",
                 reason[0] != '\0' ? "The limit comes from " : "", reason,
                 reason[0] != '\0' ? ". " : "");
    return STATUS_TOO_LARGE;
}

/* For one more edge. */
static enum status make_room(struct graph_builder *builder)
{
    const uint64_t limit = builder->options.edge_limit;

    if (limit > 0 && builder->list.count >= limit) {
        return STATUS_TOO_LARGE;
    }
    if (builder->list.count < builder->capacity) {
        return STATUS_OK;
    }
    if (builder->capacity < FIRST_CAPACITY) {
        return set_capacity(builder, FIRST_CAPACITY);
    }
    if (builder->capacity >= MANY && builder->capacity < ROOM_FOR_MANY) {
        return set_capacity(builder, ROOM_FOR_MANY);
    }
    return set_capacity(builder, builder->capacity + builder->capacity / 2);
}

/* In their place, the last one first, so that none is written over before it was read. */
static enum status become_real(struct graph_builder *builder)
{
    char *edges;

    if (!edge_array_resize(&builder->list.edges, builder->capacity, sizeof(struct edge_f8))) {
        return STATUS_NO_MEMORY;
    }
    edges = builder->list.edges;
    for (uint64_t i = builder->list.count; i-- > 0;) {
        struct edge_i4 integer;
        struct edge_f8 real;

        memcpy(&integer, edges + i * sizeof(integer), sizeof(integer));
        real = (struct edge_f8){integer.source, integer.target, integer.weight};
        memcpy(edges + i * sizeof(real), &real, sizeof(real));
    }
    builder->list.real = true;
    return STATUS_OK;
}

static enum status put_real(struct graph_builder *builder, uint32_t source, uint32_t target,
                            double weight)
{
    STATUS_TRY(make_room(builder));
    if (!builder->list.real) {
        STATUS_TRY(become_real(builder));
    }
    ((struct edge_f8 *)builder->list.edges)[builder->list.count++] =
        (struct edge_f8){source, target, weight};
    return STATUS_OK;
}

enum status graph_builder_add_integer(struct graph_builder *builder, uint32_t source,
                                      uint32_t target, int64_t weight)
{
    if (weight < -EXACT_LIMIT || weight > EXACT_LIMIT) {
        return STATUS_WEIGHT_RANGE;
    }
    if (builder->list.real || weight < INT32_MIN || weight > INT32_MAX) {
        return put_real(builder, source, target, (double)weight);
    }
    STATUS_TRY(make_room(builder));
    ((struct edge_i4 *)builder->list.edges)[builder->list.count++] =
        (struct edge_i4){source, target, (int32_t)weight};
    return STATUS_OK;
}

enum status graph_builder_add_real(struct graph_builder *builder, uint32_t source, uint32_t target,
                                   double weight)
{
    CHECK(isfinite(weight));
    if (weight >= INT32_MIN && weight <= INT32_MAX && weight == (double)(int32_t)weight) {
        return graph_builder_add_integer(builder, source, target, (int64_t)weight);
    }
    return put_real(builder, source, target, weight);
}

enum status graph_builder_offer(struct graph_builder *builder, uint64_t wanted,
                                struct edge_i4 **ret_edges, uint64_t *ret_count)
{
    uint64_t limit = builder->options.edge_limit;
    enum status status = make_room(builder);

    CHECK(!builder->list.real);
    if (status != STATUS_OK) {
        return status;
    }
    if (limit > 0 && wanted > limit - builder->list.count) {
        wanted = limit - builder->list.count;
    }
    if (wanted > builder->capacity - builder->list.count) {
        wanted = builder->capacity - builder->list.count;
    }
    *ret_edges = (struct edge_i4 *)builder->list.edges + builder->list.count;
    *ret_count = wanted;
    return STATUS_OK;
}

void graph_builder_commit(struct graph_builder *builder, uint64_t count)
{
    CHECK(count <= builder->capacity - builder->list.count);
    builder->list.count += count;
}

uint64_t graph_builder_memory(const struct graph_builder *builder)
{
    return builder->list.count * GRAPH_BUILDER_EDGE_BYTES + builder->vertex_count * VERTEX_BYTES;
}

uint64_t graph_builder_edge_count(const struct graph_builder *builder)
{
    return builder->list.count;
}

double graph_builder_edge(const struct graph_builder *builder, uint64_t index, uint32_t ret_ends[2])
{
    CHECK(index < builder->list.count);
    if (builder->list.real) {
        const struct edge_f8 *edge = (const struct edge_f8 *)builder->list.edges + index;

        ret_ends[0] = edge->source;
        ret_ends[1] = edge->target;
        return edge->weight;
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)builder->list.edges + index;

    ret_ends[0] = edge->source;
    ret_ends[1] = edge->target;
    return edge->weight;
}

enum status graph_builder_finish(struct graph_builder *builder, struct vertex_names **take_names,
                                 const uint32_t *row_of, bool directed, struct graph **ret_graph,
                                 struct problem *reterr)
{
    struct graph *graph;
    enum status status;

    STATUS_TRY(graph_builder_admit(builder, vertex_names_count(*take_names), reterr));
    graph = calloc(1, sizeof(*graph));
    if (graph == NULL) {
        return STATUS_NO_MEMORY;
    }
    graph->vertex_count = vertex_names_count(*take_names);
    graph->directed = builder->options.has_directed ? builder->options.directed : directed;
    graph->summary.edges_read = builder->list.count;
    graph->summary.negative_loop = NO_VERTEX;
    status = graph_rows_build(&builder->list, row_of, graph);
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return status;
    }
    graph->names = *take_names;
    *take_names = NULL;
    *ret_graph = graph;
    return STATUS_OK;
}
