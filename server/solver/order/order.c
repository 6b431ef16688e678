#include "server/solver/order/order.h"

#include "server/solver/order/leaf.h"
#include "server/solver/order/reduction.h"
#include "server/solver/order/strong_components.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Leaves are ordered by one more thread for each LEAF_THREAD_VERTICES vertices of the core, up to
 * LEAF_THREADS_MAX: starting a thread takes as long as ordering a few leaves. */
#define LEAF_THREADS_MAX 7
#define LEAF_THREAD_VERTICES 4096

/* A connected component of the core. */
struct component {
    uint32_t level;
    uint32_t first; /* index of its first vertex in the list of members */
    uint32_t count;
    bool is_small;
    uint32_t node;
};

/* An order under construction. Until the last step, vertices are numbered as in the core. */
struct making {
    const struct order_options *options;
    struct strong_components strong; /* zeroed if connected components are divided */
    struct pattern whole;
    struct reduction reduction;
    uint32_t *member; /* vertices of the core, grouped by component */
    struct component *components;
    uint32_t component_count;
    struct dissection dissection;
    uint32_t *local;     /* scratch: one entry per vertex */
    uint32_t *node_of;   /* vertex of the graph -> its node in the dissection */
    uint32_t *first;     /* node -> first vertex of the graph eliminated there */
    uint32_t *next;      /* vertex of the graph -> next vertex eliminated at the same node */
    uint32_t *occupancy; /* node -> approximate number of vertices below it */
};

void order_destroy(struct order *order)
{
    if (order == NULL) {
        return;
    }
    free(order->vertex_at);
    free(order->nodes);
    free(order->roots);
    free(order);
}

