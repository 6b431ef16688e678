#include "proto/graph_builder.h"

#include "proto/check.h"
#include "proto/real_edge_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024
/* What a header may make us take ahead of the edges themselves. */
#define EXPECT_LIMIT (1u << 18)
/* Integers beyond this are not all doubles. */
#define EXACT_LIMIT (1ll << 53)

struct graph_builder {
    struct graph_options options;
    uint64_t count;
    uint64_t capacity;
    bool real;   /* from the first weight on that is no int32 */
    void *edges; /* struct edge_i4, or struct edge_f8 when real */
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
    free(builder->edges);
    free(builder);
}

static size_t edge_size(const struct graph_builder *builder)
{
    return builder->real ? sizeof(struct edge_f8) : sizeof(struct edge_i4);
}

static enum status set_capacity(struct graph_builder *builder, uint64_t capacity)
{
    void *moved = reallocarray(builder->edges, capacity, edge_size(builder));

    if (moved == NULL) {
        return STATUS_NO_MEMORY;
    }
    builder->edges = moved;
    builder->capacity = capacity;
    return STATUS_OK;
}

void graph_builder_expect(struct graph_builder *builder, uint64_t edge_count)
{
    if (edge_count > EXPECT_LIMIT) {
        edge_count = EXPECT_LIMIT;
    }
    /* Only a hint: what fails here fails again, and is told, when an edge is added. */
    if (edge_count > builder->capacity && set_capacity(builder, edge_count) != STATUS_OK) {
        return;
    }
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

static enum status make_room(struct graph_builder *builder)
{
    if (builder->options.edge_limit > 0 && builder->count >= builder->options.edge_limit) {
        return STATUS_TOO_LARGE;
    }
    if (builder->count < builder->capacity) {
        return STATUS_OK;
    }
    if (builder->capacity < FIRST_CAPACITY) {
        return set_capacity(builder, FIRST_CAPACITY);
    }
    return set_capacity(builder, builder->capacity + builder->capacity / 2);
}

/* In their place, the last one first, so that none is written over before it was read. */
static enum status become_real(struct graph_builder *builder)
{
    char *edges = reallocarray(builder->edges, builder->capacity, sizeof(struct edge_f8));

    if (edges == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = builder->count; i-- > 0;) {
        struct edge_i4 integer;
        struct edge_f8 real;

        memcpy(&integer, edges + i * sizeof integer, sizeof integer);
        real = (struct edge_f8){integer.source, integer.target, integer.weight};
        memcpy(edges + i * sizeof real, &real, sizeof real);
    }
    builder->edges = edges;
    builder->real = true;
    return STATUS_OK;
}

static enum status put_real(struct graph_builder *builder, uint32_t source, uint32_t target,
                            double weight)
{
    enum status status = make_room(builder);

    if (status == STATUS_OK && !builder->real) {
        status = become_real(builder);
    }
    if (status != STATUS_OK) {
        return status;
    }
    ((struct edge_f8 *)builder->edges)[builder->count++] = (struct edge_f8){source, target, weight};
    return STATUS_OK;
}

enum status graph_builder_add_integer(struct graph_builder *builder, uint32_t source,
                                      uint32_t target, int64_t weight)
{
    enum status status;

    if (weight < -EXACT_LIMIT || weight > EXACT_LIMIT) {
        return STATUS_WEIGHT_RANGE;
    }
    if (builder->real || weight < INT32_MIN || weight > INT32_MAX) {
        return put_real(builder, source, target, (double)weight);
    }
    status = make_room(builder);
    if (status != STATUS_OK) {
        return status;
    }
    ((struct edge_i4 *)builder->edges)[builder->count++] =
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

enum status graph_builder_offer(struct graph_builder *builder, uint64_t wanted,
                                struct edge_i4 **ret_edges, uint64_t *ret_count)
{
    uint64_t limit = builder->options.edge_limit;
    enum status status = make_room(builder);

    CHECK(!builder->real);
    if (status != STATUS_OK) {
        return status;
    }
    if (limit > 0 && wanted > limit - builder->count) {
        wanted = limit - builder->count;
    }
    if (wanted > builder->capacity - builder->count) {
        wanted = builder->capacity - builder->count;
    }
    *ret_edges = (struct edge_i4 *)builder->edges + builder->count;
    *ret_count = wanted;
    return STATUS_OK;
}

void graph_builder_commit(struct graph_builder *builder, uint64_t count)
{
    CHECK(count <= builder->capacity - builder->count);
    builder->count += count;
}

uint64_t graph_builder_edge_count(const struct graph_builder *builder)
{
    return builder->count;
}

double graph_builder_edge(const struct graph_builder *builder, uint64_t index, uint32_t ret_ends[2])
{
    CHECK(index < builder->count);
    if (builder->real) {
        const struct edge_f8 *edge = (const struct edge_f8 *)builder->edges + index;

        ret_ends[0] = edge->source;
        ret_ends[1] = edge->target;
        return edge->weight;
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)builder->edges + index;

    ret_ends[0] = edge->source;
    ret_ends[1] = edge->target;
    return edge->weight;
}

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

static bool settle_loop(struct graph_summary *summary, uint32_t source, uint32_t target,
                        double weight)
{
    if (source != target) {
        return false;
    }
    if (weight < 0) {
        note_negative_loop(summary, source, weight);
    } else {
        summary->loops_dropped++;
    }
    return true;
}

/* The loops over all edges below are written once, for either type of weight, and compiled for
 * each. */
#define FOR_EACH_TYPE inline __attribute__((always_inline))

static FOR_EACH_TYPE uint32_t *ends_of(const struct graph_builder *builder, uint64_t edge,
                                       bool real)
{
    return real ? &((struct edge_f8 *)builder->edges)[edge].source
                : &((struct edge_i4 *)builder->edges)[edge].source;
}

static FOR_EACH_TYPE double weight_of(const struct graph_builder *builder, uint64_t edge, bool real)
{
    return real ? ((struct edge_f8 *)builder->edges)[edge].weight
                : ((struct edge_i4 *)builder->edges)[edge].weight;
}

static FOR_EACH_TYPE void move_edge(struct graph_builder *builder, uint64_t from, uint64_t to,
                                    bool real)
{
    if (from == to) {
        return;
    }
    if (real) {
        ((struct edge_f8 *)builder->edges)[to] = ((struct edge_f8 *)builder->edges)[from];
    } else {
        ((struct edge_i4 *)builder->edges)[to] = ((struct edge_i4 *)builder->edges)[from];
    }
}

/* Final rows, smaller end first when undirected; loops leave. True when the edges are in order
 * then: many files list them so, and sorting is most of the work. */
static FOR_EACH_TYPE bool normalise_typed(struct graph_builder *builder, const uint32_t *row_of,
                                          struct graph *graph, bool real)
{
    uint64_t kept = 0;
    uint64_t before = 0;
    bool sorted = true;

    for (uint64_t i = 0; i < builder->count; i++) {
        const uint32_t *ends = ends_of(builder, i, real);
        uint32_t source = row_of == NULL ? ends[0] : row_of[ends[0]];
        uint32_t target = row_of == NULL ? ends[1] : row_of[ends[1]];
        bool swapped = !graph->directed && source > target;
        uint64_t key = swapped ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;

        CHECK(source < graph->vertex_count && target < graph->vertex_count);
        if (settle_loop(&graph->summary, source, target, weight_of(builder, i, real))) {
            continue;
        }
        move_edge(builder, i, kept, real);
        ends_of(builder, kept, real)[0] = (uint32_t)(key >> 32);
        ends_of(builder, kept++, real)[1] = (uint32_t)key;
        sorted = sorted && before <= key;
        before = key;
    }
    builder->count = kept;
    return sorted;
}

static bool normalise(struct graph_builder *builder, const uint32_t *row_of, struct graph *graph)
{
    return builder->real ? normalise_typed(builder, row_of, graph, true)
                         : normalise_typed(builder, row_of, graph, false);
}

static FOR_EACH_TYPE double stored_weight(const struct graph *graph, uint64_t edge, bool real)
{
    return real ? graph->weight_f8[edge] : graph->weight_i4[edge];
}

static FOR_EACH_TYPE void store_weight(const struct graph_builder *builder, struct graph *graph,
                                       uint64_t from, uint64_t to, bool real)
{
    if (real) {
        memmove(&graph->weight_f8[to], &((struct edge_f8 *)builder->edges)[from].weight,
                sizeof graph->weight_f8[to]);
    } else {
        graph->weight_i4[to] = ((struct edge_i4 *)builder->edges)[from].weight;
    }
}

/* Into the rows of the graph. Parallel edges are neighbours now: the shortest stays. Decimals go
 * into the first half of the memory of the edges themselves, whose ends have left by then: each is
 * moved to where an edge before it, or its own ends, were. */
static FOR_EACH_TYPE void fill_rows_typed(const struct graph_builder *builder, struct graph *graph,
                                          bool real)
{
    uint64_t kept = 0;
    uint32_t row = 0;

    for (uint64_t i = 0; i < builder->count; i++) {
        uint32_t ends[2];

        memcpy(ends, ends_of(builder, i, real), sizeof ends);
        while (row < ends[0]) {
            graph->row_offset[++row] = kept;
        }
        if (kept > graph->row_offset[row] && graph->target[kept - 1] == ends[1]) {
            graph->summary.parallel_merged++;
            if (weight_of(builder, i, real) >= stored_weight(graph, kept - 1, real)) {
                continue;
            }
            kept--;
        }
        graph->target[kept] = ends[1];
        store_weight(builder, graph, i, kept++, real);
    }
    while (row < graph->vertex_count) {
        graph->row_offset[++row] = kept;
    }
    graph->edge_count = kept;
}

static bool resize(void *array_of, uint64_t count, size_t size)
{
    void **array = array_of;
    void *moved = reallocarray(*array, count, size);

    if (moved == NULL) {
        return false;
    }
    *array = moved;
    return true;
}

/* What is empty stays a valid pointer. */
static bool resize_edges(struct graph *graph, uint64_t count)
{
    return resize(&graph->target, count + 1, sizeof *graph->target) &&
           (graph->weight_type == WEIGHT_REAL
                ? resize(&graph->weight_f8, count + 1, sizeof *graph->weight_f8)
                : resize(&graph->weight_i4, count + 1, sizeof *graph->weight_i4));
}

static enum status fill_rows(struct graph_builder *builder, struct graph *graph)
{
    graph->weight_type = builder->real ? WEIGHT_REAL : WEIGHT_INTEGER;
    graph->row_offset = calloc((size_t)graph->vertex_count + 1, sizeof *graph->row_offset);
    if (graph->row_offset == NULL ||
        !resize(&graph->target, builder->count + 1, sizeof *graph->target)) {
        return STATUS_NO_MEMORY;
    }
    if (builder->real) {
        graph->weight_f8 = builder->edges;
        fill_rows_typed(builder, graph, true);
    } else {
        if (!resize(&graph->weight_i4, builder->count + 1, sizeof *graph->weight_i4)) {
            return STATUS_NO_MEMORY;
        }
        fill_rows_typed(builder, graph, false);
        free(builder->edges);
    }
    builder->edges = NULL;
    builder->count = 0;
    builder->capacity = 0;
    return resize_edges(graph, graph->edge_count) ? STATUS_OK : STATUS_NO_MEMORY;
}

static FOR_EACH_TYPE void find_largest(const struct graph *graph, double *largest, bool real)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        double most = largest[v];

        for (uint64_t edge = graph->row_offset[v]; edge < graph->row_offset[v + 1]; edge++) {
            double size = fabs(stored_weight(graph, edge, real));

            most = size > most ? size : most;
            if (!graph->directed && size > largest[graph->target[edge]]) {
                largest[graph->target[edge]] = size;
            }
        }
        largest[v] = most;
    }
}

