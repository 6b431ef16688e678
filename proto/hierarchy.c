#include "proto/hierarchy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 2

struct header {
    char magic[8];
    uint32_t version;
    uint32_t kind;
    uint32_t directed;
    uint32_t negative;
    uint32_t vertex_count;
    uint32_t supernode_count;
    uint64_t row_count;
    uint64_t entry_count;
    uint64_t arc_count;
    uint32_t decimals;
    uint32_t reserved; /* always 0 */
};

/* Offsets in bytes of the arrays from the start of the header. */
struct places {
    uint64_t vertex_at;
    uint64_t position_of;
    uint64_t first;
    uint64_t parent;
    uint64_t row_begin;
    uint64_t weight_begin;
    uint64_t row;
    uint64_t up;
    uint64_t down;
    uint64_t size;
};

static uint64_t reserve_bytes(uint64_t *size, uint64_t bytes)
{
    const uint64_t at = *size;
    *size += (bytes + HIERARCHY_ALIGNMENT - 1) / HIERARCHY_ALIGNMENT * HIERARCHY_ALIGNMENT;
    return at;
}

/* Returns the offsets of the arrays. No sum overflows, because the counts are below 2^48. */
static struct places place_arrays(const struct header *header)
{
    const uint64_t n = header->vertex_count;
    const uint64_t supernodes = header->supernode_count;
    const uint64_t weight_bytes = header->entry_count * kind_size((enum kind)header->kind);
    struct places places = {0};
    uint64_t *size = &places.size;
    reserve_bytes(size, sizeof(*header));
    places.vertex_at = reserve_bytes(size, n * sizeof(uint32_t));
    places.position_of = reserve_bytes(size, n * sizeof(uint32_t));
    places.first = reserve_bytes(size, (supernodes + 1) * sizeof(uint32_t));
    places.parent = reserve_bytes(size, supernodes * sizeof(uint32_t));
    places.row_begin = reserve_bytes(size, (supernodes + 1) * sizeof(uint64_t));
    places.weight_begin = reserve_bytes(size, (supernodes + 1) * sizeof(uint64_t));
    places.row = reserve_bytes(size, header->row_count * sizeof(uint32_t));
    places.up = reserve_bytes(size, weight_bytes);
    places.down = header->directed != 0 ? reserve_bytes(size, weight_bytes) : places.up;
    return places;
}

static struct header header_of(const struct hierarchy_shape *shape,
                               const struct hierarchy_summary *summary)
{
    struct header header = {
        .version = VERSION,
        .kind = (uint32_t)summary->kind,
        .directed = summary->directed,
        .negative = summary->negative,
        .vertex_count = shape->vertex_count,
        .supernode_count = shape->supernode_count,
        .row_count = shape->row_begin[shape->supernode_count],
        .entry_count = shape->weight_begin[shape->supernode_count],
        .arc_count = shape->arc_count,
        .decimals = summary->decimals,
    };
    memcpy(header.magic, HIERARCHY_MAGIC, sizeof(header.magic));
    return header;
}

uint64_t hierarchy_bytes(const struct hierarchy_shape *shape, enum kind kind, bool directed)
{
    const struct hierarchy_summary summary = {.kind = kind, .directed = directed};
    const struct header header = header_of(shape, &summary);
    return place_arrays(&header).size;
}

uint64_t hierarchy_arc_count(const void *bytes)
{
    struct header header;
    static_assert(sizeof(header) <= HIERARCHY_ALIGNMENT, "the header is the first piece");
    memcpy(&header, bytes, sizeof(header));
    return memcmp(header.magic, HIERARCHY_MAGIC, sizeof(header.magic)) == 0 ? header.arc_count : 0;
}

