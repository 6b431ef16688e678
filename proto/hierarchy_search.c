#include "proto/hierarchy_kernel.h"

#include "proto/decimals.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64
/* Maximum memory for computing rows in lanes. If they need more, rows are swept one by one. */
#define LANES_BYTES_MAX ((size_t)256 << 20)
/* Number of vertices swept in one step of about a millisecond, for one row and for all lanes. */
#define STEP_VERTICES 32768
#define STEP_VERTICES_LANES 8192

static const struct hierarchy_operations *const kernels[ISA_COUNT] = {
    [ISA_PORTABLE] = hierarchy_kernel_portable,
    [ISA_AVX2] = hierarchy_kernel_avx2,
    [ISA_AVX512] = hierarchy_kernel_avx512};

/* Returns the largest finite distance of kind i4. A larger sum contains an unreachable distance. */
static int32_t greatest_distance(const struct hierarchy *hierarchy)
{
    return hierarchy->summary.negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1;
}

enum status hierarchy_search_create(const struct hierarchy *hierarchy, bool is_reversed,
                                    struct hierarchy_search **ret_search)
{
    const enum kind kind = hierarchy->summary.kind;
    struct hierarchy_search *search = calloc(1, sizeof(*search));
    if (search == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->view = *hierarchy;
    search->hierarchy = &search->view;
    if (is_reversed) {
        search->view.up = hierarchy->down;
        search->view.down = hierarchy->up;
    }
    search->operations = &kernels[isa_best()][kind];
    search->element_bytes = kind_size(kind);
    search->above = greatest_distance(hierarchy);
    search->local = malloc(((size_t)hierarchy->largest + 1) * search->element_bytes);
    search->stack =
        malloc(((size_t)hierarchy->height + 1) * (2 * search->element_bytes + sizeof(uint32_t)));
    if (search->local == NULL || search->stack == NULL) {
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
    free(search->local);
    free(search->stack);
    free(search->block_lanes);
    free(search);
}

size_t hierarchy_label_count(const struct hierarchy *hierarchy, uint32_t vertex)
{
    return hierarchy->place[2 * (size_t)vertex + 1];
}

void hierarchy_make_label(struct hierarchy_search *search, uint32_t vertex, bool is_down,
                          void *ret_label)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    search->operations->climb(search, is_down ? hierarchy->down : hierarchy->up,
                              hierarchy->shape.position_of[vertex], ret_label);
}

void hierarchy_pair(const struct hierarchy *hierarchy, uint32_t source, uint32_t target,
                    const void *label, const void *label_down, void *ret_element)
{
    const uint32_t common = hierarchy_common(hierarchy, source, target);
    kernels[isa_best()][hierarchy->summary.kind].meet(label, label_down, common,
                                                      greatest_distance(hierarchy), ret_element);
    if (hierarchy->summary.decimals > 0) {
        const double sum = kind_element(hierarchy->summary.kind, ret_element, 0);
        const double distance = decimals_divide(sum, hierarchy->summary.decimals);
        memcpy(ret_element, &distance, sizeof(distance));
    }
}

/* Sorts the vertices of each block of positions. Returns false when out of memory. */
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

/* Divides memory among the labels and paths of the first `count` starts. */
static void place_starts(struct hierarchy_search *search, unsigned char *at, uint32_t count)
{
    const size_t depths = (size_t)search->hierarchy->height + 1;
    for (uint32_t i = 0; i < count; i++) {
        search->starts[i].distance = at;
        search->starts[i].path_count = 0;
        at += depths * search->element_bytes;
    }
    for (uint32_t i = 0; i < count; i++) {
        search->starts[i].path = (uint32_t *)(void *)at;
        at += depths * sizeof(uint32_t);
    }
}

/* Allocates the memory of the lanes unless it exists. Returns false if that fails or if it would be
 * too large; rows are then swept one by one. */
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
        search->block_order = (uint32_t *)(void *)((char *)search->stack_lanes + 2 * stack + path);
        if (!order_blocks(search)) {
            free(search->block_lanes);
            search->block_lanes = NULL;
        }
    }
    return search->block_lanes != NULL;
}

