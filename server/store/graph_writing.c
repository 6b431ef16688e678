#include "server/store/graph_writing.h"

#include "proto/check.h"
#include "server/store/graph_file_layout.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of targets or weights, between two words to the disk. */
#define START_BYTES ((uint64_t)1 << 20)

/* Targets or weights. */
struct part {
    uint64_t at;
    size_t element_size;
    uint64_t bytes;   /* written */
    uint64_t started; /* of which the disk has been told */
};

struct graph_writing {
    struct draft_file file;
    uint64_t edge_room;
    uint64_t edges;
    struct part targets;
    struct part weights;
    struct graph_file_block blocks[]; /* of the edges */
};

/* Nothing but what is written of it is touched. NULL without memory, or when no memory has so many
 * blocks. */
static struct graph_writing *allocate(uint64_t edge_room)
{
    const uint64_t count = graph_file_block_count(edge_room);
    return count > SIZE_MAX / sizeof(struct graph_file_block) / 2
               ? NULL
               : calloc(1, sizeof(struct graph_writing) +
                               (size_t)count * sizeof(struct graph_file_block));
}

enum status graph_writing_begin(int folder, uint64_t edge_room, enum weight_type weight_type,
                                struct graph_writing **ret_writing)
{
    const struct graph_file_header header = {
        .version = GRAPH_FILE_VERSION, .edge_room = edge_room, .weight_type = weight_type};
    struct graph_file_layout layout;
    if (!graph_file_layout_of(&header, &layout)) {
        return STATUS_TOO_LARGE;
    }
    struct graph_writing *writing = allocate(edge_room);
    if (writing == NULL) {
        return STATUS_NO_MEMORY;
    }
    writing->edge_room = edge_room;
    writing->targets = (struct part){.at = layout.targets_at, .element_size = sizeof(uint32_t)};
    writing->weights = (struct part){
        .at = layout.weights_at,
        .element_size = weight_type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double)};
    enum status status = draft_file_create(folder, &writing->file);
    if (status != STATUS_OK) {
        free(writing);
        return status;
    }
    *ret_writing = writing;
    return STATUS_OK;
}

void graph_writing_drop(struct graph_writing *writing)
{
    if (writing != NULL) {
        draft_file_finish(&writing->file);
        free(writing);
    }
}

/* The disk is at work on it while the next one comes. */
static enum status add_to_part(const struct graph_writing *writing, struct part *part,
                               const void *elements, size_t count)
{
    const int descriptor = writing->file.descriptor;
    const size_t size = count * part->element_size;
    enum status status = draft_file_write(descriptor, part->at + part->bytes, elements, size);
    if (status != STATUS_OK) {
        return status;
    }
    part->bytes += size;
    if (part->bytes - part->started >= START_BYTES) {
        draft_file_start(descriptor, part->at + part->started, part->bytes - part->started);
        part->started = part->bytes;
    }
    return STATUS_OK;
}

/* Checksums are made while the processor has the edges at hand. */
static void note_blocks(struct graph_writing *writing, const uint32_t *targets, const void *weights,
                        size_t edges)
{
    const size_t weight_size = writing->weights.element_size;
    for (size_t first = 0; first < edges; first += ROW_BLOCK_EDGES) {
        const size_t left = edges - first;
        writing->blocks[(writing->edges + first) / ROW_BLOCK_EDGES] =
            graph_file_block_of(targets + first, (const char *)weights + first * weight_size,
                                weight_size, row_block_edges(left));
    }
}

enum status graph_writing_add(struct graph_writing *writing, const uint32_t *targets,
                              const void *weights, size_t edges)
{
    CHECK(writing->edges % ROW_BLOCK_EDGES == 0);
    CHECK(edges <= writing->edge_room - writing->edges);
    enum status status = add_to_part(writing, &writing->targets, targets, edges);
    if (status == STATUS_OK) {
        status = add_to_part(writing, &writing->weights, weights, edges);
    }
    if (status == STATUS_OK) {
        note_blocks(writing, targets, weights, edges);
        writing->edges += edges;
    }
    return status;
}

static enum status read_part(const struct graph_writing *writing, const struct part *part,
                             uint64_t first, size_t count, uint64_t checksum, void *elements)
{
    const size_t size = count * part->element_size;
    const enum status status = draft_file_read(
        writing->file.descriptor, part->at + first * part->element_size, elements, size);
    return status == STATUS_OK && XXH3_64bits(elements, size) != checksum ? STATUS_CORRUPT : status;
}

enum status graph_writing_read(const struct graph_writing *writing, uint64_t block,
                               uint32_t *targets, void *weights)
{
    const uint64_t first = block * ROW_BLOCK_EDGES;
    CHECK(block < graph_file_block_count(writing->edges));
    const uint64_t left = writing->edges - first;
    const size_t edges = row_block_edges(left);
    const struct graph_file_block *its = &writing->blocks[block];
    enum status status =
        read_part(writing, &writing->targets, first, edges, its->targets_checksum, targets);
    if (status == STATUS_OK && weights != NULL) {
        status =
            read_part(writing, &writing->weights, first, edges, its->weights_checksum, weights);
    }
    return status;
}

static enum status write_names(int descriptor, const struct graph *graph,
                               const struct graph_file_layout *layout,
                               struct graph_file_header *header)
{
    unsigned char *names = malloc(header->names_size + 1);
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(graph->names, names);
    header->names_checksum = XXH3_64bits(names, header->names_size);
    enum status status = draft_file_write(descriptor, layout->names_at, names, header->names_size);
    free(names);
    return status;
}

/* The header last, as it has the checksums of the rest. */
static enum status write_rest(struct graph_writing *writing, const struct graph *graph,
                              const struct graph_file_layout *layout,
                              struct graph_file_header *header)
{
    const int descriptor = writing->file.descriptor;
    enum status status =
        draft_file_write(descriptor, layout->offsets_at, graph->row_offset, layout->offsets_size);
    if (status == STATUS_OK) {
        status = write_names(descriptor, graph, layout, header);
    }
    if (status == STATUS_OK) {
        header->edges_checksum =
            graph_file_edges_checksum(graph->row_offset, graph->vertex_count, writing->blocks,
                                      graph_file_block_count(writing->edges));
        header->header_checksum = graph_file_header_checksum(header);
        status = draft_file_write(descriptor, 0, header, sizeof *header);
    }
    return status;
}

enum status graph_writing_end(struct graph_writing *writing, const struct graph *graph,
                              struct graph_draft *ret_draft)
{
    struct graph_file_header header = graph_file_header_of(graph);
    struct graph_file_layout layout;
    CHECK(writing->edges == graph->edge_count);
    header.edge_room = writing->edge_room;
    enum status status = graph_file_layout_of(&header, &layout)
                             ? write_rest(writing, graph, &layout, &header)
                             : STATUS_TOO_LARGE;
    if (status != STATUS_OK) {
        graph_writing_drop(writing);
        return status;
    }
    *ret_draft = (struct graph_draft){
        .begun = true,
        .file = writing->file,
        .header_checksum = header.header_checksum,
        .owner_at = layout.owner_at,
        .bytes = layout.file_size - layout.hole_size,
    };
    free(writing);
    return STATUS_OK;
}
