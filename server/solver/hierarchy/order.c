/* First vertices with at most two neighbours, again and again: that leaves less than half of a road
 * network, and no fill that any order could avoid. Then nested dissection down to leaves of
 * some tens of vertices; in a leaf the vertex with the fewest neighbours goes first, those around
 * the leaf counted, by bit sets of leaf and surroundings. */
#include "server/solver/hierarchy/elimination.h"

#include "server/solver/plan/dissection.h"

#include <stdlib.h>
#include <string.h>

#define LEAF 64
/* A leaf that could not be divided, and is larger than this, keeps its order: there is no good one.
 */
#define LEAF_MAX 2048
#define WORD 64

struct leaf {
    const struct pattern *pattern;
    uint32_t *local; /* of each vertex, UINT32_MAX outside; reset after each leaf */
    uint32_t *member;
    uint32_t count; /* of the leaf */
    uint32_t known; /* with its surroundings */
    uint64_t *bits; /* count rows of `words` */
    size_t bits_capacity;
    uint32_t words;
};

static uint32_t local_of(struct leaf *leaf, uint32_t vertex)
{
    if (leaf->local[vertex] == UINT32_MAX) {
        leaf->local[vertex] = leaf->known;
        leaf->member[leaf->known++] = vertex;
    }
    return leaf->local[vertex];
}

/* Numbers everything that an edge of the leaf meets; then sets a bit for each such edge. */
static void meet_edges(struct leaf *leaf, bool set)
{
    const struct pattern *pattern = leaf->pattern;
    for (uint32_t i = 0; i < leaf->count; i++) {
        const uint32_t vertex = leaf->member[i];
        uint64_t *row = leaf->bits + (size_t)i * leaf->words;
        for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; e++) {
            const uint32_t other = local_of(leaf, (uint32_t)pattern->target[e]);
            if (set) {
                row[other / WORD] |= UINT64_C(1) << other % WORD;
            }
        }
    }
}

static uint32_t degree(const struct leaf *leaf, uint32_t i)
{
    const uint64_t *row = leaf->bits + (size_t)i * leaf->words;
    uint32_t bits = 0;
    for (uint32_t word = 0; word < leaf->words; word++) {
        bits += (uint32_t)__builtin_popcountll(row[word]);
    }
    return bits;
}

static void eliminate(struct leaf *leaf, uint32_t v, const bool *gone)
{
    const uint64_t *row = leaf->bits + (size_t)v * leaf->words;
    for (uint32_t i = 0; i < leaf->count; i++) {
        if (i != v && !gone[i] && (row[i / WORD] >> i % WORD & 1) != 0) {
            uint64_t *to = leaf->bits + (size_t)i * leaf->words;
            for (uint32_t word = 0; word < leaf->words; word++) {
                to[word] |= row[word];
            }
            to[v / WORD] &= ~(UINT64_C(1) << v % WORD);
            to[i / WORD] &= ~(UINT64_C(1) << i % WORD);
        }
    }
}

static enum status order_leaf(struct leaf *leaf, uint32_t *vertices, uint32_t count)
{
    bool *gone = calloc((size_t)count + 1, sizeof(*gone));
    uint32_t *degrees = malloc(((size_t)count + 1) * sizeof(*degrees));
    leaf->count = count;
    leaf->known = 0;
    for (uint32_t i = 0; i < count; i++) {
        local_of(leaf, vertices[i]);
    }
    leaf->words = 0;
    meet_edges(leaf, false);
    leaf->words = (leaf->known + WORD - 1) / WORD;
    const size_t size = (size_t)count * leaf->words;
    if (size > leaf->bits_capacity) {
        free(leaf->bits);
        leaf->bits = malloc(size * sizeof(*leaf->bits));
        leaf->bits_capacity = leaf->bits != NULL ? size : 0;
    }
    const bool enough = gone != NULL && degrees != NULL && (leaf->bits != NULL || size == 0);
    if (enough) {
        memset(leaf->bits, 0, size * sizeof(*leaf->bits));
        meet_edges(leaf, true);
        for (uint32_t i = 0; i < count; i++) {
            degrees[i] = degree(leaf, i);
        }
        for (uint32_t at = 0; at < count; at++) {
            uint32_t best = UINT32_MAX;
            for (uint32_t i = 0; i < count; i++) {
                if (!gone[i] && (best == UINT32_MAX || degrees[i] < degrees[best])) {
                    best = i;
                }
            }
            vertices[at] = leaf->member[best];
            gone[best] = true;
            eliminate(leaf, best, gone);
            const uint64_t *row = leaf->bits + (size_t)best * leaf->words;
            for (uint32_t i = 0; i < count; i++) {
                if (!gone[i] && (row[i / WORD] >> i % WORD & 1) != 0) {
                    degrees[i] = degree(leaf, i);
                }
            }
        }
    }
    for (uint32_t i = 0; i < leaf->known; i++) {
        leaf->local[leaf->member[i]] = UINT32_MAX;
    }
    free(gone);
    free(degrees);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}

