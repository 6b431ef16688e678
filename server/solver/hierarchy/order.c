/* First every vertex with at most two neighbours, again and again: that leaves less than half of a
 * road network, and no fill that any order could avoid. Then nested dissection down to leaves of
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
    const struct graph *graph;
    const uint64_t *back_offset; /* edges by target */
    const uint32_t *back;
    uint32_t *local; /* of each vertex, UINT32_MAX outside; reset after each leaf */
    uint32_t *member;
    uint32_t count; /* of the leaf */
    uint32_t known; /* with its surroundings */
    uint64_t *bits; /* count rows of `words` */
    size_t bits_capacity;
    uint32_t words;
};

static enum status reverse_edges(const struct graph *graph, uint64_t **ret_offset,
                                 uint32_t **ret_back)
{
    const uint32_t n = graph->vertex_count;
    uint64_t *offset = calloc((size_t)n + 2, sizeof(*offset));
    uint32_t *back = malloc((graph->edge_count + 1) * sizeof(*back));
    if (offset == NULL || back == NULL) {
        free(offset);
        free(back);
        return STATUS_NO_MEMORY;
    }
    for (uint64_t edge = 0; edge < graph->edge_count; edge++) {
        offset[graph->target[edge] + 2]++;
    }
    for (uint32_t vertex = 2; vertex <= n; vertex++) {
        offset[vertex] += offset[vertex - 1];
    }
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
            back[offset[graph->target[e] + 1]++] = vertex;
        }
    }
    *ret_offset = offset;
    *ret_back = back;
    return STATUS_OK;
}

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
    const struct graph *graph = leaf->graph;
    for (uint32_t i = 0; i < leaf->count; i++) {
        const uint32_t vertex = leaf->member[i];
        uint64_t *row = leaf->bits + (size_t)i * leaf->words;
        const uint64_t from[2] = {graph->row_offset[vertex], leaf->back_offset[vertex]};
        const uint64_t to[2] = {graph->row_offset[vertex + 1], leaf->back_offset[vertex + 1]};
        const uint32_t *const list[2] = {graph->target, leaf->back};
        for (int way = 0; way < 2; way++) {
            for (uint64_t e = from[way]; e < to[way]; e++) {
                const uint32_t other = local_of(leaf, list[way][e]);
                if (set) {
                    row[other / WORD] |= UINT64_C(1) << other % WORD;
                }
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

/* ---- Vertices of few neighbours ---- */

/* The neighbours of each vertex that is left: those of a list are its first `degree`. */
struct rest {
    uint64_t *offset;
    uint32_t *neighbour;
    uint32_t *degree; /* GONE once eliminated */
    uint32_t *queue;
    size_t queue_end;
};

#define GONE UINT32_MAX

static void rest_finish(struct rest *rest)
{
    free(rest->offset);
    free(rest->neighbour);
    free(rest->degree);
    free(rest->queue);
}

static enum status rest_init(const struct graph *graph, const uint64_t *back_offset,
                             const uint32_t *back, struct rest *rest)
{
    const uint32_t n = graph->vertex_count;
    *rest = (struct rest){
        .offset = malloc(((size_t)n + 1) * sizeof(*rest->offset)),
        .neighbour = malloc((2 * graph->edge_count + 1) * sizeof(*rest->neighbour)),
        .degree = malloc(((size_t)n + 1) * sizeof(*rest->degree)),
        .queue = malloc(((size_t)n + 1) * sizeof(*rest->queue)),
    };
    if (rest->offset == NULL || rest->neighbour == NULL || rest->degree == NULL ||
        rest->queue == NULL) {
        return STATUS_NO_MEMORY;
    }
    uint64_t at = 0;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        const uint64_t end = graph->row_offset[vertex + 1];
        const uint64_t back_end = back_offset[vertex + 1];
        uint64_t a = graph->row_offset[vertex];
        uint64_t b = back_offset[vertex];
        rest->offset[vertex] = at;
        /* Both ascend: what is in both is taken once. */
        while (a < end || b < back_end) {
            const uint32_t to = a < end ? graph->target[a] : UINT32_MAX;
            const uint32_t from = b < back_end ? back[b] : UINT32_MAX;
            rest->neighbour[at++] = to < from ? to : from;
            a += to <= from;
            b += from <= to;
        }
        rest->degree[vertex] = (uint32_t)(at - rest->offset[vertex]);
    }
    return STATUS_OK;
}

static uint32_t *find_neighbour(const struct rest *rest, uint32_t of, uint32_t vertex)
{
    uint32_t *list = rest->neighbour + rest->offset[of];
    for (uint32_t i = 0; i < rest->degree[of]; i++) {
        if (list[i] == vertex) {
            return &list[i];
        }
    }
    return NULL;
}

static void drop_neighbour(struct rest *rest, uint32_t of, uint32_t vertex)
{
    const uint32_t *list = rest->neighbour + rest->offset[of];
    uint32_t *place = find_neighbour(rest, of, vertex);
    *place = list[--rest->degree[of]];
    if (rest->degree[of] == 2) {
        rest->queue[rest->queue_end++] = of;
    }
}

/* The neighbours of a vertex of two become neighbours: a list gets no longer. */
static void eliminate_vertex(struct rest *rest, uint32_t vertex)
{
    const uint32_t *list = rest->neighbour + rest->offset[vertex];
    const uint32_t degree = rest->degree[vertex];
    rest->degree[vertex] = GONE;
    if (degree == 1) {
        drop_neighbour(rest, list[0], vertex);
    } else if (degree == 2 && find_neighbour(rest, list[0], list[1]) != NULL) {
        drop_neighbour(rest, list[0], vertex);
        drop_neighbour(rest, list[1], vertex);
    } else if (degree == 2) {
        *find_neighbour(rest, list[0], vertex) = list[1];
        *find_neighbour(rest, list[1], vertex) = list[0];
    }
}

/* Returns how many were eliminated: their order, then the others, is in the queue. */
static uint32_t eliminate_few(struct rest *rest, uint32_t vertex_count)
{
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        if (rest->degree[vertex] <= 2) {
            rest->queue[rest->queue_end++] = vertex;
        }
    }
    for (size_t at = 0; at < rest->queue_end; at++) {
        eliminate_vertex(rest, rest->queue[at]);
    }
    const uint32_t count = (uint32_t)rest->queue_end;
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        if (rest->degree[vertex] != GONE) {
            rest->queue[rest->queue_end++] = vertex;
        }
    }
    return count;
}