static int compare_components(const void *a, const void *b)
{
    const struct component *x = a;
    const struct component *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    if (x->is_small != y->is_small) {
        return x->is_small ? 1 : -1;
    }
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Finds the component of vertex start by a breadth-first search, whose queue becomes the
 * component's list of members. of: vertex -> component; NO_NODE if not yet known. */
static void find_component(struct making *making, uint32_t start, uint32_t first, uint32_t *of)
{
    const struct pattern *core = &making->reduction.core;
    struct component *component = &making->components[making->component_count];
    uint32_t *queue = making->member + first;
    uint32_t end = 0;
    uint64_t weight = 0;
    queue[end++] = start;
    of[start] = making->component_count;
    for (uint32_t at = 0; at < end; at++) {
        const uint32_t vertex = queue[at];
        weight += (uint64_t)core->weight[vertex];
        for (int32_t e = core->offset[vertex]; e < core->offset[vertex + 1]; e++) {
            const uint32_t target = (uint32_t)core->target[e];
            if (of[target] == NO_NODE) {
                of[target] = making->component_count;
                queue[end++] = target;
            }
        }
    }
    *component = (struct component){
        .first = first, .count = end, .is_small = weight + end <= DISSECTION_LEAF};
    if (making->options->strong) {
        const struct reduction *reduction = &making->reduction;
        const int32_t vertex = reduction->order[reduction->eliminated + start];
        component->level = making->strong.level[making->strong.of[vertex]];
    }
    making->component_count++;
}

/* Lists the components of the core in order. The small components of a level come last, so that
 * they share tiles. A strong component is connected in the core too, because the edges of the core
 * lie within strong components. Members ascend, which gives better separators for graphs whose
 * numbers follow their geometry. */
static void find_components(struct making *making)
{
    const uint32_t count = making->reduction.core.vertex_count;
    uint32_t *of = making->local;
    uint32_t *place = making->node_of;
    uint32_t first = 0;
    memset(of, 0xFF, count * sizeof(*of));
    for (uint32_t start = 0; start < count; start++) {
        if (of[start] == NO_NODE) {
            place[making->component_count] = first;
            find_component(making, start, first, of);
            first += making->components[making->component_count - 1].count;
        }
    }
    for (uint32_t vertex = 0; vertex < count; vertex++) {
        making->member[place[of[vertex]]++] = vertex;
    }
    qsort(making->components, making->component_count, sizeof(*making->components),
          compare_components);
}

/* Makes the component's tree. begin: position of the component's first vertex in the order. */
static enum status divide_component(struct making *making, struct component *component,
                                    uint32_t begin, bool *ret_partial)
{
    struct dissection *dissection = &making->dissection;
    const uint32_t *members = making->member + component->first;
    struct pattern pattern = {0};
    enum status status = STATUS_OK;
    bool divides = !component->is_small;
    memcpy(dissection->vertex_at + begin, members, component->count * sizeof(*members));
    if (divides) {
        for (uint32_t index = 0; index < component->count; index++) {
            making->local[members[index]] = index;
        }
        status = pattern_cut(&making->reduction.core, members, component->count, making->local,
                             &pattern);
    }
    if (status == STATUS_OK && divides && making->options->thin_only) {
        status = dissection_has_thin_level(&pattern, &divides);
        *ret_partial |= !divides;
    }
    if (status == STATUS_OK && divides) {
        return dissection_divide(dissection, &pattern, begin, &component->node);
    }
    component->node = dissection_add_leaf(dissection, begin, begin + component->count);
    pattern_finish(&pattern);
    return status;
}

/* The leaves of all trees, which threads order at the same time. */
struct leaves {
    const struct making *making;
    atomic_uint next; /* next node to look at */
    atomic_int status;
};

static void *order_some_leaves(void *context)
{
    struct leaves *leaves = context;
    const struct dissection *dissection = &leaves->making->dissection;
    const struct pattern *core = &leaves->making->reduction.core;
    struct leaf_scratch scratch;
    enum status status = leaf_scratch_init(&scratch, core->vertex_count);
    uint32_t i;
    while (status == STATUS_OK &&
           (i = atomic_fetch_add(&leaves->next, 1)) < dissection->node_count) {
        const struct order_node *node = &dissection->nodes[i];
        const uint32_t count = node->end - node->begin;
        if (node->child[0] == NO_NODE && count > 0 && count <= LEAF_VERTICES_MAX) {
            status = leaf_order(&scratch, core, dissection->vertex_at + node->begin, count);
        }
    }
    leaf_scratch_finish(&scratch);
    if (status != STATUS_OK) {
        atomic_store(&leaves->status, (int)status);
    }
    return NULL;
}

static enum status order_leaves(const struct making *making)
{
    struct leaves leaves = {.making = making, .status = STATUS_OK};
    pthread_t threads[LEAF_THREADS_MAX];
    uint32_t count = 0;
    while (count < LEAF_THREADS_MAX &&
           count < making->reduction.core.vertex_count / LEAF_THREAD_VERTICES &&
           count + 1 < making->options->threads &&
           pthread_create(&threads[count], NULL, order_some_leaves, &leaves) == 0) {
        count++;
    }
    order_some_leaves(&leaves);
    while (count > 0) {
        pthread_join(threads[--count], NULL);
    }
    return (enum status)leaves.status;
}

/* Assigns eliminated vertices to nodes. The neighbours of an eliminated vertex are in nodes on one
 * path to the root, and the vertex belongs to the lowest of these nodes. If that node has a
 * separator, the vertex moves down to a leaf, at each node to the side with fewer vertices, which
 * has none of its neighbours. Parents have higher numbers than their children. */
static void place_eliminated(struct making *making)
{
    const struct reduction *reduction = &making->reduction;
    const struct order_node *nodes = making->dissection.nodes;
    const uint32_t node_count = making->dissection.node_count;
    for (uint32_t i = 0; i < node_count; i++) {
        making->occupancy[i] = nodes[i].end - nodes[i].begin;
        making->first[i] = NO_VERTEX;
        for (uint32_t at = nodes[i].separator; at < nodes[i].end; at++) {
            const uint32_t place = reduction->eliminated + making->dissection.vertex_at[at];
            making->node_of[reduction->order[place]] = i;
        }
    }
    for (uint32_t at = reduction->eliminated; at-- > 0;) {
        const uint32_t vertex = (uint32_t)reduction->order[at];
        uint32_t count = 0;
        const int32_t *list = reduction_neighbours(reduction, vertex, &count);
        uint32_t node = NO_NODE;
        for (uint32_t i = 0; i < count; i++) {
            node = making->node_of[list[i]] < node ? making->node_of[list[i]] : node;
        }
        making->occupancy[node]++;
        while (nodes[node].child[0] != NO_NODE) {
            const uint32_t *child = nodes[node].child;
            node = child[making->occupancy[child[1]] < making->occupancy[child[0]]];
            making->occupancy[node]++;
        }
        making->node_of[vertex] = node;
        making->next[vertex] = making->first[node];
        making->first[node] = vertex;
    }
}

/* Appends the vertices of a subtree, and its nodes, each after its children. Recursion is as deep
 * as the tree. */
static uint32_t append_node(const struct making *making, uint32_t node, uint32_t *at,
                            struct order *order)
{
    const struct reduction *reduction = &making->reduction;
    const struct order_node *from = &making->dissection.nodes[node];
    struct order_node to = {.begin = *at, .child = {NO_NODE, NO_NODE}};
    for (int side = 0; side < 2 && from->child[side] != NO_NODE; side++) {
        to.child[side] = append_node(making, from->child[side], at, order);
    }
    to.separator = *at;
    for (uint32_t v = making->first[node]; v != NO_VERTEX; v = making->next[v]) {
        order->vertex_at[(*at)++] = v;
    }
    for (uint32_t i = from->separator; i < from->end; i++) {
        const uint32_t place = reduction->eliminated + making->dissection.vertex_at[i];
        order->vertex_at[(*at)++] = (uint32_t)reduction->order[place];
    }
    to.end = *at;
    if (to.child[0] != NO_NODE && to.end - to.separator > order->largest_separator) {
        order->largest_separator = to.end - to.separator;
    }
    order->nodes[order->node_count] = to;
    return order->node_count++;
}

static enum status make_trees(struct making *making, struct order *order)
{
    const uint32_t node_count = making->dissection.node_count;
    uint32_t at = 0;
    order->nodes = malloc(((size_t)node_count + 1) * sizeof(*order->nodes));
    order->roots = malloc(((size_t)making->component_count + 1) * sizeof(*order->roots));
    making->first = malloc(((size_t)node_count + 1) * 2 * sizeof(*making->first));
    if (order->nodes == NULL || order->roots == NULL || making->first == NULL) {
        return STATUS_NO_MEMORY;
    }
    making->occupancy = making->first + node_count;
    place_eliminated(making);
    for (uint32_t i = 0; i < making->component_count; i++) {
        const struct component *component = &making->components[i];
        order->roots[order->root_count++] = (struct order_root){
            .node = append_node(making, component->node, &at, order), .level = component->level};
    }
    CHECK(at == order->vertex_count);
    return STATUS_OK;
}

static enum status find_core(struct making *making, const struct graph *graph)
{
    if (graph->vertex_count > INT32_MAX || graph->edge_count > INT32_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    const size_t n = (size_t)graph->vertex_count + 1;
    making->local = malloc(3 * n * sizeof(*making->local));
    if (making->local == NULL) {
        return STATUS_NO_MEMORY;
    }
    making->node_of = making->local + n;
    making->next = making->node_of + n;
    if (making->options->strong) {
        STATUS_TRY(strong_components_find(graph, &making->strong));
    }
    STATUS_TRY(pattern_make(graph, making->strong.of, making->local, &making->whole));
    STATUS_TRY(reduction_make(&making->whole, &making->reduction));
    const size_t left = (size_t)making->reduction.core.vertex_count + 1;
    making->member = malloc(left * sizeof(*making->member));
    making->components = malloc(left * sizeof(*making->components));
    making->dissection.vertex_at = malloc(left * sizeof(*making->dissection.vertex_at));
    making->dissection.nodes = malloc(2 * left * sizeof(*making->dissection.nodes));
    return making->member != NULL && making->components != NULL &&
                   making->dissection.vertex_at != NULL && making->dissection.nodes != NULL
               ? STATUS_OK
               : STATUS_NO_MEMORY;
}

static enum status fill_order(struct making *making, const struct graph *graph, struct order *order)
{
    uint32_t begin = 0;
    order->vertex_at = malloc(((size_t)graph->vertex_count + 1) * sizeof(*order->vertex_at));
    if (order->vertex_at == NULL) {
        return STATUS_NO_MEMORY;
    }
    STATUS_TRY(find_core(making, graph));
    find_components(making);
    for (uint32_t i = 0; i < making->component_count; i++) {
        STATUS_TRY(divide_component(making, &making->components[i], begin, &order->partial));
        begin += making->components[i].count;
    }
    STATUS_TRY(order_leaves(making));
    return make_trees(making, order);
}

static void finish_making(struct making *making)
{
    strong_components_finish(&making->strong);
    pattern_finish(&making->whole);
    reduction_finish(&making->reduction);
    free(making->member);
    free(making->components);
    free(making->dissection.vertex_at);
    free(making->dissection.nodes);
    free(making->local);
    free(making->first);
}

enum status order_make(const struct graph *graph, const struct order_options *options,
                       struct order **ret_order)
{
    const bool is_large = graph->vertex_count > DISSECTION_LARGE_VERTICES;
    const bool is_wide = options->threads > DISSECTION_THREADS_MAX;
    struct making making = {
        .options = options,
        .dissection = {.leaf = is_large ? DISSECTION_LEAF_LARGE : DISSECTION_LEAF,
                       .idle = (is_wide ? DISSECTION_THREADS_MAX : options->threads) - 1,
                       .observer = options->observer}};
    CHECK(options->threads >= 1);
    struct order *order = calloc(1, sizeof(*order));
    if (order == NULL) {
        return STATUS_NO_MEMORY;
    }
    order->vertex_count = graph->vertex_count;
    const enum status status = fill_order(&making, graph, order);
    order->strong = options->strong && order->root_count > 1;
    finish_making(&making);
    if (status != STATUS_OK) {
        order_destroy(order);
        return status;
    }
    *ret_order = order;
    return STATUS_OK;
}