static void find_shape(const struct header *header, unsigned char *bytes,
                       struct hierarchy *hierarchy)
{
    const struct places places = place_arrays(header);
    hierarchy->summary = (struct hierarchy_summary){
        .vertex_count = header->vertex_count,
        .kind = (enum kind)header->kind,
        .directed = header->directed != 0,
        .negative = header->negative != 0,
        .arc_count = header->arc_count,
        .decimals = header->decimals,
    };
    hierarchy->shape = (struct hierarchy_shape){
        .vertex_count = header->vertex_count,
        .vertex_at = (uint32_t *)(void *)(bytes + places.vertex_at),
        .position_of = (uint32_t *)(void *)(bytes + places.position_of),
        .supernode_count = header->supernode_count,
        .first = (uint32_t *)(void *)(bytes + places.first),
        .parent = (uint32_t *)(void *)(bytes + places.parent),
        .row_begin = (uint64_t *)(void *)(bytes + places.row_begin),
        .row = (uint32_t *)(void *)(bytes + places.row),
        .weight_begin = (uint64_t *)(void *)(bytes + places.weight_begin),
        .arc_count = header->arc_count,
    };
}

/* Sets the pointers to the weights. The cast drops const, but nobody writes to opened weights. */
static void find_weights(const struct header *header, const void *bytes,
                         struct hierarchy *hierarchy)
{
    const struct places places = place_arrays(header);
    unsigned char *begin = (unsigned char *)(uintptr_t)bytes;
    hierarchy->up = begin + places.up;
    hierarchy->down = begin + places.down;
}

void hierarchy_lay_out(const struct hierarchy_shape *shape, const struct hierarchy_summary *summary,
                       void *bytes, struct hierarchy *ret_hierarchy)
{
    const struct header header = header_of(shape, summary);
    const size_t n = shape->vertex_count;
    const size_t supernodes = shape->supernode_count;
    *ret_hierarchy = (struct hierarchy){0};
    /* Clears the padding between the arrays too, so that equal hierarchies have equal files. */
    memset(bytes, 0, place_arrays(&header).size);
    memcpy(bytes, &header, sizeof(header));
    find_shape(&header, bytes, ret_hierarchy);
    find_weights(&header, bytes, ret_hierarchy);
    const struct hierarchy_shape *to = &ret_hierarchy->shape;
    memcpy(to->vertex_at, shape->vertex_at, n * sizeof(*to->vertex_at));
    memcpy(to->position_of, shape->position_of, n * sizeof(*to->position_of));
    memcpy(to->first, shape->first, (supernodes + 1) * sizeof(*to->first));
    memcpy(to->parent, shape->parent, supernodes * sizeof(*to->parent));
    memcpy(to->row_begin, shape->row_begin, (supernodes + 1) * sizeof(*to->row_begin));
    memcpy(to->weight_begin, shape->weight_begin, (supernodes + 1) * sizeof(*to->weight_begin));
    memcpy(to->row, shape->row, header.row_count * sizeof(*to->row));
}

uint64_t hierarchy_slot(const struct hierarchy_shape *shape, uint32_t s, uint32_t low,
                        uint32_t high)
{
    const uint32_t columns = hierarchy_columns(shape, s);
    const uint64_t column = shape->weight_begin[s] + (uint64_t)(low - shape->first[s]) *
                                                         (columns + hierarchy_rows_below(shape, s));
    if (high < shape->first[s + 1]) {
        return column + (high - shape->first[s]);
    }
    uint64_t begin = shape->row_begin[s];
    uint64_t end = shape->row_begin[s + 1];
    while (end - begin > 1) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (shape->row[middle] <= high) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return begin < end && shape->row[begin] == high
               ? column + columns + (begin - shape->row_begin[s])
               : NO_SLOT;
}

#define COUNT_LIMIT (UINT64_C(1) << 48)

static bool is_header(const struct header *header, uint64_t size)
{
    const bool has_kind = header->kind == KIND_I4 || header->kind == KIND_F8 ||
                          (header->kind == KIND_F4 && header->decimals == 0);
    return memcmp(header->magic, HIERARCHY_MAGIC, sizeof(header->magic)) == 0 &&
           header->version == VERSION && has_kind && header->directed <= 1 &&
           header->negative <= 1 && header->vertex_count < UINT32_MAX &&
           header->supernode_count <= header->vertex_count && header->row_count < COUNT_LIMIT &&
           header->entry_count < COUNT_LIMIT && place_arrays(header).size == size;
}

