#include "server/solver/order/strong_components.h"

#include <stdlib.h>
#include <string.h>

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

/* The components are numbered in the order in which the search closes them. */
static enum status number_components(const struct graph *graph, uint32_t *of, uint32_t *ret_count)
{
    const size_t n = graph->vertex_count;
    uint32_t *order = calloc(4 * n + 1, sizeof(*order));
    uint64_t *next = malloc((n + 1) * sizeof(*next));
    const bool enough = order != NULL && next != NULL;
    struct search search = {.graph = graph, .of = of, .order = order, .next = next};
    if (enough) {
        search.low = order + n;
        search.parent = order + 2 * n;
        search.pending = order + 3 * n;
        memset(of, 0xFF, n * sizeof(*of)); /* NO_VERTEX */
    }
    for (uint32_t vertex = 0; enough && vertex < n; vertex++) {
        if (search.order[vertex] == 0) {
            explore(&search, vertex);
        }
    }
    *ret_count = search.component_count;
    free(order);
    free(next);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Vertices component by component: a counting sort. The places run one component ahead while they
 * fill. */
static void list_members(const struct strong_components *components, uint32_t vertex_count,
                         uint32_t *place, uint32_t *ret_member)
{
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        ++place[components->of[vertex] + 1];
    }
    for (uint32_t component = 1; component <= components->count; component++) {
        place[component] += place[component - 1];
    }
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        ret_member[place[components->of[vertex]]++] = vertex;
    }
}

/* member: vertices from the components of lower number, that is from the sinks, up. down: zeroes,
 * one for each component. */
static void find_levels(const struct graph *graph, const uint32_t *member,
                        struct strong_components *components, uint32_t *down)
{
    uint32_t *level = components->level;
    for (uint32_t place = graph->vertex_count; place-- > 0;) {
        const uint32_t vertex = member[place];
        const uint32_t from = components->of[vertex];
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            const uint32_t to = components->of[graph->target[e]];
            if (to != from && level[to] < level[from] + 1) {
                level[to] = level[from] + 1;
            }
        }
    }
    for (uint32_t place = 0; place < graph->vertex_count; place++) {
        const uint32_t vertex = member[place];
        const uint32_t from = components->of[vertex];
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            const uint32_t to = components->of[graph->target[e]];
            if (to != from && down[from] < down[to] + 1) {
                down[from] = down[to] + 1;
            }
        }
    }
    for (uint32_t component = 0; component < components->count; component++) {
        if (level[component] > down[component]) {
            level[component] = 2 * components->count - down[component];
        }
    }
}

enum status strong_components_find(const struct graph *graph,
                                   struct strong_components *ret_components)
{
    const size_t n = graph->vertex_count;
    struct strong_components components = {
        .of = calloc(n + 1, sizeof(*components.of)),
        .level = calloc(n + 1, sizeof(*components.level)),
    };
    uint32_t *place = calloc(3 * n + 2, sizeof(*place));
    enum status status = STATUS_NO_MEMORY;
    if (components.of != NULL && components.level != NULL && place != NULL) {
        status = number_components(graph, components.of, &components.count);
    }
    if (status == STATUS_OK) {
        uint32_t *down = place + n + 2;
        uint32_t *member = down + n;
        list_members(&components, graph->vertex_count, place, member);
        find_levels(graph, member, &components, down);
        *ret_components = components;
    } else {
        strong_components_finish(&components);
    }
    free(place);
    return status;
}

void strong_components_finish(struct strong_components *components)
{
    free(components->of);
    free(components->level);
    *components = (struct strong_components){0};
}