/* Computes the label of a source and the path from its supernode to the root. */
static void climb_from(struct hierarchy_search *search, uint32_t source,
                       struct hierarchy_start *start)
{
    const struct hierarchy *hierarchy = search->hierarchy;
    start->from = hierarchy->shape.position_of[source];
    start->path_count = 0;
    for (uint32_t s = hierarchy->supernode_of[start->from]; s != NO_SUPERNODE;
         s = hierarchy->shape.parent[s]) {
        start->path[start->path_count++] = s;
    }
    search->operations->climb(search, hierarchy->up, start->from, start->distance);
}

void hierarchy_rows_begin(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                          void *rows)
{
    const size_t depth_bytes = ((size_t)search->hierarchy->height + 1) * search->element_bytes;
    CHECK(count > 0 && count <= HIERARCHY_LANES);
    const bool in_lanes = (count >= HIERARCHY_LANES_MIN || rows == NULL) && has_lanes(search);
    if (in_lanes) {
        place_starts(search, (unsigned char *)search->stack_lanes + HIERARCHY_LANES * depth_bytes,
                     HIERARCHY_LANES);
    } else {
        place_starts(search, (unsigned char *)search->stack + depth_bytes, 1);
    }
    search->sweep = (struct hierarchy_sweep){
        .count = count,
        .in_lanes = in_lanes,
        .left = search->hierarchy->shape.supernode_count,
        .rows = rows,
    };
    memcpy(search->sweep.sources, sources, count * sizeof(*sources));
}

bool hierarchy_lanes_begin(struct hierarchy_search *search, const uint32_t *sources, uint32_t count,
                           hierarchy_reader *read, void *context)
{
    hierarchy_rows_begin(search, sources, count, NULL);
    search->sweep.read = read;
    search->sweep.context = context;
    return search->sweep.in_lanes;
}

/* Computes one step of the rows in lanes. Surplus lanes have no source. */
static bool step_lanes(struct hierarchy_search *search, uint32_t begin)
{
    struct hierarchy_sweep *sweep = &search->sweep;
    if (sweep->climbed < sweep->count) {
        climb_from(search, sweep->sources[sweep->climbed], &search->starts[sweep->climbed]);
        sweep->climbed++;
        return false;
    }
    search->operations->sweep_lanes(search, begin, sweep->left, sweep->count, sweep->rows);
    sweep->left = begin;
    return begin == 0;
}

static bool step_rows(struct hierarchy_search *search)
{
    struct hierarchy_sweep *sweep = &search->sweep;
    const struct hierarchy_shape *shape = &search->hierarchy->shape;
    const uint64_t vertices = sweep->in_lanes ? STEP_VERTICES_LANES : STEP_VERTICES;
    const uint64_t most = shape->supernode_count * vertices / shape->vertex_count + 1;
    const uint32_t begin = sweep->left > most ? sweep->left - (uint32_t)most : 0;
    if (sweep->in_lanes) {
        return step_lanes(search, begin);
    }
    if (sweep->left == shape->supernode_count) {
        climb_from(search, sweep->sources[sweep->climbed++], &search->starts[0]);
    }
    const size_t row_bytes = shape->vertex_count * search->element_bytes;
    search->operations->sweep(search, begin, sweep->left,
                              (char *)sweep->rows + (sweep->climbed - 1) * row_bytes);
    sweep->left = begin > 0 ? begin : shape->supernode_count;
    return begin == 0 && sweep->climbed == sweep->count;
}

bool hierarchy_rows_step(struct hierarchy_search *search)
{
    const struct hierarchy_summary *summary = &search->hierarchy->summary;
    const struct hierarchy_sweep *sweep = &search->sweep;
    const bool is_complete = step_rows(search);
    if (is_complete && summary->decimals > 0 && sweep->rows != NULL) {
        decimals_divide_all(sweep->rows, summary->kind, summary->decimals,
                            (size_t)sweep->count * summary->vertex_count, sweep->rows);
    }
    return is_complete;
}
