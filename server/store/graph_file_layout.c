#include "server/store/graph_file_layout.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");
static_assert(sizeof(struct graph_file_header) == 144, "no padding");

static const char magic[8] = "APSPgrph";

/* Puts a part of this size at the position, which moves behind it to the next multiple of 8; false
 * on overflow. */
static bool place(uint64_t *position, uint64_t size, uint64_t *ret_at)
{
    uint64_t end;
    if (__builtin_add_overflow(*position, size, &end) || __builtin_add_overflow(end, 7, &end)) {
        return false;
    }
    *ret_at = *position;
    *position = end & ~(uint64_t)7;
    return true;
}

static bool place_edges(uint64_t *position, const struct graph_file_header *header,
                        struct graph_file_layout *layout)
{
    const size_t weight_size =
        header->weight_type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double);
    uint64_t room_size;
    if (header->edge_count > header->edge_room ||
        __builtin_mul_overflow(header->edge_room, sizeof(uint32_t), &room_size) ||
        __builtin_mul_overflow(header->edge_count, weight_size, &layout->weights_size)) {
        return false;
    }
    layout->targets_size = header->edge_count * sizeof(uint32_t);
    layout->hole_size = room_size - layout->targets_size;
    return place(position, room_size, &layout->targets_at) &&
           place(position, layout->weights_size, &layout->weights_at);
}

/* The end of the header, which had no room before version 3. */
static size_t header_size(uint32_t version)
{
    return version > 2 ? sizeof(struct graph_file_header)
                       : offsetof(struct graph_file_header, header_checksum);
}

struct graph_file_header graph_file_header_from(const struct graph_file_header *bytes)
{
    struct graph_file_header header = *bytes;
    if (header.version <= 2) {
        header.header_checksum = bytes->edge_room;
        header.edge_room = header.edge_count;
    }
    return header;
}

bool graph_file_layout_of(const struct graph_file_header *header,
                          struct graph_file_layout *ret_layout)
{
    struct graph_file_layout layout = {0};
    uint64_t position = header_size(header->version);
    const size_t owner_size = header->version == 1 ? 0 : sizeof(uint64_t);
    layout.offsets_size = ((size_t)header->vertex_count + 1) * sizeof(uint64_t);
    bool fits;
    if (header->version > 2) {
        fits = place_edges(&position, header, &layout) &&
               place(&position, layout.offsets_size, &layout.offsets_at) &&
               place(&position, header->names_size, &layout.names_at);
    } else {
        fits = place(&position, header->names_size, &layout.names_at) &&
               place(&position, layout.offsets_size, &layout.offsets_at) &&
               place_edges(&position, header, &layout);
    }
    fits = fits && place(&position, owner_size, &layout.owner_at);
    layout.file_size = position;
    if (fits) {
        *ret_layout = layout;
    }
    return fits;
}

uint64_t graph_file_block_count(uint64_t edges)
{
    return edges / ROW_BLOCK_EDGES + (edges % ROW_BLOCK_EDGES > 0);
}

struct graph_file_block graph_file_block_of(const uint32_t *targets, const void *weights,
                                            size_t weight_size, size_t edges)
{
    return (struct graph_file_block){XXH3_64bits(targets, edges * sizeof *targets),
                                     XXH3_64bits(weights, edges * weight_size)};
}

uint64_t graph_file_edges_checksum(const uint64_t *row_offset, uint32_t vertex_count,
                                   const struct graph_file_block *blocks, uint64_t block_count)
{
    const uint64_t checksums[] = {
        XXH3_64bits(row_offset, ((size_t)vertex_count + 1) * sizeof *row_offset),
        XXH3_64bits(blocks, block_count * sizeof *blocks),
    };
    return XXH3_64bits(checksums, sizeof checksums);
}

uint64_t graph_file_header_checksum(const struct graph_file_header *header)
{
    return XXH3_64bits(header, header_size(header->version) - sizeof header->header_checksum);
}

struct graph_file_header graph_file_header_of(const struct graph *graph)
{
    const struct graph_summary *summary = &graph->summary;
    struct graph_file_header header = {
        .version = GRAPH_FILE_VERSION,
        .vertex_count = graph->vertex_count,
        .edge_count = graph->edge_count,
        .names_size = vertex_names_encoded_size(graph->names),
        .directed = graph->directed,
        .weight_type = graph->weight_type,
        .edges_read = summary->edges_read,
        .loops_dropped = summary->loops_dropped,
        .parallel_merged = summary->parallel_merged,
        .min_weight = summary->min_weight,
        .max_weight = summary->max_weight,
        .distance_bound = summary->distance_bound,
        .negative_loop_weight = summary->negative_loop_weight,
        .components = summary->components,
        .negative_loop = summary->negative_loop,
        .negative = summary->negative,
        .integral = summary->integral,
    };
    memcpy(header.magic, magic, sizeof magic);
    return header;
}

bool graph_file_header_is_sound(const struct graph_file_header *header)
{
    return memcmp(header->magic, magic, sizeof magic) == 0 && header->version >= 1 &&
           header->version <= GRAPH_FILE_VERSION &&
           header->header_checksum == graph_file_header_checksum(header) && header->directed <= 1 &&
           (header->weight_type == WEIGHT_INTEGER || header->weight_type == WEIGHT_REAL) &&
           header->negative <= 1 && header->integral <= 1 &&
           (header->negative_loop == NO_VERTEX || header->negative_loop < header->vertex_count) &&
           isfinite(header->min_weight) && isfinite(header->max_weight) &&
           isfinite(header->negative_loop_weight);
}
