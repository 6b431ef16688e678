#include "tests/solver/shapes.h"

#include <stdlib.h>

uint64_t shapes_random(uint64_t *state, uint64_t limit)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % limit;
}

void shapes_make_dense(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    for (uint32_t source = 0; source < n; ++source) {
        for (uint32_t target = 0; target < n; ++target) {
            if (source != target) {
                edge_list_add(list, source, target, 1 + (double)shapes_random(&seed, 1000));
            }
        }
    }
}

/* Adds n * per_vertex edges between random endpoints, so parallel edges and loops occur. Weights
 * are at least `least` and less than `least` + `range`. */
static void add_random(struct edge_list *list, uint64_t *seed, uint32_t per_vertex, uint64_t least,
                       uint64_t range)
{
    const uint32_t n = list->vertex_count;
    for (uint64_t edge = 0; edge < (uint64_t)n * per_vertex; ++edge) {
        const uint32_t source = (uint32_t)shapes_random(seed, n);
        const uint32_t target = (uint32_t)shapes_random(seed, n);
        edge_list_add(list, source, target, (double)(least + shapes_random(seed, range)));
    }
}

static void make_sparse(struct edge_list *list, uint64_t seed)
{
    add_random(list, &seed, 3, 1, 1000);
}

/* Makes random edges between even vertices and between odd vertices, so there are two
 * components. */
static void make_disconnected(struct edge_list *list, uint64_t seed)
{
    struct edge_list all = {.vertex_count = list->vertex_count};
    add_random(&all, &seed, 4, 1, 100);
    for (size_t index = 0; index < all.count; ++index) {
        const struct edge edge = all.edges[index];
        if (edge.source % 2 == edge.target % 2) {
            edge_list_add(list, edge.source, edge.target, edge.weight);
        }
    }
    edge_list_finish(&all);
}

static void make_zero(struct edge_list *list, uint64_t seed)
{
    add_random(list, &seed, 3, 0, 2);
}

/* Makes negative edges but no negative cycle: each weight w becomes w + p(source) - p(target). The
 * graph is sparse, so that adding negative weights lowers unreachable entries as far as possible.
 * From 128 vertices on, the bound on all path lengths is just below 2^29. The weights are small
 * enough (below 2^24) that floats represent all sums exactly. */
static void make_negative(struct edge_list *list, uint64_t seed)
{
    add_random(list, &seed, 2, 0, 100);
    const uint64_t range = (1 << 29) / list->vertex_count - 101;
    double *potential = calloc(list->vertex_count, sizeof(*potential));
    CHECK(potential != NULL);
    for (uint32_t vertex = 0; vertex < list->vertex_count; ++vertex) {
        potential[vertex] = (double)shapes_random(&seed, range < (1 << 22) ? range : 1 << 22);
    }
    for (size_t index = 0; index < list->count; ++index) {
        struct edge *edge = &list->edges[index];
        edge->weight += potential[edge->source] - potential[edge->target];
    }
    free(potential);
}

/* Makes one path through all vertices in random order. No shortest path can have more edges. */
static void make_path(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    uint32_t *order = calloc((size_t)n + 1, sizeof(*order));
    CHECK(order != NULL);
    for (uint32_t place = 0; place < n; ++place) {
        const uint32_t other = (uint32_t)shapes_random(&seed, place + 1);
        order[place] = order[other];
        order[other] = place;
    }
    for (uint32_t place = 1; place < n; ++place) {
        edge_list_add(list, order[place - 1], order[place], 1 + (double)shapes_random(&seed, 9));
    }
    free(order);
}

static void make_decimal(struct edge_list *list, uint64_t seed)
{
    add_random(list, &seed, 4, 1, 100000);
    for (size_t index = 0; index < list->count; ++index) {
        list->edges[index].weight /= 1000;
    }
}

/* Makes a star: all paths lead through its centre, which is usually not the first vertex. */
static void make_star(struct edge_list *list, uint64_t seed)
{
    const uint32_t centre = (uint32_t)shapes_random(&seed, list->vertex_count);
    for (uint32_t vertex = 0; vertex < list->vertex_count; ++vertex) {
        edge_list_add(list, centre, vertex, 1 + (double)shapes_random(&seed, 1000));
    }
}

