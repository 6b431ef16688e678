#include "server/solver/diameter_search.h"

#include "proto/check.h"

#include <stdlib.h>

/* Vertices searched from, in and out, before a component is given up. Alternately one far from the
 * others, whose distances tell where the middle is, and one in the middle, whose bound is small
 * (the choice of Takes and Kosters 2011). */
#define TRIES 5

/* Edges in both directions are read from rows. */
struct rows {
    const uint64_t *offset;
    const uint32_t *end; /* the vertex at the other end */
    const int32_t *weight;
};

struct diameter_search {
    const struct graph *graph;
    const struct strong_components *components;
    uint64_t *reverse_offset;
    uint32_t *reverse_source;
    int32_t *reverse_weight;
    uint64_t *distance; /* of the search in hand; UINT64_MAX = not reached */
    uint64_t *reach;    /* the most that is known to lie between a vertex and any other */
    uint32_t *heap;     /* vertices reached and not settled, nearest first */
    uint32_t *place;    /* of a vertex in the heap */
    uint32_t heap_count;
};

void diameter_search_destroy(struct diameter_search *search)
{
    if (search == NULL) {
        return;
    }
    free(search->reverse_offset);
    free(search->reverse_source);
    free(search->reverse_weight);
    free(search->distance);
    free(search->reach);
    free(search->heap);
    free(search->place);
    free(search);
}

/* A counting sort of the edges by target; the offsets run one place ahead while it fills. */
static void reverse(struct diameter_search *search)
{
    const struct graph *graph = search->graph;
    uint64_t *const offset = search->reverse_offset;
    for (uint64_t edge = 0; edge < graph->edge_count; ++edge) {
        ++offset[graph->target[edge] + 2];
    }
    for (size_t vertex = 2; vertex <= graph->vertex_count; ++vertex) {
        offset[vertex] += offset[vertex - 1];
    }
    for (uint32_t source = 0; source < graph->vertex_count; ++source) {
        for (uint64_t edge = graph->row_offset[source]; edge < graph->row_offset[source + 1];
             ++edge) {
            const uint64_t place = offset[graph->target[edge] + 1]++;
            search->reverse_source[place] = source;
            search->reverse_weight[place] = graph->weight_i4[edge];
        }
    }
}

