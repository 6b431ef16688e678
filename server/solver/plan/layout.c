#include "server/solver/plan/layout.h"

#include <stdlib.h>

struct part {
    uint32_t begin;  /* first position; the next part begins where this one ends */
    uint32_t level;  /* level of the component that began the part */
    uint32_t rank;   /* parts with a lower rank become pivots earlier */
    uint32_t height; /* height in the tree; 0 if no part is below this one */
};

struct layout_tile {
    uint32_t tile;
    uint32_t rank;
    uint32_t height;
    uint32_t place; /* index of the tile within its part */
};

struct builder {
    const struct order *order;
    const struct plan_layout_options *options;
    struct plan_layout *layout;
    struct part *parts; /* at most one part per vertex, and an end marker */
    uint32_t part_count;
    uint32_t filled; /* positions that are assigned so far */
    uint32_t level;  /* level of the current component */
};

void plan_layout_finish(struct plan_layout *layout)
{
    free(layout->outline.vertex_at);
    *layout = (struct plan_layout){0};
}

static void begin_part(struct builder *builder, uint32_t height)
{
    const struct part *last =
        builder->part_count > 0 ? &builder->parts[builder->part_count - 1] : NULL;
    uint32_t rank = 0;
    if (last != NULL) {
        rank = last->level == builder->level ? last->rank : last->rank + 1;
    }
    builder->parts[builder->part_count++] = (struct part){
        .begin = builder->filled, .level = builder->level, .rank = rank, .height = height};
}

static void put_vertices(struct builder *builder, uint32_t begin, uint32_t end)
{
    for (uint32_t place = begin; place < end; place++) {
        builder->layout->outline.vertex_at[builder->filled++] = builder->order->vertex_at[place];
    }
}

static bool is_leaf(const struct builder *builder, const struct order_node *node)
{
    return node->child[0] == NO_NODE || node->end - node->begin <= builder->options->leaf;
}

static const struct order_node *child_of(const struct builder *builder,
                                         const struct order_node *node, int side)
{
    return &builder->order->nodes[node->child[side]];
}

/* Adds the leaves below a node. Consecutive small leaves share a tile. */
static void put_leaves(struct builder *builder, const struct order_node *node)
{
    if (node->begin == node->end) {
        return;
    }
    if (!is_leaf(builder, node)) {
        put_leaves(builder, child_of(builder, node, 0));
        put_leaves(builder, child_of(builder, node, 1));
        return;
    }
    /* Sources have no left panels, and sinks have no right panels. So neither have targets, unless
     * they share a tile with other components. strong_components.h defines the levels. */
    const struct part *last =
        builder->part_count > 0 ? &builder->parts[builder->part_count - 1] : NULL;
    const uint32_t sinks = 2 * builder->order->root_count;
    const bool joins =
        last != NULL && last->height == 0 && (last->level == 0) == (builder->level == 0) &&
        (last->level == sinks) == (builder->level == sinks) &&
        builder->filled - last->begin + (node->end - node->begin) <= builder->options->tile;
    if (!joins) {
        begin_part(builder, 0);
    }
    put_vertices(builder, node->begin, node->end);
}

static void put_separators(struct builder *builder, const struct order_node *node)
{
    if (!is_leaf(builder, node)) {
        put_separators(builder, child_of(builder, node, 0));
        put_separators(builder, child_of(builder, node, 1));
        put_vertices(builder, node->separator, node->end);
    }
}

/* Adds the parts of a subtree. Recursion is as deep as the tree. Returns the height of the subtree,
 * which is 1 for a leaf. */