/* The undirected graph of those that are left, in the order of the queue; without weights. */
static enum status make_core(struct rest *rest, uint32_t eliminated, uint32_t vertex_count,
                             uint32_t *local, struct graph *ret_core)
{
    const uint32_t *member = rest->queue + eliminated;
    const uint32_t count = vertex_count - eliminated;
    uint64_t entries = 0;
    for (uint32_t i = 0; i < count; i++) {
        local[member[i]] = i;
        entries += rest->degree[member[i]];
    }
    *ret_core = (struct graph){
        .vertex_count = count,
        .row_offset = malloc(((size_t)count + 1) * sizeof(*ret_core->row_offset)),
        .target = malloc((entries / 2 + 1) * sizeof(*ret_core->target)),
    };
    if (ret_core->row_offset == NULL || ret_core->target == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *list = rest->neighbour + rest->offset[member[i]];
        ret_core->row_offset[i] = ret_core->edge_count;
        for (uint32_t j = 0; j < rest->degree[member[i]]; j++) {
            if (local[list[j]] > i) {
                ret_core->target[ret_core->edge_count++] = local[list[j]];
            }
        }
    }
    ret_core->row_offset[count] = ret_core->edge_count;
    return STATUS_OK;
}

/* ---- Separators ---- */

/* ret_at: the order of the graph's vertices. */
static enum status order_core(const struct graph *graph, uint32_t threads, uint32_t *ret_at)
{
    const struct dissection_options options = {.leaf = LEAF, .threads = threads};
    struct dissection *dissection = NULL;
    uint64_t *back_offset = NULL;
    uint32_t *back = NULL;
    enum status status = dissection_make(graph, &options, &dissection);
    if (status == STATUS_OK) {
        status = reverse_edges(graph, &back_offset, &back);
    }
    const size_t n = graph->vertex_count;
    struct leaf leaf = {.graph = graph,
                        .back_offset = back_offset,
                        .back = back,
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
    free(back_offset);
    free(back);
    dissection_destroy(dissection);
    return status;
}

enum status hierarchy_order(const struct graph *graph, uint32_t threads, uint32_t *ret_at)
{
    const uint32_t n = graph->vertex_count;
    uint64_t *back_offset = NULL;
    uint32_t *back = NULL;
    struct rest rest = {0};
    struct graph core = {0};
    uint32_t eliminated = 0;
    uint32_t *core_at = malloc(((size_t)n + 1) * sizeof(*core_at));
    enum status status =
        core_at != NULL ? reverse_edges(graph, &back_offset, &back) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = rest_init(graph, back_offset, back, &rest);
    }
    free(back_offset);
    free(back);
    if (status == STATUS_OK) {
        eliminated = eliminate_few(&rest, n);
        status = make_core(&rest, eliminated, n, core_at, &core);
    }
    if (status == STATUS_OK) {
        status = order_core(&core, threads, core_at);
    }
    for (uint32_t at = 0; status == STATUS_OK && at < n; at++) {
        ret_at[at] =
            at < eliminated ? rest.queue[at] : rest.queue[eliminated + core_at[at - eliminated]];
    }
    free(core.row_offset);
    free(core.target);
    rest_finish(&rest);
    free(core_at);
    return status;
}
