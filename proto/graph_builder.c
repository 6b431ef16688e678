#include "proto/graph_builder.h"

#include "proto/check.h"
#include "proto/edge_array.h"
#include "proto/graph_rows.h"
#include "proto/growing_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024
/* What a header may make us take ahead of the edges themselves. */
#define EXPECT_LIMIT (1u << 18)
/* More edges than MANY are soon a lot more: a large array at once, of which nothing is touched
 * before it is needed, as pages that are there already do not become large ones. */
#define MANY (1u << 19)
#define ROOM_FOR_MANY (3u << 20)
/* Integers beyond this are not all doubles. */
#define EXACT_LIMIT (1ll << 53)
/* Edges on their way to rows: few enough to stay in the nearest cache. */
#define PASSING 2048
/* A vertex takes 8 bytes of its rows, and costs nothing to announce: rows begin once an edge has
 * come for each so many vertices. */
#define VERTICES_PER_EDGE 2

struct graph_builder {
    struct graph_options options;
    struct edge_list list; /* real from the first weight on that is no int32 */
    uint64_t capacity;
    bool may_grow_rows; /* of vertex_count and directed, once there are edges enough */
    uint32_t vertex_count;
    bool directed;
    uint64_t announced;        /* edges, by a header; 0: by none */
    struct growing_rows *rows; /* NULL, or what came before the list */
    bool rows_grow;            /* the list is short, and goes on to them */
    uint64_t passed;           /* edges that have left the list, to rows or for good */
    bool streamed;             /* all rows have, to the last */
};

enum status graph_builder_create(const struct graph_options *options,
                                 struct graph_builder **ret_builder)
{
    struct graph_builder *builder = calloc(1, sizeof *builder);

    if (builder == NULL) {
        return STATUS_NO_MEMORY;
    }
    builder->options = *options;
    *ret_builder = builder;
    return STATUS_OK;
}

void graph_builder_destroy(struct graph_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    growing_rows_destroy(builder->rows);
    free(builder->list.edges);
    free(builder);
}

static size_t edge_size(const struct graph_builder *builder)
{
    return builder->list.real ? sizeof(struct edge_f8) : sizeof(struct edge_i4);
}

static enum status set_capacity(struct graph_builder *builder, uint64_t capacity)
{
    if (!edge_array_resize(&builder->list.edges, capacity, edge_size(builder))) {
        return STATUS_NO_MEMORY;
    }
    builder->capacity = capacity;
    return STATUS_OK;
}

void graph_builder_expect(struct graph_builder *builder, uint64_t edge_count)
{
    builder->announced = edge_count;
    if (edge_count > EXPECT_LIMIT) {
        edge_count = EXPECT_LIMIT;
    }
    /* Only a hint: what fails here fails again, and is told, when an edge is added. */
    if (edge_count > builder->capacity && set_capacity(builder, edge_count) != STATUS_OK) {
        return;
    }
}

void graph_builder_number(struct graph_builder *builder, uint32_t vertex_count, bool directed)
{
    CHECK(builder->list.count == 0 && builder->rows == NULL);
    builder->may_grow_rows = true;
    builder->vertex_count = vertex_count;
    builder->directed = directed;
}

/* The matrix alone: what lies behind it is counted when the graph is known. */
static enum status check_room(const struct graph_builder *builder, uint64_t vertex_count,
                              struct problem *reterr)
{
    const struct graph_options *options = &builder->options;
    const double bytes =
        (double)vertex_count * (double)vertex_count * (double)options->element_bytes;

    if (!options->has_room || bytes <= (double)options->room_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_DISK_FULL,
                "There is no room on the disk for the result of %llu vertices.",
                (unsigned long long)vertex_count);
    problem_limit(reterr, (double)options->room_bytes, bytes);
    problem_hint(reterr, "Delete graphs, or ask again when there is room.");
    return STATUS_DISK_FULL;
}

enum status graph_builder_admit(const struct graph_builder *builder, uint64_t vertex_count,
                                struct problem *reterr)
{
    const char *reason = builder->options.vertex_limit_reason;
    uint64_t limit = builder->options.vertex_limit;

