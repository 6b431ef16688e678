/* Negative cycles by Bellman-Ford from a virtual source with an arc of length 0 to every vertex, so
 * all distances start at 0. After some passes the predecessor graph is searched for a cycle
 * (Cherkassky and Goldberg, Negative-cycle detection algorithms, 1999). */
#include "proto/graph_cycle.h"

#include "proto/number.h"

#include <stdio.h>
#include <stdlib.h>

/* Each of the first passes is followed by a search for a cycle. Later searches are rare, because
 * most cycles appear early and a search after every pass would take most of the time. */
#define EAGER_PASSES 16

__extension__ typedef __int128 wide;

/* Limit on the digits of a scaled weight. A path has fewer than 2^26 edges, so the sum of its
 * weights is below 10^37 and fits 128 bits. */
#define WEIGHT_DIGITS 29
#define HALF_DIGITS UINT64_C(1000000000000000000) /* 10^18 */

struct search {
    const struct graph *graph;
    wide *weight; /* weight of each edge: the shortest decimal that parses to it, times 10^decimals,
                     without its fraction; NULL: use weight_i4 */
    int decimals;
    wide *distance;
    uint32_t *parent; /* predecessor of each vertex; NO_VERTEX = the virtual source */
    bool *active;     /* the distance has fallen since the vertex's edges were last relaxed */
    uint32_t *mark;   /* number of the walk that last visited the vertex; 0 = none */
};

/* Returns the exponent of a power of ten that makes all weights integers or, if these would be too
 * long, an exponent with which the largest weight has at most WEIGHT_DIGITS digits. */
static int find_decimals(const struct graph *graph)
{
    int lowest = INT32_MAX;
    int highest = INT32_MIN;
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        const struct number_decimal decimal = number_decimal(graph->weight_f8[edge]);
        if (decimal.digits != 0) {
            lowest = decimal.exponent < lowest ? decimal.exponent : lowest;
            highest = decimal.exponent > highest ? decimal.exponent : highest;
        }
    }
    const int most = WEIGHT_DIGITS - NUMBER_DIGITS;
    return lowest > highest ? 0 : highest - lowest > most ? most - highest : -lowest;
}

static enum status scale_weights(struct search *search)
{
    const struct graph *graph = search->graph;
    if (graph->weight_type == WEIGHT_INTEGER) {
        return STATUS_OK;
    }
    search->weight = malloc(((size_t)graph->edge_count + 1) * sizeof(*search->weight));
    if (search->weight == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->decimals = find_decimals(graph);
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        const struct number_decimal decimal = number_decimal(graph->weight_f8[edge]);
        wide weight = decimal.digits;
        for (int at = decimal.exponent; at > -search->decimals; at--) {
            weight *= 10;
        }
        for (int at = decimal.exponent; at < -search->decimals && weight != 0; at++) {
            weight /= 10;
        }
        search->weight[edge] = weight;
    }
    return STATUS_OK;
}

static wide weight_at(const struct search *search, uint64_t edge)
{
    return search->weight != NULL ? search->weight[edge] : search->graph->weight_i4[edge];
}

/* Returns the double nearest to sum / 10^decimals. */
static double value_of(const struct search *search, wide sum)
{
    const wide size = sum < 0 ? -sum : sum;
    char text[64];
    snprintf(text, sizeof(text), "%s%llu%018llue%d", sum < 0 ? "-" : "",
             (unsigned long long)(size / HALF_DIGITS), (unsigned long long)(size % HALF_DIGITS),
             -search->decimals);
    return strtod(text, NULL);
}

static bool relax_from(struct search *search, uint32_t u)
{
    const struct graph *graph = search->graph;
    bool changed = false;

    search->active[u] = false;
    for (uint64_t e = graph->row_offset[u]; e < graph->row_offset[u + 1]; e++) {
        const uint32_t v = graph->target[e];
        const wide through = search->distance[u] + weight_at(search, e);
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

/* Relaxes the edges of all active vertices. Passes alternate between ascending and descending
 * vertices, because a path whose vertices are numbered in order, as is common in road networks,
 * needs only one pass in that direction (Yen 1970). */
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

/* Returns the number of edges of the predecessor cycle through v, and the sum of its weights. */
static size_t measure_cycle(const struct search *search, uint32_t v, wide *ret_sum)
{
    size_t length = 0;
    uint32_t at = v;

    *ret_sum = 0;
    do {
        const uint32_t parent = search->parent[at];

        *ret_sum += weight_at(search, graph_find_edge(search->graph, parent, at));
        length++;
        at = parent;
    } while (at != v);
    return length;
}

/* Returns a vertex on a cycle of the predecessor graph, or NO_VERTEX. Such a cycle is negative. */
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
            return at;
        }
    }
    return NO_VERTEX;
}