/* Returns whether a supernode's offsets ascend and match the number of its columns and rows. */
static bool is_supernode(const struct hierarchy_shape *shape, uint32_t s)
{
    const uint32_t n = shape->vertex_count;
    if (shape->first[s + 1] <= shape->first[s] || shape->first[s + 1] > n ||
        shape->row_begin[s + 1] < shape->row_begin[s] ||
        shape->row_begin[s + 1] - shape->row_begin[s] > n - shape->first[s + 1]) {
        return false;
    }
    const uint64_t columns = hierarchy_columns(shape, s);
    const uint64_t rows = hierarchy_rows_below(shape, s);
    return shape->weight_begin[s] <= COUNT_LIMIT && shape->weight_begin[s + 1] <= COUNT_LIMIT &&
           shape->weight_begin[s + 1] == shape->weight_begin[s] + columns * (columns + rows);
}

static bool are_rows(const struct hierarchy_shape *shape, uint32_t s)
{
    uint32_t least = shape->first[s + 1];
    for (uint64_t i = shape->row_begin[s]; i < shape->row_begin[s + 1]; i++) {
        if (shape->row[i] < least || shape->row[i] >= shape->vertex_count) {
            return false;
        }
        least = shape->row[i] + 1;
    }
    return true;
}

static bool is_shape(const struct hierarchy_shape *shape, uint64_t row_count, uint64_t entry_count)
{
    const uint32_t count = shape->supernode_count;
    const uint32_t n = shape->vertex_count;
    if (shape->first[0] != 0 || shape->row_begin[0] != 0 || shape->weight_begin[0] != 0) {
        return false;
    }
    for (uint32_t s = 0; s < count; s++) {
        if (!is_supernode(shape, s) || shape->row_begin[s + 1] > row_count || !are_rows(shape, s)) {
            return false;
        }
    }
    for (uint32_t at = 0; at < n; at++) {
        if (shape->vertex_at[at] >= n || shape->position_of[shape->vertex_at[at]] != at) {
            return false;
        }
    }
    return shape->first[count] == n && shape->row_begin[count] == row_count &&
           shape->weight_begin[count] == entry_count;
}

/* Computes depths, children and sizes, from the last supernode to the first, because parents come
 * after their children. Returns false if the parent of a supernode does not contain the first row
 * below that supernode, or if the order is not a postorder of the tree. */
static bool measure_depths(struct hierarchy *hierarchy)
{
    const struct hierarchy_shape *shape = &hierarchy->shape;
    uint32_t open = NO_SUPERNODE; /* lowest supernode whose subtree is not complete, or none */
    for (uint32_t s = shape->supernode_count; s-- > 0;) {
        const uint32_t columns = hierarchy_columns(shape, s);
        const uint32_t size = columns + hierarchy_rows_below(shape, s);
        const uint32_t parent = size > columns
                                    ? hierarchy->supernode_of[shape->row[shape->row_begin[s]]]
                                    : NO_SUPERNODE;
        /* In a postorder the parent of s is supernode s + 1 or one of its ancestors. The subtrees
         * of the supernodes below the parent are complete. */
        while (open != parent && open != NO_SUPERNODE) {
            open = shape->parent[open];
        }
        if (shape->parent[s] != parent || open != parent) {
            return false;
        }
        open = s;
        hierarchy->above[s] = parent == NO_SUPERNODE
                                  ? 0
                                  : hierarchy->above[parent] + hierarchy_columns(shape, parent);
        hierarchy->child[s] = NO_SUPERNODE;
        if (parent != NO_SUPERNODE) {
            hierarchy->sibling[s] = hierarchy->child[parent];
            hierarchy->child[parent] = s;
        }
        hierarchy->triangles += (double)columns * size * size / 2;
        hierarchy->largest_separator =
            columns > hierarchy->largest_separator ? columns : hierarchy->largest_separator;
        const uint32_t height = hierarchy->above[s] + columns;
        hierarchy->height = height > hierarchy->height ? height : hierarchy->height;
        hierarchy->largest = size > hierarchy->largest ? size : hierarchy->largest;
        for (uint32_t at = shape->first[s]; at < shape->first[s + 1]; at++) {
            uint32_t *place = hierarchy->place + 2 * (size_t)shape->vertex_at[at];
            place[0] = s;
            place[1] = height - (at - shape->first[s]);
            hierarchy->supernode_of[at] = s;
        }
        for (uint64_t i = shape->row_begin[s]; i < shape->row_begin[s + 1]; i++) {
            const uint32_t of = hierarchy->supernode_of[shape->row[i]];
            hierarchy->row_depth[i] =
                hierarchy->above[of] + shape->first[of + 1] - 1 - shape->row[i];
        }
    }
    return true;
}

