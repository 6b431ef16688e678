#include "tests/solver/dijkstra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    double distance;
    uint32_t vertex;
};

struct arc {
    uint32_t target;
    double weight;
};

struct dijkstra {
    uint32_t vertex_count;
    uint64_t *first; /* vertex_count + 1 entries: index of the first arc of each vertex */
    struct arc *arcs;
    double *distance;
    struct entry *heap; /* one entry per improvement of a distance; outdated entries are skipped */
    size_t heap_size;
};

/* Adds the graph's arcs, grouped by source, or counts them. An undirected edge gives two arcs. */
static void add_arcs(struct dijkstra *dijkstra, const struct graph *graph, bool count_only)
{
    for (uint32_t source = 0; source < graph->vertex_count; ++source) {
        for (uint64_t e = graph->row_offset[source]; e < graph->row_offset[source + 1]; ++e) {
            const uint32_t target = graph->target[e];
            if (count_only) {
                ++dijkstra->first[source];
                dijkstra->first[target] += graph->directed ? 0 : 1;
                continue;
            }
            dijkstra->arcs[--dijkstra->first[source]] =
                (struct arc){target, graph_weight(graph, e)};
            if (!graph->directed) {
                dijkstra->arcs[--dijkstra->first[target]] =
                    (struct arc){source, graph_weight(graph, e)};
            }
        }
    }
}

struct dijkstra *dijkstra_create(const struct graph *graph)
{
    const size_t n = graph->vertex_count;
    const size_t arcs = 2 * graph->edge_count + 1;
    struct dijkstra *dijkstra = calloc(1, sizeof(*dijkstra));
    CHECK(dijkstra != NULL && graph->summary.min_weight >= 0);
    dijkstra->vertex_count = graph->vertex_count;
    dijkstra->first = calloc(n + 1, sizeof(*dijkstra->first));
    dijkstra->arcs = calloc(arcs, sizeof(*dijkstra->arcs));
    dijkstra->distance = calloc(n + 1, sizeof(*dijkstra->distance));
    dijkstra->heap = calloc(arcs + 1, sizeof(*dijkstra->heap));
    CHECK(dijkstra->first && dijkstra->arcs && dijkstra->distance && dijkstra->heap);
    add_arcs(dijkstra, graph, true);
    for (size_t vertex = 1; vertex <= n; ++vertex) {
        dijkstra->first[vertex] += dijkstra->first[vertex - 1];
    }
    add_arcs(dijkstra, graph, false);
    return dijkstra;
}

void dijkstra_destroy(struct dijkstra *dijkstra)
{
    if (dijkstra == NULL) {
        return;
    }
    free(dijkstra->first);
    free(dijkstra->arcs);
    free(dijkstra->distance);
    free(dijkstra->heap);
    free(dijkstra);
}

static void push(struct dijkstra *dijkstra, struct entry entry)
{
    struct entry *heap = dijkstra->heap;
    size_t place = dijkstra->heap_size++;
    while (place > 0 && heap[(place - 1) / 2].distance > entry.distance) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = entry;
}

static struct entry pop(struct dijkstra *dijkstra)
{
    struct entry *heap = dijkstra->heap;
    const struct entry top = heap[0];
    const struct entry last = heap[--dijkstra->heap_size];
    size_t place = 0;
    for (size_t child = 1; child < dijkstra->heap_size; child = 2 * place + 1) {
        if (child + 1 < dijkstra->heap_size && heap[child + 1].distance < heap[child].distance) {
            ++child;
        }
        if (heap[child].distance >= last.distance) {
            break;
        }
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    return top;
}

static void reach(struct dijkstra *dijkstra, uint32_t vertex, double distance)
{
    if (distance < dijkstra->distance[vertex]) {
        dijkstra->distance[vertex] = distance;
        push(dijkstra, (struct entry){distance, vertex});
    }
}

const double *dijkstra_run(struct dijkstra *dijkstra, uint32_t source)
{
    for (uint32_t vertex = 0; vertex < dijkstra->vertex_count; ++vertex) {
        dijkstra->distance[vertex] = INFINITY;
    }
    dijkstra->heap_size = 0;
    reach(dijkstra, source, 0);
    while (dijkstra->heap_size > 0) {
        const struct entry from = pop(dijkstra);
        if (from.distance > dijkstra->distance[from.vertex]) {
            continue;
        }
        for (uint64_t arc = dijkstra->first[from.vertex]; arc < dijkstra->first[from.vertex + 1];
             ++arc) {
            reach(dijkstra, dijkstra->arcs[arc].target, from.distance + dijkstra->arcs[arc].weight);
        }
    }
    return dijkstra->distance;
}
