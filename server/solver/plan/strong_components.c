#include "server/solver/plan/dissection.h"

#include <stdlib.h>

/* One depth-first search over all vertices. */
struct search {
    const struct graph *graph;
    uint32_t *of;
    uint32_t *order;   /* when a vertex was first seen, from 1; 0 = not yet */
    uint32_t *low;     /* the earliest vertex that its subtree reaches, by order */
    uint32_t *parent;  /* in the tree of the search: the way back */
    uint32_t *pending; /* stack of the vertices that have no component yet */
    uint64_t *next;    /* the edge to look at when the search comes back */
    uint32_t seen;
    uint32_t pending_count;
    uint32_t component_count;
};

static void enter(struct search *search, uint32_t vertex, uint32_t parent)
{
    search->order[vertex] = ++search->seen;
    search->low[vertex] = search->seen;
    search->parent[vertex] = parent;
    search->next[vertex] = search->graph->row_offset[vertex];
    search->pending[search->pending_count++] = vertex;
}

static void lower(uint32_t *low, uint32_t order)
{
    if (order < *low) {
        *low = order;
    }
}

/* All vertices that the root reaches and that were not seen before. */
static void explore(struct search *search, uint32_t root)
{
    const struct graph *graph = search->graph;
    uint32_t vertex = root;
    enter(search, root, NO_VERTEX);
    while (vertex != NO_VERTEX) {
        uint32_t unseen = NO_VERTEX;
        while (unseen == NO_VERTEX && search->next[vertex] < graph->row_offset[vertex + 1]) {
            const uint32_t target = graph->target[search->next[vertex]++];
            if (search->order[target] == 0) {
                unseen = target;
            } else if (search->of[target] == NO_VERTEX) {
                lower(&search->low[vertex], search->order[target]);
            }
        }
        if (unseen != NO_VERTEX) {
            enter(search, unseen, vertex);
            vertex = unseen;
            continue;
        }
        /* Everything of the vertex is seen: it closes a component when nothing earlier is in
         * reach. */
        const uint32_t parent = search->parent[vertex];
        if (search->low[vertex] == search->order[vertex]) {
            uint32_t member;
            do {
                member = search->pending[--search->pending_count];
                search->of[member] = search->component_count;
            } while (member != vertex);
            search->component_count++;
        } else {
            lower(&search->low[parent], search->low[vertex]);
        }
        vertex = parent;
    }
}

static enum status number_directed(const struct graph *graph, uint32_t *of, uint32_t *ret_count)
{
    const size_t n = graph->vertex_count;
    struct search search = {
        .graph = graph,
        .of = of,
        .order = calloc(n + 1, sizeof(*search.order)),
        .low = calloc(n + 1, sizeof(*search.low)),
        .parent = calloc(n + 1, sizeof(*search.parent)),
        .pending = calloc(n + 1, sizeof(*search.pending)),
        .next = calloc(n + 1, sizeof(*search.next)),
    };
    const bool enough = search.order != NULL && search.low != NULL && search.parent != NULL &&
                        search.pending != NULL && search.next != NULL;
    for (uint32_t vertex = 0; enough && vertex < n; vertex++) {
        of[vertex] = NO_VERTEX;
    }
    for (uint32_t vertex = 0; enough && vertex < n; vertex++) {
        if (search.order[vertex] == 0) {
            explore(&search, vertex);
        }
    }
    *ret_count = search.component_count;
    free(search.order);
    free(search.low);
    free(search.parent);
    free(search.pending);
    free(search.next);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}

static uint32_t find_root(uint32_t *parent, uint32_t vertex)
{
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
}

/* Union by lower number, so that a root comes before all of its set. */
static uint32_t number_undirected(const struct graph *graph, uint32_t *of)
{
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        of[vertex] = vertex;
    }
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        for (uint64_t edge = graph->row_offset[vertex]; edge < graph->row_offset[vertex + 1];
             edge++) {
            const uint32_t a = find_root(of, vertex);
            const uint32_t b = find_root(of, graph->target[edge]);
            of[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t vertex = 0; vertex < graph->vertex_count; vertex++) {
        of[vertex] = of[vertex] == vertex ? count++ : of[of[vertex]];
    }
    return count;
}

/* A counting sort; first[] runs one place ahead while it fills. */
static void group(struct strong_components *components, uint32_t vertex_count)
{
    uint32_t *const first = components->first;
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        ++first[components->of[vertex] + 2];
    }
    for (uint32_t component = 2; component <= components->count; component++) {
        first[component] += first[component - 1];
    }
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        components->member[first[components->of[vertex] + 1]++] = vertex;
    }
}

enum status strong_components_find(const struct graph *graph,
                                   struct strong_components *ret_components)
{
    const size_t n = graph->vertex_count;
    struct strong_components components = {
        .of = calloc(n + 1, sizeof(*components.of)),
        .member = calloc(n + 1, sizeof(*components.member)),
        .first = calloc(n + 2, sizeof(*components.first)),
    };
    enum status status = STATUS_NO_MEMORY;
    if (components.of != NULL && components.member != NULL && components.first != NULL) {
        status = STATUS_OK;
        if (graph->directed) {
            status = number_directed(graph, components.of, &components.count);
        } else {
            components.count = number_undirected(graph, components.of);
        }
    }
    if (status != STATUS_OK) {
        strong_components_finish(&components);
        return status;
    }
    group(&components, graph->vertex_count);
    *ret_components = components;
    return STATUS_OK;
}

void strong_components_finish(struct strong_components *components)
{
    free(components->of);
    free(components->member);
    free(components->first);
    *components = (struct strong_components){0};
}