/* ---- Common ancestors ----
 *
 * Let s < t be supernodes in a postorder, and a their lowest common ancestor. All of s..t-1 are
 * below a and, unless a is t, include a child of a. Such a child has the fewest vertices above it:
 * the common ancestors of s and t. So their number is a minimum over a range, which is computed
 * from stored minima (Bender and Farach-Colton 2000): from each supernode to the end of its block,
 * from the start of its block to it, and over 1, 2, 4, ... blocks. */

#define BLOCK 16 /* supernodes; 64 bytes of `above` */

static uint32_t block_count(uint32_t supernodes)
{
    return supernodes / BLOCK + 1;
}

static uint32_t level_count(uint32_t blocks)
{
    return 32 - (uint32_t)__builtin_clz(blocks);
}

static size_t least_above_count(uint32_t supernodes)
{
    const uint32_t blocks = block_count(supernodes);
    return 2 * (size_t)supernodes + (size_t)level_count(blocks) * blocks;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void find_least_above(struct hierarchy *hierarchy)
{
    const uint32_t supernodes = hierarchy->shape.supernode_count;
    const uint32_t blocks = block_count(supernodes);
    const uint32_t *above = hierarchy->above;
    uint32_t *to_end = hierarchy->least_above;
    uint32_t *from_begin = to_end + supernodes;
    uint32_t *level = from_begin + supernodes;
    level[blocks - 1] = UINT32_MAX; /* for a hierarchy without supernodes */
    for (uint32_t s = 0; s < supernodes; s++) {
        from_begin[s] = s % BLOCK == 0 ? above[s] : lesser(above[s], from_begin[s - 1]);
        level[s / BLOCK] = from_begin[s];
    }
    for (uint32_t s = supernodes; s-- > 0;) {
        const bool is_last = s % BLOCK == BLOCK - 1 || s + 1 == supernodes;
        to_end[s] = is_last ? above[s] : lesser(above[s], to_end[s + 1]);
    }
    for (uint32_t width = 1; 2 * width <= blocks; width *= 2, level += blocks) {
        for (uint32_t block = 0; block + 2 * width <= blocks; block++) {
            level[blocks + block] = lesser(level[block], level[block + width]);
        }
    }
}

/* Returns the minimum of `above` over the supernodes from s to t - 1. */
static uint32_t least_above(const struct hierarchy *hierarchy, uint32_t s, uint32_t t)
{
    const uint32_t supernodes = hierarchy->shape.supernode_count;
    const uint32_t blocks = block_count(supernodes);
    const uint32_t *to_end = hierarchy->least_above;
    const uint32_t *from_begin = to_end + supernodes;
    const uint32_t begin = s / BLOCK + 1;
    const uint32_t end = (t - 1) / BLOCK;
    uint32_t least = hierarchy->above[s];
    if (begin > end) {
        while (++s < t) {
            least = lesser(least, hierarchy->above[s]);
        }
        return least;
    }
    least = lesser(to_end[s], from_begin[t - 1]);
    if (begin < end) {
        const uint32_t level = level_count(end - begin) - 1;
        const uint32_t *minima = from_begin + supernodes + (size_t)level * blocks;
        least = lesser(least, lesser(minima[begin], minima[end - (UINT32_C(1) << level)]));
    }
    return least;
}

uint32_t hierarchy_common(const struct hierarchy *hierarchy, uint32_t a, uint32_t b)
{
    const uint32_t *low = hierarchy->place + 2 * (size_t)a;
    const uint32_t *high = hierarchy->place + 2 * (size_t)b;
    if (low[0] == high[0]) {
        return lesser(low[1], high[1]);
    }
    if (low[0] > high[0]) {
        const uint32_t *const former = low;
        low = high;
        high = former;
    }
    return lesser(high[1], least_above(hierarchy, low[0], high[0]));
}

enum status hierarchy_open(const void *bytes, uint64_t size, struct hierarchy **ret_hierarchy)
{
    struct header header;
    if (size < sizeof(header)) {
        return STATUS_CORRUPT;
    }
    memcpy(&header, bytes, sizeof(header));
    if (!is_header(&header, size)) {
        return STATUS_CORRUPT;
    }
    struct hierarchy *hierarchy = calloc(1, sizeof(*hierarchy));
    if (hierarchy == NULL) {
        return STATUS_NO_MEMORY;
    }
    hierarchy->bytes = bytes;
    hierarchy->size = size;
    const size_t n = header.vertex_count;
    const size_t supernodes = header.supernode_count;
    const size_t shape_size = place_arrays(&header).up;
    hierarchy->shape_bytes = malloc(shape_size);
    hierarchy->openings = malloc(sizeof(*hierarchy->openings));
    hierarchy->supernode_of =
        malloc((3 * n + 3 * supernodes + least_above_count(header.supernode_count) +
                header.row_count + 1) *
               sizeof(uint32_t));
    enum status status = STATUS_NO_MEMORY;
    if (hierarchy->openings != NULL && hierarchy->shape_bytes != NULL &&
        hierarchy->supernode_of != NULL) {
        atomic_init(hierarchy->openings, 1);
        hierarchy->above = hierarchy->supernode_of + n;
        hierarchy->child = hierarchy->above + supernodes;
        hierarchy->sibling = hierarchy->child + supernodes;
        hierarchy->least_above = hierarchy->sibling + supernodes;
        hierarchy->place = hierarchy->least_above + least_above_count(header.supernode_count);
        hierarchy->row_depth = hierarchy->place + 2 * n;
        memcpy(hierarchy->shape_bytes, bytes, shape_size);
        find_shape(&header, hierarchy->shape_bytes, hierarchy);
        find_weights(&header, bytes, hierarchy);
        status = is_shape(&hierarchy->shape, header.row_count, header.entry_count) &&
                         measure_depths(hierarchy)
                     ? STATUS_OK
                     : STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        find_least_above(hierarchy);
    }
    if (status != STATUS_OK) {
        hierarchy_close(hierarchy);
        return status;
    }
    *ret_hierarchy = hierarchy;
    return STATUS_OK;
}

enum status hierarchy_open_like(const struct hierarchy *like, const void *bytes, uint64_t size,
                                struct hierarchy **ret_hierarchy)
{
    struct header header;
    if (size != like->size || memcmp(bytes, like->bytes, sizeof(header)) != 0) {
        return STATUS_CORRUPT;
    }
    struct hierarchy *hierarchy = malloc(sizeof(*hierarchy));
    if (hierarchy == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(&header, bytes, sizeof(header));
    *hierarchy = *like;
    find_weights(&header, bytes, hierarchy);
    hierarchy->bytes = bytes;
    atomic_fetch_add(hierarchy->openings, 1);
    *ret_hierarchy = hierarchy;
    return STATUS_OK;
}

void hierarchy_close(struct hierarchy *hierarchy)
{
    if (hierarchy == NULL) {
        return;
    }
    if (hierarchy->openings == NULL || atomic_fetch_sub(hierarchy->openings, 1) == 1) {
        free(hierarchy->shape_bytes);
        free(hierarchy->supernode_of);
        free(hierarchy->openings);
    }
    free(hierarchy);
}
