/* Negative cycles by Bellman-Ford from a virtual source with an arc of length 0 to every vertex
 * (so all distances start at 0), looking for a cycle in the predecessor graph after passes
 * (Cherkassky and Goldberg, Negative-cycle detection algorithms, 1999). */
#include "proto/graph_cycle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Most cycles show in the first passes; in a long search, looking after each would be most of it.
 */
#define EAGER_PASSES 16

struct search {
    const struct graph *graph;
    long double *distance; /* 64 bits of mantissa: sums of integer weights are exact */
    uint32_t *parent;      /* NO_VERTEX = the virtual source */
    bool *active;          /* its distance fell since its edges were relaxed */
    uint32_t *mark;        /* the walk that met the vertex last, 0 = none */
};

static bool relax_from(struct search *search, uint32_t u)
{
    const struct graph *graph = search->graph;
    bool changed = false;

    search->active[u] = false;
    for (uint64_t e = graph->row_offset[u]; e < graph->row_offset[u + 1]; e++) {
        uint32_t v = graph->target[e];
        long double weight = graph_weight(graph, e);
        long double through;

        /* Every weight is lengthened by its own rounding error, so that a cycle is negative exactly
         * when its sum is below -epsilon times the sum of its |weights|; integers are what they
         * are. */
        if (!graph->summary.integral) {
            weight += (long double)DBL_EPSILON * fabsl(weight);
        }
        through = search->distance[u] + weight;
        if (through >= search->distance[v]) {
            continue;
        }
        search->distance[v] = through;
        search->parent[v] = u;
        search->active[v] = true;
        changed = true;
    }
    return changed;
}

/* Passes run up and down in turn: a path numbered along its way, as in road networks, settles in
 * one of them, whichever way it runs (Yen 1970). */
static bool relax_all(struct search *search, bool descending)
{
    uint32_t count = search->graph->vertex_count;
    bool changed = false;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t u = descending ? count - 1 - i : i;

        if (search->active[u]) {
            changed |= relax_from(search, u);
        }
    }
    return changed;
}

static long double edge_weight(const struct graph *graph, uint32_t source, uint32_t target)
{
    uint64_t low = graph->row_offset[source];
    uint64_t high = graph->row_offset[source + 1];

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (graph->target[middle] <= target) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return graph_weight(graph, low);
}

/* Length and sum of the cycle of parents through v. */
static size_t measure(const struct search *search, uint32_t v, long double *ret_sum,
                      long double *ret_size)
{
    size_t length = 0;
    uint32_t at = v;

    *ret_sum = 0;
    *ret_size = 0;
    do {
        long double weight = edge_weight(search->graph, search->parent[at], at);

        *ret_sum += weight;
        *ret_size += fabsl(weight);
        length++;
        at = search->parent[at];
    } while (at != v);
    return length;
}

/* A vertex on a negative cycle of the predecessor graph, NO_VERTEX when there is none. */
static uint32_t find_cycle(struct search *search)
{
    uint32_t count = search->graph->vertex_count;

    for (uint32_t v = 0; v < count; v++) {
        search->mark[v] = 0;
    }
    for (uint32_t start = 0; start < count; start++) {
        uint32_t at = start;

        while (at != NO_VERTEX && search->mark[at] == 0) {
            search->mark[at] = start + 1;
            at = search->parent[at];
        }
        if (at != NO_VERTEX && search->mark[at] == start + 1) {
            const bool exact = search->graph->summary.integral;
            long double size;
            long double sum;

            measure(search, at, &sum, &size);
            if (sum < (exact ? 0 : -(long double)DBL_EPSILON * size)) {
                return at;
            }
        }
    }
    return NO_VERTEX;
}

static enum status copy_cycle(const struct search *search, uint32_t v, uint32_t **ret_cycle,
                              size_t *ret_length, double *ret_weight)
{
    long double size;
    long double sum;
    size_t length = measure(search, v, &sum, &size);
    uint32_t *cycle = calloc(length, sizeof(*cycle));

    if (cycle == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = length; i > 0; i--) {
        cycle[i - 1] = v;
        v = search->parent[v];
    }
    *ret_cycle = cycle;
    *ret_length = length;
    *ret_weight = (double)sum;
    return STATUS_OK;
}

static enum status walk(const uint32_t *vertices, size_t length, double weight,
                        uint32_t **ret_cycle, size_t *ret_length, double *ret_weight)
{
    uint32_t *cycle = calloc(2, sizeof(*cycle));

    if (cycle == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < length; i++) {
        cycle[i] = vertices[i];
    }
    *ret_cycle = cycle;
    *ret_length = length;
    *ret_weight = weight;
    return STATUS_OK;
}

/* Without direction a negative edge there and back is a cycle. */
static enum status find_negative_edge(const struct graph *graph, uint32_t **ret_cycle,
                                      size_t *ret_length, double *ret_weight)
{
    for (uint32_t u = 0; u < graph->vertex_count; u++) {
        for (uint64_t e = graph->row_offset[u]; e < graph->row_offset[u + 1]; e++) {
            uint32_t ends[2] = {u, graph->target[e]};

            if (graph_weight(graph, e) < 0) {
                return walk(ends, 2, 2 * graph_weight(graph, e), ret_cycle, ret_length, ret_weight);
            }
        }
    }
    return STATUS_OK;
}

static enum status search_cycle(struct search *search, uint32_t **ret_cycle, size_t *ret_length,
                                double *ret_weight)
{
    uint32_t count = search->graph->vertex_count;

    search->distance = calloc(count, sizeof(*search->distance));
    search->parent = calloc(count, sizeof(*search->parent));
    search->active = calloc(count, sizeof(*search->active));
    search->mark = calloc(count, sizeof(*search->mark));
    if (search->distance == NULL || search->parent == NULL || search->active == NULL ||
        search->mark == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t v = 0; v < count; v++) {
        search->parent[v] = NO_VERTEX;
        search->active[v] = true;
    }
    /* A pass that changes something after as many passes as there are vertices proves a cycle. */
    for (uint32_t pass = 0; pass <= count && relax_all(search, pass % 2 == 1); pass++) {
        bool look = pass < EAGER_PASSES || pass % EAGER_PASSES == 0 || pass == count;
        uint32_t v = look ? find_cycle(search) : NO_VERTEX;

        if (v != NO_VERTEX) {
            return copy_cycle(search, v, ret_cycle, ret_length, ret_weight);
        }
    }
    return STATUS_OK;
}

enum status graph_negative_cycle(const struct graph *graph, uint32_t **ret_cycle,
                                 size_t *ret_length, double *ret_weight)
{
    struct search search = {.graph = graph};
    enum status status;

    *ret_cycle = NULL;
    *ret_length = 0;
    *ret_weight = 0;
    if (graph->summary.negative_loop != NO_VERTEX) {
        return walk(&graph->summary.negative_loop, 1, graph->summary.negative_loop_weight,
                    ret_cycle, ret_length, ret_weight);
    }
    if (!graph->summary.negative) {
        return STATUS_OK;
    }
    if (!graph->directed) {
        return find_negative_edge(graph, ret_cycle, ret_length, ret_weight);
    }
    status = search_cycle(&search, ret_cycle, ret_length, ret_weight);
    free(search.distance);
    free(search.parent);
    free(search.active);
    free(search.mark);
    return status;
}