    if (limit == 0 || limit > GRAPH_VERTEX_LIMIT) {
        limit = GRAPH_VERTEX_LIMIT;
        reason = "";
    }
    if (vertex_count <= limit) {
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

/* All edges that follow stay listed. */
static void leave_rows(struct graph_builder *builder)
{
    if (builder->rows_grow) {
        growing_rows_stop(builder->rows);
    }
    builder->rows_grow = false;
}

/* The list to the rows. Once an edge is out of order, all that follow stay listed. */
static enum status pass_on(struct graph_builder *builder)
{
    struct edge_list *list = &builder->list;
    struct edge_i4 *edges = list->edges;
    uint64_t taken;
    enum status status = growing_rows_take(builder->rows, edges, list->count, &taken);

    if (status != STATUS_OK) {
        return status;
    }
    builder->passed += taken;
    list->count -= taken;
    if (list->count > 0) {
        memmove(edges, edges + taken, list->count * sizeof *edges);
        leave_rows(builder);
    }
    return STATUS_OK;
}

/* The list, which came in order or did not, is the first to become rows. Without memory for them
 * the edges stay listed, as those of other formats. */
static enum status begin_rows(struct graph_builder *builder)
{
    enum status status;

    builder->may_grow_rows = false;
    if (growing_rows_create(builder->vertex_count, builder->directed, &builder->rows) !=
        STATUS_OK) {
        return STATUS_OK;
    }
    builder->rows_grow = true;
    status = pass_on(builder);
    return status == STATUS_OK && builder->rows_grow ? set_capacity(builder, PASSING) : status;
}

static bool rows_are_due(const struct graph_builder *builder)
{
    return builder->may_grow_rows && !builder->list.real && builder->list.count >= PASSING &&
           builder->list.count >= builder->vertex_count / VERTICES_PER_EDGE;
}

static enum status grow_list(struct graph_builder *builder)
{
    if (builder->capacity < FIRST_CAPACITY) {
        return set_capacity(builder, FIRST_CAPACITY);
    }
    if (builder->capacity >= MANY && builder->capacity < ROOM_FOR_MANY) {
        return set_capacity(builder, ROOM_FOR_MANY);
    }
    return set_capacity(builder, builder->capacity + builder->capacity / 2);
}

static enum status make_room(struct graph_builder *builder)
{
    const uint64_t limit = builder->options.edge_limit;
    enum status status = STATUS_OK;

    if (limit > 0 && graph_builder_edge_count(builder) >= limit) {
        return STATUS_TOO_LARGE;
    }
    if (rows_are_due(builder)) {
        status = begin_rows(builder);
    } else if (builder->rows_grow && builder->list.count >= PASSING) {
        status = pass_on(builder);
    }
    if (status == STATUS_OK && builder->list.count >= builder->capacity) {
        status = grow_list(builder);
    }
    return status;
}

/* In their place, the last one first, so that none is written over before it was read. */
static enum status become_real(struct graph_builder *builder)
{
    char *edges;

    leave_rows(builder);
    if (!edge_array_resize(&builder->list.edges, builder->capacity, sizeof(struct edge_f8))) {
        return STATUS_NO_MEMORY;
    }
    edges = builder->list.edges;
    for (uint64_t i = builder->list.count; i-- > 0;) {
        struct edge_i4 integer;
        struct edge_f8 real;

        memcpy(&integer, edges + i * sizeof integer, sizeof integer);
        real = (struct edge_f8){integer.source, integer.target, integer.weight};
        memcpy(edges + i * sizeof real, &real, sizeof real);
    }
    builder->list.real = true;
    return STATUS_OK;
}

static enum status put_real(struct graph_builder *builder, uint32_t source, uint32_t target,
                            double weight)
{
    enum status status = make_room(builder);

    if (status == STATUS_OK && !builder->list.real) {
        status = become_real(builder);
    }
    if (status != STATUS_OK) {
        return status;
    }
    ((struct edge_f8 *)builder->list.edges)[builder->list.count++] =
        (struct edge_f8){source, target, weight};
    return STATUS_OK;
}

enum status graph_builder_add_integer(struct graph_builder *builder, uint32_t source,
                                      uint32_t target, int64_t weight)
{
    enum status status;

    if (weight < -EXACT_LIMIT || weight > EXACT_LIMIT) {
        return STATUS_WEIGHT_RANGE;
    }
    if (builder->list.real || weight < INT32_MIN || weight > INT32_MAX) {
        return put_real(builder, source, target, (double)weight);
    }
    status = make_room(builder);
    if (status != STATUS_OK) {
        return status;
    }
    ((struct edge_i4 *)builder->list.edges)[builder->list.count++] =
        (struct edge_i4){source, target, (int32_t)weight};
    return STATUS_OK;
}

enum status graph_builder_add_real(struct graph_builder *builder, uint32_t source, uint32_t target,
                                   double weight)
{
    CHECK(isfinite(weight));
    if (weight >= INT32_MIN && weight <= INT32_MAX && weight == trunc(weight)) {
        return graph_builder_add_integer(builder, source, target, (int64_t)weight);
    }
    return put_real(builder, source, target, weight);
}

bool graph_builder_has_integers(const struct graph_builder *builder)
{
    return !builder->list.real;
}

static uint64_t room_left(const struct graph_builder *builder)
{
    return (builder->rows_grow ? PASSING : builder->capacity) - builder->list.count;
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
    if (limit > 0 && wanted > limit - graph_builder_edge_count(builder)) {
        wanted = limit - graph_builder_edge_count(builder);
    }
    if (wanted > room_left(builder)) {
        wanted = room_left(builder);
    }
    *ret_edges = (struct edge_i4 *)builder->list.edges + builder->list.count;
    *ret_count = wanted;
    return STATUS_OK;
}

void graph_builder_commit(struct graph_builder *builder, uint64_t count)
{
    CHECK(count <= room_left(builder));
    builder->list.count += count;
}

uint64_t graph_builder_edge_count(const struct graph_builder *builder)
{
    return builder->passed + builder->list.count;
}

struct growing_extent graph_builder_growing(const struct graph_builder *builder)
{
    if (!builder->rows_grow || !growing_rows_may_stream(builder->rows)) {
        return (struct growing_extent){0};
    }
    return (struct growing_extent){growing_rows_count(builder->rows), builder->announced};
}

bool graph_builder_stream(struct graph_builder *builder, struct row_stream *stream)
{
    return growing_rows_stream(builder->rows, stream);
}

bool graph_builder_was_streamed(const struct graph_builder *builder)
{
    return builder->streamed;
}

double graph_builder_edge(const struct graph_builder *builder, uint64_t index, uint32_t ret_ends[2])
{
    CHECK(builder->passed == 0 && index < builder->list.count);
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

/* The edges did not all come in order. */
static enum status build_rows(struct graph_builder *builder, const uint32_t *row_of,
                              struct graph *graph)
{
    graph->summary.negative_loop = NO_VERTEX;
    if (builder->rows != NULL) {
        enum status status = growing_rows_undo(builder->rows, &builder->list, &graph->summary);

        if (status != STATUS_OK) {
            return status;
        }
        builder->rows = NULL;
    }
    return graph_rows_build(&builder->list, row_of, graph);
}

/* Of a graph of which vertex_count and directed are set. */
static enum status make_rows(struct graph_builder *builder, const uint32_t *row_of,
                             struct graph *graph)
{
    const uint64_t edges_read = graph_builder_edge_count(builder);
    enum status status = STATUS_OK;

    if (rows_are_due(builder)) {
        status = begin_rows(builder);
    } else if (builder->rows_grow) {
        status = pass_on(builder);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (builder->rows_grow) {
        status = growing_rows_end(builder->rows, graph, &builder->streamed);
        builder->rows = NULL;
    } else {
        status = build_rows(builder, row_of, graph);
    }
    graph->summary.edges_read = edges_read;
    return status;
}

static const char *words_of(enum status status)
{
    return status == STATUS_NO_MEMORY ? "There is not enough memory for the graph."
                                      : "What was written of the graph cannot be read again.";
}

enum status graph_builder_finish(struct graph_builder *builder, struct vertex_names **take_names,
                                 const uint32_t *row_of, bool directed, struct graph **ret_graph,
                                 struct problem *reterr)
{
    struct graph *graph;
    enum status status;

    status = graph_builder_admit(builder, vertex_names_count(*take_names), reterr);
    if (status != STATUS_OK) {
        return status;
    }
    graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
    }
    graph->vertex_count = vertex_names_count(*take_names);
    graph->directed = builder->options.has_directed ? builder->options.directed : directed;
    status = make_rows(builder, row_of, graph);
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return problem_set(reterr, status, "%s", words_of(status));
    }
    graph->names = *take_names;
    *take_names = NULL;
    *ret_graph = graph;
    return STATUS_OK;
}