static enum status copy_cycle(const struct search *search, uint32_t v,
                              struct negative_cycle *ret_cycle)
{
    wide sum;
    const size_t length = measure_cycle(search, v, &sum);
    uint32_t *vertices = calloc(length, sizeof(*vertices));

    if (vertices == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = length; i > 0; i--) {
        vertices[i - 1] = v;
        v = search->parent[v];
    }
    *ret_cycle = (struct negative_cycle){vertices, length, value_of(search, sum)};
    return STATUS_OK;
}

/* Stores a cycle of one edge. A loop has one vertex; a negative edge of an undirected graph, walked
 * back and forth, has two. */
static enum status copy_edge(uint32_t source, uint32_t target, double weight,
                             struct negative_cycle *ret_cycle)
{
    const size_t length = source == target ? 1 : 2;
    uint32_t *vertices = calloc(2, sizeof(*vertices));

    if (vertices == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertices[0] = source;
    vertices[1] = target;
    *ret_cycle = (struct negative_cycle){vertices, length, weight * (double)length};
    return STATUS_OK;
}

static enum status find_negative_edge(const struct graph *graph, struct negative_cycle *ret_cycle)
{
    for (uint32_t u = 0; u < graph->vertex_count; u++) {
        for (uint64_t e = graph->row_offset[u]; e < graph->row_offset[u + 1]; e++) {
            if (graph_weight(graph, e) < 0) {
                return copy_edge(u, graph->target[e], graph_weight(graph, e), ret_cycle);
            }
        }
    }
    return STATUS_OK;
}

static enum status search_cycle(struct search *search, const struct observer *observer,
                                struct negative_cycle *ret_cycle)
{
    uint32_t count = search->graph->vertex_count;

    search->distance = calloc(count, sizeof(*search->distance));
    search->parent = calloc(count, sizeof(*search->parent));
    search->active = calloc(count, sizeof(*search->active));
    search->mark = calloc(count, sizeof(*search->mark));
    STATUS_TRY(scale_weights(search));
    if (search->distance == NULL || search->parent == NULL || search->active == NULL ||
        search->mark == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t v = 0; v < count; v++) {
        search->parent[v] = NO_VERTEX;
        search->active[v] = true;
    }
    /* If pass number `count`, from 0, still changes a distance, a negative cycle exists. */
    for (uint32_t pass = 0; pass <= count && relax_all(search, pass % 2 == 1); pass++) {
        if (observer_is_cancelled(observer)) {
            return STATUS_CANCELLED;
        }
        bool look = pass < EAGER_PASSES || pass % EAGER_PASSES == 0 || pass == count;
        uint32_t v = look ? find_cycle(search) : NO_VERTEX;

        if (v != NO_VERTEX) {
            return copy_cycle(search, v, ret_cycle);
        }
    }
    return STATUS_OK;
}

enum status graph_negative_cycle(const struct graph *graph, const struct observer *observer,
                                 struct negative_cycle *ret_cycle)
{
    const struct graph_summary *summary = &graph->summary;
    struct search search = {.graph = graph};

    *ret_cycle = (struct negative_cycle){0};
    if (summary->negative_loop != NO_VERTEX) {
        return copy_edge(summary->negative_loop, summary->negative_loop,
                         summary->negative_loop_weight, ret_cycle);
    }
    if (!summary->negative) {
        return STATUS_OK;
    }
    if (!graph->directed) {
        return find_negative_edge(graph, ret_cycle);
    }
    const enum status status = search_cycle(&search, observer, ret_cycle);
    free(search.weight);
    free(search.distance);
    free(search.parent);
    free(search.active);
    free(search.mark);
    return status;
}
