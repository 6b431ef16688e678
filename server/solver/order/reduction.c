/* A vertex of degree 2 is replaced by an edge between its neighbours, so lists of neighbours never
 * grow, and the reduction works in place on one copy of the pattern. */
#include "server/solver/order/reduction.h"

#include <stdlib.h>
#include <string.h>

#define SEARCHED_NEIGHBOURS_MAX 64

/* A vertex of the core represents at most this many vertices, so that long paths and large trees
 * can still be divided. */
#define WEIGHT_MAX 16

static bool reduction_init(struct reduction *reduction, const struct pattern *pattern)
{
    const size_t n = pattern->vertex_count;
    const size_t entries = (size_t)pattern->offset[n];
    int32_t *degree = malloc((4 * n + entries + 1) * sizeof(*degree));
    *reduction = (struct reduction){.pattern = pattern, .degree = degree};
    if (degree == NULL) {
        return false;
    }
    reduction->order = degree + n;
    reduction->local = degree + 2 * n;
    reduction->weight = degree + 3 * n;
    reduction->neighbour = degree + 4 * n;
    memcpy(reduction->weight, pattern->weight, n * sizeof(*reduction->weight));
    memcpy(reduction->neighbour, pattern->target, entries * sizeof(*reduction->neighbour));
    for (size_t vertex = 0; vertex < n; vertex++) {
        reduction->degree[vertex] = pattern->offset[vertex + 1] - pattern->offset[vertex];
    }
    return true;
}

static int32_t *find_neighbour(const struct reduction *reduction, int32_t of, int32_t vertex)
{
    int32_t *list = reduction->neighbour + reduction->pattern->offset[of];
    for (int32_t i = 0; i < reduction->degree[of]; i++) {
        if (list[i] == vertex) {
            return &list[i];
        }
    }
    return NULL;
}

/* Removes a vertex from a neighbour's list. If two entries remain, the neighbour is queued for
 * elimination. */
static void drop_neighbour(struct reduction *reduction, int32_t of, int32_t vertex, uint32_t *end)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[of];
    int32_t *place = find_neighbour(reduction, of, vertex);
    *place = list[--reduction->degree[of]];
    if (reduction->degree[of] == 2) {
        reduction->order[(*end)++] = of;
    }
}

/* Returns the lighter of the one or two neighbours of a vertex. */
static int32_t find_lighter(const struct reduction *reduction, int32_t vertex)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
    const bool second =
        reduction->degree[vertex] == 2 && reduction->weight[list[1]] < reduction->weight[list[0]];
    return list[second];
}

static void eliminate(struct reduction *reduction, int32_t vertex, uint32_t *end)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
    const int32_t degree = reduction->degree[vertex];
    reduction->weight[find_lighter(reduction, vertex)] += reduction->weight[vertex];
    reduction->degree[vertex] = ~degree;
    if (degree == 1) {
        drop_neighbour(reduction, list[0], vertex, end);
    } else if (find_neighbour(reduction, list[0], list[1]) != NULL) {
        drop_neighbour(reduction, list[0], vertex, end);
        drop_neighbour(reduction, list[1], vertex, end);
    } else {
        *find_neighbour(reduction, list[0], vertex) = list[1];
        *find_neighbour(reduction, list[1], vertex) = list[0];
    }
}

static enum status make_core(struct reduction *reduction)
{
    const uint32_t n = reduction->pattern->vertex_count;
    size_t entries = 0;
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if (reduction->degree[vertex] >= 0) {
            reduction->order[reduction->eliminated + count] = (int32_t)vertex;
            reduction->local[vertex] = (int32_t)count++;
            entries += (size_t)reduction->degree[vertex];
        }
    }
    struct pattern *core = &reduction->core;
    const enum status status = pattern_init(core, count, entries);
    int32_t kept = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        const int32_t vertex = reduction->order[reduction->eliminated + i];
        const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
        for (int32_t j = 0; j < reduction->degree[vertex]; j++) {
            core->target[kept++] = reduction->local[list[j]];
        }
        core->offset[i + 1] = kept;
        core->weight[i] = reduction->weight[vertex];
    }
    return status;
}

/* Returns whether a vertex can be eliminated. It cannot if it is the last vertex of a component, if
 * it is next to a hub, whose list is too long to be searched, or if the weight of a vertex of the
 * core would exceed WEIGHT_MAX. */
static bool can_eliminate(const struct reduction *reduction, int32_t vertex)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
    for (int32_t i = 0; i < reduction->degree[vertex]; i++) {
        if (reduction->degree[list[i]] > SEARCHED_NEIGHBOURS_MAX) {
            return false;
        }
    }
    return reduction->degree[vertex] > 0 &&
           reduction->weight[vertex] + reduction->weight[find_lighter(reduction, vertex)] <=
               WEIGHT_MAX;
}

enum status reduction_make(const struct pattern *pattern, struct reduction *ret_reduction)
{
    if (!reduction_init(ret_reduction, pattern)) {
        return STATUS_NO_MEMORY;
    }
    uint32_t end = 0;
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; vertex++) {
        if (ret_reduction->degree[vertex] <= 2) {
            ret_reduction->order[end++] = (int32_t)vertex;
        }
    }
    for (uint32_t at = 0; at < end; at++) {
        const int32_t vertex = ret_reduction->order[at];
        if (can_eliminate(ret_reduction, vertex)) {
            eliminate(ret_reduction, vertex, &end);
            ret_reduction->order[ret_reduction->eliminated++] = vertex;
        }
    }
    return make_core(ret_reduction);
}

const int32_t *reduction_neighbours(const struct reduction *reduction, uint32_t vertex,
                                    uint32_t *ret_count)
{
    *ret_count = (uint32_t)~reduction->degree[vertex];
    return reduction->neighbour + reduction->pattern->offset[vertex];
}

void reduction_finish(struct reduction *reduction)
{
    free(reduction->degree);
    pattern_finish(&reduction->core);
}
