/* Questions to a hierarchy. A vertex reaches the others by way of vertices that are eliminated
 * after it: its ancestors in the elimination tree. So a pair takes both climbs to the root, whose
 * common ancestors are compared, and a row takes one climb and a sweep from the root down (Delling
 * et al., PHAST, 2011; Buchhold, Sanders, Wagner 2019). */
#include "proto/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING_CLIMBED UINT32_MAX
/* Rows side by side take this much at most, or are swept one by one. */
#define LANES_BYTES_MAX ((size_t)256 << 20)

struct search_operations {
    uint32_t (*climb)(const struct hierarchy_search *search, const void *weights, uint32_t from,
                      void *ret_depth);
    void (*meet)(const struct hierarchy_search *search, uint32_t common, void *ret_element);
    void (*clear)(void *elements, size_t count);
    void (*start)(const struct hierarchy_search *search, uint32_t from, uint32_t lane,
                  uint32_t lanes, void *elements);
    void (*sweep)(const struct hierarchy_search *search, void *elements);
    void (*sweep_lanes)(const struct hierarchy_search *search, void *elements);
    void (*order)(const struct hierarchy_search *search, const void *elements, uint32_t count,
                  uint32_t lanes, void *ret_rows);
};

struct hierarchy_search {
    const struct hierarchy *hierarchy;
    const struct search_operations *operations;
    size_t element_bytes;
    int32_t above; /* see front_body.h */
    /* By depth, from the root on: the vertex that is nearest has the highest index. */
    void *forward;
    void *backward;
    uint32_t climbed;  /* the position that forward is of; NOTHING_CLIMBED = none */
    void *local;       /* columns and rows of a supernode */
    void *distance;    /* by position, made when a row is asked for */
    void *local_lanes; /* the same in lanes */
    void *distance_lanes;
};

#define ELEMENT int32_t
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define CANONICAL(x, above) ((x) > (above) ? UNREACHABLE_I4 : (x))
#include "proto/hierarchy_search_body.h"

#define ELEMENT float
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define CANONICAL(x, above) (x)
#include "proto/hierarchy_search_body.h"

#define ELEMENT double
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define CANONICAL(x, above) (x)
#include "proto/hierarchy_search_body.h"

enum status hierarchy_search_create(const struct hierarchy *hierarchy,
                                    struct hierarchy_search **ret_search)
{
    const enum kind kind = hierarchy->summary.kind;
    const size_t bytes = kind_size(kind);
    struct hierarchy_search *search = calloc(1, sizeof(*search));
    if (search == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->hierarchy = hierarchy;
    search->operations = kind == KIND_I4   ? &operations_i4
                         : kind == KIND_F4 ? &operations_f4
                                           : &operations_f8;
    search->element_bytes = bytes;
    search->above = hierarchy->summary.negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1;
    search->climbed = NOTHING_CLIMBED;
    search->forward = malloc(((size_t)hierarchy->height + 1) * bytes);
    search->backward = malloc(((size_t)hierarchy->height + 1) * bytes);
    search->local = malloc(((size_t)hierarchy->largest + 1) * bytes);
    search->distance = malloc(((size_t)hierarchy->summary.vertex_count + 1) * bytes);
    if (search->forward == NULL || search->backward == NULL || search->local == NULL ||
        search->distance == NULL) {
        hierarchy_search_destroy(search);
        return STATUS_NO_MEMORY;
    }
    *ret_search = search;
    return STATUS_OK;
}

void hierarchy_search_destroy(struct hierarchy_search *search)
{
    if (search == NULL) {
        return;
    }
    free(search->forward);
    free(search->backward);
    free(search->local);
    free(search->distance);
    free(search->local_lanes);
    free(search->distance_lanes);
    free(search);
}

/* How many ancestors, from the root on, two positions have in common; each counts as its own. */
static uint32_t common_ancestors(const struct hierarchy *hierarchy, uint32_t a, uint32_t b)
{
    const struct hierarchy_shape *shape = &hierarchy->shape;
    uint32_t s = hierarchy->supernode_of[a];
    uint32_t t = hierarchy->supernode_of[b];
    while (s != t && s != NO_SUPERNODE && t != NO_SUPERNODE) {
        if (s < t) {
            s = shape->parent[s];
            a = s != NO_SUPERNODE && shape->first[s] > a ? shape->first[s] : a;
        } else {
            t = shape->parent[t];
            b = t != NO_SUPERNODE && shape->first[t] > b ? shape->first[t] : b;
        }
    }
    if (s != t || s == NO_SUPERNODE) {
        return 0;
    }
    return hierarchy->above[s] + shape->first[s + 1] - (a > b ? a : b);
}

static void climb_from(struct hierarchy_search *search, uint32_t position)
{
    if (search->climbed != position) {
        search->operations->climb(search, search->hierarchy->up, position, search->forward);
        search->climbed = position;
    }
}

void hierarchy_distance(struct hierarchy_search *search, uint32_t source, uint32_t target,
                        void *ret_element)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    const uint32_t from = hierarchy->shape.position_of[source];
    const uint32_t to = hierarchy->shape.position_of[target];
    const uint32_t common = common_ancestors(hierarchy, from, to);
    if (common > 0) {
        climb_from(search, from);
        search->operations->climb(search, hierarchy->down, to, search->backward);
    }
    search->operations->meet(search, common, ret_element);
}

/* Without memory for lanes the rows are swept one by one. */
static bool has_lanes(struct hierarchy_search *search)
{
    const size_t lane_bytes = HIERARCHY_LANES * search->element_bytes;
    const size_t bytes = search->hierarchy->summary.vertex_count * lane_bytes;
    if (search->distance_lanes == NULL && bytes <= LANES_BYTES_MAX) {
        free(search->local_lanes);
        search->local_lanes = malloc(((size_t)search->hierarchy->largest + 1) * lane_bytes);
        search->distance_lanes = search->local_lanes != NULL ? malloc(bytes + 1) : NULL;
    }
    return search->distance_lanes != NULL;
}

/* Side by side in lanes, those without a row of their own repeat the last one. */
static void compute_rows(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                         uint32_t lanes, void *elements, void *ret_rows)
{
    const struct search_operations *operations = search->operations;
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    operations->clear(elements, (size_t)shape->vertex_count * lanes);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t from = shape->position_of[sources[lane < count ? lane : count - 1]];
        climb_from(search, from);
        operations->start(search, from, lane, lanes, elements);
    }
    if (lanes > 1) {
        operations->sweep_lanes(search, elements);
    } else {
        operations->sweep(search, elements);
    }
    operations->order(search, elements, count, lanes, ret_rows);
}

void hierarchy_rows(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                    void *ret_rows)
{
    const size_t row_bytes = search->hierarchy->summary.vertex_count * search->element_bytes;
    CHECK(count <= HIERARCHY_LANES);
    if (count >= HIERARCHY_LANES_MIN && has_lanes(search)) {
        compute_rows(search, sources, count, HIERARCHY_LANES, search->distance_lanes, ret_rows);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        compute_rows(search, sources + i, 1, 1, search->distance,
                     (unsigned char *)ret_rows + i * row_bytes);
    }
}