/* ---- All of it ---- */

/* The undirected graph of a pattern, without weights. */
static enum status make_graph(const struct pattern *pattern, struct graph *ret_graph)
{
    const uint32_t n = pattern->vertex_count;
    const size_t entries = (size_t)pattern->offset[n];
    *ret_graph = (struct graph){
        .vertex_count = n,
        .row_offset = malloc(((size_t)n + 1) * sizeof(*ret_graph->row_offset)),
        .target = malloc((entries / 2 + 1) * sizeof(*ret_graph->target)),
    };
    if (ret_graph->row_offset == NULL || ret_graph->target == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        ret_graph->row_offset[vertex] = ret_graph->edge_count;
        for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; e++) {
            const uint32_t target = (uint32_t)pattern->target[e];
            if (target > vertex) {
                ret_graph->target[ret_graph->edge_count++] = target;
            }
        }
    }
    ret_graph->row_offset[n] = ret_graph->edge_count;
    return STATUS_OK;
}

/* ret_at: the order of the pattern's vertices. */
static enum status order_core(const struct pattern *core, uint32_t threads,
                              const struct observer *observer, uint32_t *ret_at)
{
    const struct dissection_options options = {
        .leaf = LEAF, .threads = threads, .observer = observer};
    const size_t n = core->vertex_count;
    struct dissection *dissection = NULL;
    struct graph graph;
    enum status status = make_graph(core, &graph);
    if (status == STATUS_OK) {
        status = dissection_make(&graph, &options, &dissection);
    }
    free(graph.row_offset);
    free(graph.target);
    struct leaf leaf = {.pattern = core,
                        .local = malloc((n + 1) * sizeof(*leaf.local)),
                        .member = malloc((n + 1) * sizeof(*leaf.member))};
    if (leaf.local == NULL || leaf.member == NULL) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) {
        memset(leaf.local, 0xFF, n * sizeof(*leaf.local));
        memcpy(ret_at, dissection->vertex_at, n * sizeof(*ret_at));
    }
    for (uint32_t i = 0; status == STATUS_OK && i < dissection->node_count; i++) {
        const struct dissection_node *node = &dissection->nodes[i];
        if (node->child[0] == NO_NODE && node->end - node->begin <= LEAF_MAX) {
            status = order_leaf(&leaf, ret_at + node->begin, node->end - node->begin);
        }
    }
    free(leaf.local);
    free(leaf.member);
    free(leaf.bits);
    dissection_destroy(dissection);
    return status;
}

enum status hierarchy_order(const struct graph *graph, uint32_t threads,
                            const struct observer *observer, uint32_t *ret_at)
{
    const uint32_t n = graph->vertex_count;
    struct pattern whole = {0};
    struct reduction reduction = {0};
    if (n > INT32_MAX || graph->edge_count > INT32_MAX / 2) {
        return STATUS_TOO_LARGE;
    }
    uint32_t *core_at = malloc(((size_t)n + 1) * sizeof(*core_at));
    enum status status = core_at != NULL ? pattern_mirror(graph, NULL, &whole) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        pattern_drop_parallel(&whole, core_at);
        status = reduction_make(&whole, &reduction);
    }
    if (status == STATUS_OK) {
        status = order_core(&reduction.core, threads, observer, core_at);
    }
    for (uint32_t at = 0; status == STATUS_OK && at < n; at++) {
        const uint32_t first = reduction.eliminated;
        ret_at[at] = (uint32_t)reduction.order[at < first ? at : first + core_at[at - first]];
    }
    reduction_finish(&reduction);
    pattern_finish(&whole);
    free(core_at);
    return status;
}
