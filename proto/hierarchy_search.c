#include "proto/hierarchy_kernel.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64
#define NOTHING_CLIMBED UINT32_MAX
/* Rows side by side take this much at most, or are swept one by one. */
#define LANES_BYTES_MAX ((size_t)256 << 20)
/* Vertices of a step of a sweep, alone and side by side, and arcs of a step of pairs: each takes
 * about a millisecond. */
#define STEP_VERTICES 32768
#define STEP_VERTICES_LANES 8192
#define STEP_ARCS ((size_t)1 << 20)

static const struct hierarchy_operations *const kernels[ISA_COUNT] = {
    [ISA_PORTABLE] = hierarchy_kernel_portable,
    [ISA_AVX2] = hierarchy_kernel_avx2,
    [ISA_AVX512] = hierarchy_kernel_avx512};

enum status hierarchy_search_create(const struct hierarchy *hierarchy,
                                    struct hierarchy_search **ret_search)
{
    const enum kind kind = hierarchy->summary.kind;
    const size_t bytes = kind_size(kind);
    struct hierarchy_search *search = calloc(1, sizeof(*search));
    if (search == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->view = *hierarchy;
    search->hierarchy = &search->view;
    search->operations = &kernels[isa_best()][kind];
    search->element_bytes = bytes;
    search->above = hierarchy->summary.negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1;
    search->climbed = NOTHING_CLIMBED;
    search->forward = malloc(((size_t)hierarchy->height + 1) * bytes);
    search->backward = malloc(((size_t)hierarchy->height + 1) * bytes);
    search->local = malloc(((size_t)hierarchy->largest + 1) * bytes);
    search->stack = malloc(((size_t)hierarchy->height + 1) * bytes);
    search->path = malloc(((size_t)hierarchy->height + 1) * sizeof(uint32_t));
    search->above_part = malloc(((size_t)hierarchy->height + 1) * sizeof(uint32_t));
    if (search->forward == NULL || search->backward == NULL || search->local == NULL ||
        search->stack == NULL || search->path == NULL || search->above_part == NULL) {
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
    free(search->stack);
    free(search->path);
    free(search->above_part);
    free(search->block_lanes);
    free(search);
}

void hierarchy_search_reverse(struct hierarchy_search *search, bool is_reversed)
{
    if (search->is_reversed != is_reversed) {
        void *up = search->view.up;
        search->view.up = search->view.down;
        search->view.down = up;
        search->is_reversed = is_reversed;
        search->climbed = NOTHING_CLIMBED;
    }
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

static void find_distance(struct hierarchy_search *search, uint32_t source, uint32_t target,
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

void hierarchy_pairs(struct hierarchy_search *search, const uint32_t *pairs, size_t count,
                     void *ret_elements)
{
    for (size_t i = 0; i < count; i++) {
        find_distance(search, pairs[2 * i], pairs[2 * i + 1],
                      (char *)ret_elements + i * search->element_bytes);
    }
}

size_t hierarchy_pairs_of_step(const struct hierarchy *hierarchy)
{
    /* Two climbs follow the arcs among all ancestors at most. */
    const size_t arcs = (size_t)hierarchy->height * hierarchy->height + 1;
    return arcs < STEP_ARCS ? STEP_ARCS / arcs : 1;
}

/* False without memory. */
static bool order_blocks(struct hierarchy_search *search)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const uint32_t n = shape->vertex_count;
    uint32_t *filled = calloc(n / HIERARCHY_BLOCK + 1, sizeof(*filled));
    for (uint32_t vertex = 0; filled != NULL && vertex < n; vertex++) {
        const uint32_t block = shape->position_of[vertex] / HIERARCHY_BLOCK;
        search->block_order[block * HIERARCHY_BLOCK + filled[block]++] = vertex;
    }
    free(filled);
    return filled != NULL;
}

/* Without memory for lanes the rows are swept one by one. */
static bool has_lanes(struct hierarchy_search *search)
{
    const size_t depths = (size_t)search->hierarchy->height + 1;
    const size_t bytes = search->element_bytes;
    const size_t block = (size_t)HIERARCHY_BLOCK * HIERARCHY_LANES * bytes;
    const size_t stack = depths * HIERARCHY_LANES * bytes;
    const size_t path = depths * HIERARCHY_LANES * sizeof(uint32_t);
    const size_t order = search->hierarchy->summary.vertex_count * sizeof(uint32_t);
    const size_t size = (block + 2 * stack + path + order) / LINE_BYTES * LINE_BYTES + LINE_BYTES;
    if (search->block_lanes != NULL || size > LANES_BYTES_MAX) {
        return search->block_lanes != NULL;
    }
    search->block_lanes = aligned_alloc(LINE_BYTES, size);
    if (search->block_lanes != NULL) {
        search->stack_lanes = (char *)search->block_lanes + block;
        search->distance_lanes = (char *)search->stack_lanes + stack;
        search->path_lanes = (uint32_t *)(void *)((char *)search->distance_lanes + stack);
        search->block_order = search->path_lanes + depths * HIERARCHY_LANES;
        if (!order_blocks(search)) {
            free(search->block_lanes);
            search->block_lanes = NULL;
        }
    }
    return search->block_lanes != NULL;
}

/* The climb of a position and its path. */
static void find_start(struct hierarchy_search *search, uint32_t from, uint32_t *path,
                       struct hierarchy_start *ret_start)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    uint32_t count = 0;
    climb_from(search, from);
    for (uint32_t s = hierarchy->supernode_of[from]; s != NO_SUPERNODE;
         s = hierarchy->shape.parent[s]) {
        path[count++] = s;
    }
    *ret_start = (struct hierarchy_start){path, count, from, search->forward};
}

/* Lanes without a row of their own repeat the last one. */
static void start_lane(struct hierarchy_search *search, uint32_t lane)
{
    const struct hierarchy_sweep *sweep = &search->sweep;
    const size_t depths = (size_t)search->hierarchy->height + 1;
    const size_t bytes = depths * search->element_bytes;
    const uint32_t source = sweep->sources[lane < sweep->count ? lane : sweep->count - 1];
    struct hierarchy_start *start = &search->starts[lane];
    find_start(search, search->hierarchy->shape.position_of[source],
               search->path_lanes + lane * depths, start);
    start->distance = (char *)search->distance_lanes + lane * bytes;
    memcpy(start->distance, search->forward, bytes);
}

/* The supernodes of a row from begin to before end. */
static void sweep_row(struct hierarchy_search *search, uint32_t source, uint32_t begin,
                      uint32_t end, void *ret_row)
{
    find_start(search, search->hierarchy->shape.position_of[source], search->path,
               &search->starts[0]);
    search->operations->sweep(search, begin, end, ret_row);
}

void hierarchy_rows_begin(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                          void *rows)
{
    CHECK(count > 0 && count <= HIERARCHY_LANES);
    search->sweep = (struct hierarchy_sweep){
        .count = count,
        .in_lanes = count >= HIERARCHY_LANES_MIN && has_lanes(search),
        .left = search->hierarchy->shape.supernode_count,
        .rows = rows,
    };
    memcpy(search->sweep.sources, sources, count * sizeof(*sources));
}

bool hierarchy_rows_step(struct hierarchy_search *search)
{
    struct hierarchy_sweep *sweep = &search->sweep;
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const uint64_t vertices = sweep->in_lanes ? STEP_VERTICES_LANES : STEP_VERTICES;
    const uint64_t most = shape->supernode_count * vertices / shape->vertex_count + 1;
    const uint32_t end = sweep->left;
    const uint32_t begin = end > most ? end - (uint32_t)most : 0;
    if (sweep->in_lanes && sweep->started < HIERARCHY_LANES) {
        start_lane(search, sweep->started++);
        return false;
    }
    if (sweep->in_lanes) {
        search->operations->sweep_lanes(search, begin, end, sweep->count, sweep->rows);
        sweep->left = begin;
        return begin == 0;
    }
    sweep_row(search, sweep->sources[sweep->started], begin, end,
              (char *)sweep->rows +
                  sweep->started * (size_t)shape->vertex_count * search->element_bytes);
    sweep->left = begin > 0 ? begin : shape->supernode_count;
    sweep->started += begin == 0;
    return sweep->started == sweep->count;
}

void hierarchy_row_part(struct hierarchy_search *search, uint32_t source, uint32_t part,
                        uint32_t parts, void *ret_row)
{
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const uint64_t supernodes = shape->supernode_count;
    const uint32_t begin = (uint32_t)(supernodes * part / parts);
    const uint32_t end = (uint32_t)(supernodes * (part + 1) / parts);
    if (begin < end) {
        sweep_row(search, source, begin, end, ret_row);
    }
}