enum status diameter_search_create(const struct graph *graph,
                                   const struct strong_components *components,
                                   struct diameter_search **ret_search)
{
    CHECK(graph->weight_i4 != NULL && !graph->summary.negative);
    const size_t n = graph->vertex_count;
    struct diameter_search *search = calloc(1, sizeof(*search));
    if (search == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->graph = graph;
    search->components = components;
    search->reverse_offset = calloc(n + 2, sizeof(*search->reverse_offset));
    search->reverse_source = calloc(graph->edge_count + 1, sizeof(*search->reverse_source));
    search->reverse_weight = calloc(graph->edge_count + 1, sizeof(*search->reverse_weight));
    search->distance = calloc(n + 1, sizeof(*search->distance));
    search->reach = calloc(n + 1, sizeof(*search->reach));
    search->heap = calloc(n + 1, sizeof(*search->heap));
    search->place = calloc(n + 1, sizeof(*search->place));
    if (search->reverse_offset == NULL || search->reverse_source == NULL ||
        search->reverse_weight == NULL || search->distance == NULL || search->reach == NULL ||
        search->heap == NULL || search->place == NULL) {
        diameter_search_destroy(search);
        return STATUS_NO_MEMORY;
    }
    reverse(search);
    *ret_search = search;
    return STATUS_OK;
}

static void put(struct diameter_search *search, uint32_t place, uint32_t vertex)
{
    search->heap[place] = vertex;
    search->place[vertex] = place;
}

static void sift_up(struct diameter_search *search, uint32_t vertex)
{
    uint32_t place = search->place[vertex];
    while (place > 0) {
        const uint32_t above = search->heap[(place - 1) / 2];
        if (search->distance[above] <= search->distance[vertex]) {
            break;
        }
        put(search, place, above);
        place = (place - 1) / 2;
    }
    put(search, place, vertex);
}

static uint32_t take_nearest(struct diameter_search *search)
{
    const uint32_t nearest = search->heap[0];
    const uint32_t last = search->heap[--search->heap_count];
    uint32_t place = 0;
    for (;;) {
        uint32_t below = 2 * place + 1;
        if (below >= search->heap_count) {
            break;
        }
        if (below + 1 < search->heap_count &&
            search->distance[search->heap[below + 1]] < search->distance[search->heap[below]]) {
            ++below;
        }
        if (search->distance[last] <= search->distance[search->heap[below]]) {
            break;
        }
        put(search, place, search->heap[below]);
        place = below;
    }
    if (search->heap_count > 0) {
        put(search, place, last);
    }
    return nearest;
}

static void reach_vertex(struct diameter_search *search, uint32_t vertex, uint64_t distance)
{
    if (distance >= search->distance[vertex]) {
        return;
    }
    if (search->distance[vertex] == UINT64_MAX) {
        put(search, search->heap_count++, vertex);
    }
    search->distance[vertex] = distance;
    sift_up(search, vertex);
}

/* A settled vertex is never reached again, as no weight is below 0. */
static void relax(struct diameter_search *search, const struct rows *rows, uint32_t vertex)
{
    const uint32_t *const component = search->components->of;
    for (uint64_t edge = rows->offset[vertex]; edge < rows->offset[vertex + 1]; ++edge) {
        if (component[rows->end[edge]] == component[vertex]) {
            reach_vertex(search, rows->end[edge],
                         search->distance[vertex] + (uint64_t)rows->weight[edge]);
        }
    }
}

struct span {
    const uint32_t *member;
    uint32_t count;
};

static struct span members(const struct diameter_search *search, uint32_t component)
{
    const uint32_t *first = search->components->first + component;
    return (struct span){search->components->member + first[0], first[1] - first[0]};
}

/* Dijkstra within the component, from the source or, backward, to it. False once a distance exceeds
 * the limit. ret_farthest is the vertex settled last. */
static bool measure(struct diameter_search *search, struct span span, uint32_t source,
                    bool backward, uint64_t limit, uint32_t *ret_farthest)
{
    const struct graph *graph = search->graph;
    const struct rows out = {graph->row_offset, graph->target, graph->weight_i4};
    const struct rows in = {search->reverse_offset, search->reverse_source, search->reverse_weight};
    for (uint32_t i = 0; i < span.count; ++i) {
        search->distance[span.member[i]] = UINT64_MAX;
    }
    search->heap_count = 0;
    reach_vertex(search, source, 0);
    uint32_t vertex = source;
    while (search->heap_count > 0) {
        vertex = take_nearest(search);
        if (search->distance[vertex] > limit) {
            return false;
        }
        if (!backward || !graph->directed) {
            relax(search, &out, vertex);
        }
        if (backward || !graph->directed) {
            relax(search, &in, vertex);
        }
    }
    *ret_farthest = vertex;
    return true;
}

static void note_reach(struct diameter_search *search, struct span span)
{
    for (uint32_t i = 0; i < span.count; ++i) {
        const uint32_t vertex = span.member[i];
        if (search->distance[vertex] > search->reach[vertex]) {
            search->reach[vertex] = search->distance[vertex];
        }
    }
}

/* In and out of one vertex: false when some distance exceeds the limit. */
static bool measure_both(struct diameter_search *search, struct span span, uint32_t source,
                         uint64_t limit, uint64_t *ret_bound, uint32_t *ret_farthest)
{
    uint32_t farthest = source;
    if (!measure(search, span, source, false, limit, ret_farthest)) {
        return false;
    }
    uint64_t bound = search->distance[*ret_farthest];
    note_reach(search, span);
    if (search->graph->directed) {
        if (!measure(search, span, source, true, limit, &farthest)) {
            return false;
        }
        note_reach(search, span);
    }
    *ret_bound = bound + search->distance[search->graph->directed ? farthest : *ret_farthest];
    return true;
}

static uint32_t find_middle(const struct diameter_search *search, struct span span)
{
    uint32_t middle = span.member[0];
    for (uint32_t i = 1; i < span.count; ++i) {
        if (search->reach[span.member[i]] < search->reach[middle]) {
            middle = span.member[i];
        }
    }
    return middle;
}

bool diameter_search_bound(struct diameter_search *search, uint32_t component, uint64_t limit,
                           uint64_t *ret_bound)
{
    const struct span span = members(search, component);
    uint32_t source = span.member[0];
    uint32_t farthest = source;
    if (span.count == 1) {
        *ret_bound = 0;
        return true;
    }
    for (uint32_t i = 0; i < span.count; ++i) {
        search->reach[span.member[i]] = 0;
    }
    for (uint32_t attempt = 0; attempt < TRIES; ++attempt) {
        uint64_t bound = 0;
        if (!measure_both(search, span, source, limit, &bound, &farthest)) {
            return false;
        }
        if (bound <= limit) {
            *ret_bound = bound;
            return true;
        }
        source = attempt % 2 == 0 ? farthest : find_middle(search, span);
    }
    return false;
}
