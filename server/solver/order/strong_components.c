#include "server/solver/order/strong_components.h"

#include <stdlib.h>
#include <string.h>

/* State of the depth-first search over all vertices. */
struct search {
    const struct graph *graph;
    uint32_t *of;
    uint32_t *order;   /* 1-based time at which a vertex was first visited; 0 = not visited */
    uint32_t *low;     /* lowest time of a pending vertex that the subtree of a vertex reaches */
    uint32_t *parent;  /* parent in the search tree */
    uint32_t *pending; /* stack of vertices without a component */
    uint32_t *member;  /* vertices of the completed components, by component number */
    uint64_t *next;    /* next edge to follow from a vertex */
    uint32_t seen;
    uint32_t pending_count;
    uint32_t member_count;
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

/* Visits all unvisited vertices that the root reaches. */
static void explore(struct search *search, uint32_t root)
{
    const struct graph *graph = search->graph;
    uint32_t *low = search->low;
    uint32_t vertex = root;
    enter(search, root, NO_VERTEX);
    while (vertex != NO_VERTEX) {
        uint32_t unseen = NO_VERTEX;
        while (unseen == NO_VERTEX && search->next[vertex] < graph->row_offset[vertex + 1]) {
            const uint32_t target = graph->target[search->next[vertex]++];
            if (search->order[target] == 0) {
                unseen = target;
            } else if (search->of[target] == NO_VERTEX && search->order[target] < low[vertex]) {
                low[vertex] = search->order[target];
            }
        }
        if (unseen != NO_VERTEX) {
            enter(search, unseen, vertex);
            vertex = unseen;
            continue;
        }
        /* A vertex whose subtree has no edge to an earlier vertex completes a component. */
        const uint32_t parent = search->parent[vertex];
        if (low[vertex] == search->order[vertex]) {
            uint32_t member;
            do {
                member = search->pending[--search->pending_count];
                search->of[member] = search->component_count;
                search->member[search->member_count++] = member;
            } while (member != vertex);
            search->component_count++;
        } else if (low[vertex] < low[parent]) {
            low[parent] = low[vertex];
        }
        vertex = parent;
    }
}

/* Numbers the components in the order in which the search completes them. */
static enum status number_components(const struct graph *graph, uint32_t *of, uint32_t *member,
                                     uint32_t *ret_count)
{
    const size_t n = graph->vertex_count;
    uint32_t *order = calloc(4 * n + 1, sizeof(*order));
    uint64_t *next = malloc((n + 1) * sizeof(*next));
    const bool enough = order != NULL && next != NULL;
    struct search search = {
        .graph = graph, .of = of, .member = member, .order = order, .next = next};
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

/* Computes the levels. member: vertices by component number, from the sinks up. down: zeroed, one
 * entry per component. */
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
    uint32_t *down = calloc(2 * n + 1, sizeof(*down));
    enum status status = STATUS_NO_MEMORY;
    if (components.of != NULL && components.level != NULL && down != NULL) {
        status = number_components(graph, components.of, down + n, &components.count);
    }
    if (status == STATUS_OK) {
        find_levels(graph, down + n, &components, down);
        *ret_components = components;
    } else {
        strong_components_finish(&components);
    }
    free(down);
    return status;
}

void strong_components_finish(struct strong_components *components)
{
    free(components->of);
    free(components->level);
    *components = (struct strong_components){0};
}