/* Makes a star, and a path whose length exceeds the range of i4. The star has shorter paths, so the
 * long path is only a detour. */
static void make_detours(struct edge_list *list, uint64_t seed)
{
    for (uint32_t vertex = 1; vertex < list->vertex_count; ++vertex) {
        edge_list_add(list, vertex - 1, vertex, (double)((1 << 29) - 1));
    }
    make_star(list, seed);
}

/* Makes a nearly square grid, which has small separators. */
static void make_grid(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    uint32_t width = 1;
    while ((uint64_t)width * width < n) {
        ++width;
    }
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        if ((vertex + 1) % width != 0 && vertex + 1 < n) {
            edge_list_add(list, vertex, vertex + 1, 1 + (double)shapes_random(&seed, 1000));
        }
        if (vertex + width < n) {
            edge_list_add(list, vertex, vertex + width, 1 + (double)shapes_random(&seed, 1000));
        }
    }
}

/* Makes a grid whose edge list also contains the reverse of each edge. */
static void make_roads(struct edge_list *list, uint64_t seed)
{
    make_grid(list, seed);
    const size_t count = list->count;
    for (size_t index = 0; index < count; ++index) {
        const struct edge edge = list->edges[index];
        edge_list_add(list, edge.target, edge.source, edge.weight);
    }
}

/* Makes two cliques and one edge from the first to the second. */
static void make_cliques(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    for (uint32_t source = 0; source < n; ++source) {
        for (uint32_t target = 0; target < n; ++target) {
            if (source != target && source % 2 == target % 2) {
                edge_list_add(list, source, target, 1 + (double)shapes_random(&seed, 1000));
            }
        }
    }
    if (n > 1) {
        edge_list_add(list, n / 2 * 2 - 2, n / 2 * 2 - 1, 1);
    }
}

/* Makes many small strongly connected components, each with edges only to later components. */
static void make_layers(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    for (uint32_t vertex = 0; vertex < n; ++vertex) {
        const uint32_t first = vertex / 5 * 5;
        const uint32_t size = n - first < 5 ? n - first : 5;
        edge_list_add(list, vertex, first + (vertex - first + 1) % size, 1);
        for (uint32_t edge = 0; edge < 2; ++edge) {
            const uint32_t later = first + (uint32_t)shapes_random(&seed, n - first);
            edge_list_add(list, vertex, later, 1 + (double)shapes_random(&seed, 100));
        }
    }
}

const struct shape shapes[] = {
    {"dense", true, true, false, shapes_make_dense},
    {"sparse", true, true, false, make_sparse},
    {"undirected", false, true, false, make_sparse},
    {"disconnected", true, true, false, make_disconnected},
    {"zero", true, true, false, make_zero},
    {"negative", true, true, false, make_negative},
    {"path", false, true, false, make_path},
    {"decimal", true, false, false, make_decimal},
    {"star", false, true, true, make_star},
    {"detours", false, true, true, make_detours},
    {"grid", false, true, true, make_grid},
    {"roads", true, true, true, make_roads},
    {"cliques", true, true, true, make_cliques},
    {"layers", true, true, true, make_layers},
};
const size_t shape_count = sizeof(shapes) / sizeof(shapes[0]);

struct edge_list shapes_make(const struct shape *shape, uint32_t vertex_count, uint64_t seed)
{
    struct edge_list list = {.vertex_count = vertex_count, .directed = shape->directed};
    if (vertex_count > 0) {
        shape->make(&list, seed + vertex_count);
    }
    return list;
}

void shapes_add_negative_cycle(struct edge_list *list, uint64_t seed)
{
    const uint32_t n = list->vertex_count;
    CHECK(n >= 1);
    const uint32_t length = n < 5 ? n : 5;
    const uint32_t first = (uint32_t)shapes_random(&seed, n);
    const uint32_t stride = n / length;
    for (uint32_t place = 0; place < length; ++place) {
        const uint32_t source = (first + place * stride) % n;
        const uint32_t target = (first + (place + 1) % length * stride) % n;
        edge_list_add(list, source, target, place == 0 ? -(double)length : 1);
    }
}
