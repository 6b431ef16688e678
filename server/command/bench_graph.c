#include "server/command/bench_graph.h"

#include "proto/graph_builder.h"
#include "proto/solve_options.h"
#include "server/command/generate.h"

#include <assert.h>

static_assert(BENCH_GRAPH_DISTANCE_MAX <= NARROW_DISTANCE_MAX, "every distance fits 16 bits");

/* Random edges that leave a vertex; with the two of vertex 0 there are 16. */
#define DEGREE 14
/* Above the weights of most random edges, so that few shortest paths lead over vertex 0. */
#define HUB_WEIGHT_MIN (BENCH_GRAPH_WEIGHT_MAX / 2)
/* With this added no weight is an integer, in float or double. */
#define FRACTION 0.25

struct making {
    struct graph_builder *builder;
    bool real;
};

static enum status take(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    const struct making *making = context;
    return making->real
               ? graph_builder_add_real(making->builder, source, target,
                                        (double)(weight - 1) + FRACTION)
               : graph_builder_add_integer(making->builder, source, target, (int64_t)weight);
}

static enum status add_random(struct making *making, uint32_t vertex_count, bool directed,
                              uint64_t seed)
{
    const struct generate_request request = {
        .shape = GENERATE_GNP,
        .directed = directed,
        .vertex_count = vertex_count,
        .degree = DEGREE,
        .max_weight = BENCH_GRAPH_WEIGHT_MAX,
        .seed = seed,
    };
    const struct generate_sink sink = {making, take};
    return generate_edges(&request, &sink);
}

static enum status add_hub(struct making *making, uint32_t vertex_count, bool directed)
{
    enum status status = STATUS_OK;
    for (uint32_t vertex = 1; vertex < vertex_count && status == STATUS_OK; ++vertex) {
        const uint64_t weight = HUB_WEIGHT_MIN + vertex % HUB_WEIGHT_MIN;
        status = take(making, 0, vertex, weight);
        if (status == STATUS_OK && directed) {
            status = take(making, vertex, 0, weight + 1);
        }
    }
    return status;
}

static enum status add_edges(struct making *making, uint32_t vertex_count, bool directed,
                             uint64_t seed)
{
    const enum status status = add_random(making, vertex_count, directed, seed);
    return status == STATUS_OK ? add_hub(making, vertex_count, directed) : status;
}

enum status bench_graph_make(uint32_t vertex_count, bool directed, bool real, uint64_t seed,
                             struct graph **ret_graph, struct problem *reterr)
{
    const struct graph_options options = {.has_vertex_count = true, .vertex_count = vertex_count};
    struct making making = {.real = real};
    struct vertex_names *names = NULL;
    enum status status = graph_builder_create(&options, &making.builder);
    if (status == STATUS_OK) {
        status = add_edges(&making, vertex_count, directed, seed);
    }
    if (status == STATUS_OK) {
        status = vertex_names_create_range(vertex_count, 0, &names);
    }
    if (status == STATUS_OK) {
        status = graph_builder_finish(making.builder, &names, NULL, directed, ret_graph, reterr);
    }
    vertex_names_destroy(names);
    graph_builder_destroy(making.builder);
    return status == STATUS_OK
               ? status
               : problem_set(reterr, status, "cannot make a graph of %u vertices", vertex_count);
}