static uint32_t put_tree(struct builder *builder, const struct order_node *node)
{
    uint32_t height = 1;
    if (is_leaf(builder, node)) {
        put_leaves(builder, node);
        return height;
    }
    const bool clump = node->end - node->begin <= builder->options->clump;
    if (clump) {
        put_leaves(builder, node);
    }
    for (int side = 0; side < 2 && !clump; side++) {
        const uint32_t above = put_tree(builder, child_of(builder, node, side));
        height = above > height ? above : height;
    }
    begin_part(builder, height);
    if (clump) {
        put_separators(builder, node);
    } else {
        put_vertices(builder, node->separator, node->end);
    }
    /* An empty separator is not a part. */
    if (builder->parts[builder->part_count - 1].begin == builder->filled) {
        builder->part_count--;
    }
    return height + 1;
}

static void cut_parts(struct builder *builder, struct layout_tile *tiles)
{
    struct plan_outline *outline = &builder->layout->outline;
    for (uint32_t index = 0; index < builder->part_count; index++) {
        const struct part *part = &builder->parts[index];
        const uint32_t end = builder->parts[index + 1].begin;
        /* All tiles of the part have the same width, except the last. */
        const struct plan_layout_options *options = builder->options;
        const uint64_t size = end - part->begin;
        const uint64_t tile_count = (size + options->tile - 1) / options->tile;
        const uint64_t least = (size + tile_count - 1) / tile_count;
        const uint64_t even = (least + options->granule - 1) / options->granule * options->granule;
        const uint32_t width = even < options->tile ? (uint32_t)even : options->tile;
        uint32_t count = 0;
        for (uint32_t begin = part->begin; begin < end; begin += width) {
            const uint32_t tile = outline->tile_count++;
            tiles[tile] = (struct layout_tile){
                .tile = tile, .rank = part->rank, .height = part->height, .place = count++};
            outline->tile_begin[tile] = begin;
        }
    }
    outline->tile_begin[outline->tile_count] = builder->filled;
    builder->layout->part_count = builder->part_count;
}

/* Orders tiles so that those that can be pivots of the same round are adjacent. */
static int compare_tiles(const void *a, const void *b)
{
    const struct layout_tile *x = a;
    const struct layout_tile *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->height != y->height) {
        return x->height < y->height ? -1 : 1;
    }
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return x->tile < y->tile ? -1 : x->tile > y->tile;
}

static void build_layout(struct builder *builder, struct layout_tile *tiles)
{
    const struct order *order = builder->order;
    struct plan_outline *outline = &builder->layout->outline;
    for (uint32_t index = 0; index < order->root_count; index++) {
        builder->level = order->roots[index].level;
        put_tree(builder, &order->nodes[order->roots[index].node]);
    }
    CHECK(builder->filled == order->vertex_count);
    builder->parts[builder->part_count].begin = builder->filled;
    cut_parts(builder, tiles);
    qsort(tiles, outline->tile_count, sizeof(*tiles), compare_tiles);
    for (uint32_t index = 0; index < outline->tile_count; index++) {
        outline->pivot[index] = tiles[index].tile;
    }
}

enum status plan_layout_make(const struct order *order, const struct plan_layout_options *options,
                             struct plan_layout *ret_layout)
{
    const size_t places = (size_t)order->vertex_count + 2;
    struct plan_layout layout = {.outline = {.vertex_at = malloc(3 * places * sizeof(uint32_t)),
                                             .tile = options->tile,
                                             .symmetric = options->symmetric}};
    struct plan_outline *outline = &layout.outline;
    struct builder builder = {.order = order,
                              .options = options,
                              .layout = &layout,
                              .parts = malloc(places * sizeof(*builder.parts))};
    struct layout_tile *tiles = malloc(places * sizeof(*tiles));
    const bool enough = outline->vertex_at != NULL && builder.parts != NULL && tiles != NULL;
    if (enough) {
        outline->tile_begin = outline->vertex_at + places;
        outline->pivot = outline->vertex_at + 2 * places;
        build_layout(&builder, tiles);
        *ret_layout = layout;
    } else {
        plan_layout_finish(&layout);
    }
    free(builder.parts);
    free(tiles);
    return enough ? STATUS_OK : STATUS_NO_MEMORY;
}