static enum status bound_distances(struct graph *graph)
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
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        graph->summary.distance_bound += largest[v];
    }
    free(largest);
    return STATUS_OK;
}

static void summarise_integers(const struct graph *graph, struct graph_summary *summary)
{
    int32_t least = graph->weight_i4[0];
    int32_t most = least;

    for (uint64_t i = 1; i < graph->edge_count; i++) {
        least = graph->weight_i4[i] < least ? graph->weight_i4[i] : least;
        most = graph->weight_i4[i] > most ? graph->weight_i4[i] : most;
    }
    summary->min_weight = least;
    summary->max_weight = most;
}

static void summarise_reals(const struct graph *graph, struct graph_summary *summary)
{
    summary->min_weight = graph->weight_f8[0];
    summary->max_weight = graph->weight_f8[0];
    for (uint64_t i = 0; i < graph->edge_count; i++) {
        double weight = graph->weight_f8[i];

        summary->min_weight = fmin(summary->min_weight, weight);
        summary->max_weight = fmax(summary->max_weight, weight);
        summary->integral = summary->integral && weight == trunc(weight);
    }
}

static void summarise_weights(struct graph *graph)
{
    graph->summary.integral = true;
    if (graph->edge_count == 0) {
        return;
    }
    if (graph->weight_type == WEIGHT_REAL) {
        summarise_reals(graph, &graph->summary);
    } else {
        summarise_integers(graph, &graph->summary);
    }
    graph->summary.negative = graph->summary.negative || graph->summary.min_weight < 0;
}

static enum status sort(struct graph_builder *builder, uint32_t vertex_count)
{
    struct edge_i4 *edges = builder->edges;
    enum status status;

    if (builder->real) {
        return real_edge_sort(builder->edges, builder->count, vertex_count);
    }
    status = edge_sort(&edges, builder->count, vertex_count);
    builder->edges = edges;
    return status;
}

static enum status build(struct graph_builder *builder, const uint32_t *row_of, struct graph *graph)
{
    enum status status = STATUS_OK;

    graph->summary.edges_read = builder->count;
    graph->summary.negative_loop = NO_VERTEX;
    if (!normalise(builder, row_of, graph)) {
        status = sort(builder, graph->vertex_count);
    }
    if (status == STATUS_OK) {
        status = fill_rows(builder, graph);
    }
    if (status == STATUS_OK) {
        summarise_weights(graph);
        status = graph_count_components(graph);
    }
    if (status == STATUS_OK) {
        status = bound_distances(graph);
    }
    return status;
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
    status = build(builder, row_of, graph);
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return problem_set(reterr, status, "There is not enough memory for the graph.");
    }
    graph->names = *take_names;
    *take_names = NULL;
    *ret_graph = graph;
    return STATUS_OK;
}
