#include "server/store/graph_file.h"

#include "server/store/graph_file_layout.h"
#include "server/store/graph_writing.h"
#include "server/store/omission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Edges of a whole graph that are written at a time. */
#define WRITE_EDGES ((size_t)8 * ROW_BLOCK_EDGES)

static uint64_t owner_of(uint64_t its_checksum, const char *id)
{
    return XXH3_64bits_withSeed(id, strlen(id), its_checksum);
}

static const void *weights_from(const struct graph *graph, uint64_t edge)
{
    return graph->weight_type == WEIGHT_INTEGER ? (const void *)(graph->weight_i4 + edge)
                                                : (const void *)(graph->weight_f8 + edge);
}

enum status graph_file_begin(int folder, const struct graph *graph, struct graph_draft *ret_draft)
{
    struct graph_writing *writing;
    enum status status =
        graph_writing_begin(folder, graph->edge_count, graph->weight_type, &writing);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint64_t edge = 0; edge < graph->edge_count && status == STATUS_OK; edge += WRITE_EDGES) {
        const uint64_t left = graph->edge_count - edge;
        status = graph_writing_add(writing, graph->target + edge, weights_from(graph, edge),
                                   left < WRITE_EDGES ? (size_t)left : WRITE_EDGES);
    }
    if (status != STATUS_OK) {
        graph_writing_drop(writing);
        return status;
    }
    return graph_writing_end(writing, graph, ret_draft);
}

enum status graph_file_draft(int folder, const char *id, const struct graph *graph,
                             struct graph_draft *draft)
{
    enum status status = draft->failure;
    if (status == STATUS_OK && !draft->begun) {
        status = graph_file_begin(folder, graph, draft);
    }
    if (status == STATUS_OK) {
        const uint64_t owner = owner_of(draft->header_checksum, id);
        status = draft_file_write(draft->file.descriptor, draft->owner_at, &owner, sizeof owner);
    }
    if (status != STATUS_OK) {
        graph_file_drop(draft);
    }
    return status;
}

void graph_file_drop(struct graph_draft *draft)
{
    if (draft->begun) {
        draft_file_finish(&draft->file);
    }
    draft->begun = false;
}

/* The header, once the size of the file agrees with its counts: after this no count can ask for
 * more memory than the file is long. */
static enum status read_header(int descriptor, struct graph_file_header *ret_header,
                               struct graph_file_layout *ret_layout)
{
    struct graph_file_header header;
    struct graph_file_layout layout;
    struct stat file;
    if (fstat(descriptor, &file) != 0) {
        return draft_file_status(errno);
    }
    enum status status = draft_file_read(descriptor, 0, &header, sizeof header);
    if (status != STATUS_OK) {
        return status;
    }
    header = graph_file_header_from(&header);
    if (!graph_file_header_is_sound(&header) || !graph_file_layout_of(&header, &layout) ||
        layout.file_size != (uint64_t)file.st_size) {
        return STATUS_CORRUPT;
    }
    *ret_header = header;
    *ret_layout = layout;
    return STATUS_OK;
}

static enum status read_names(int descriptor, const struct graph_file_header *header,
                              const struct graph_file_layout *layout,
                              struct vertex_names **ret_names)
{
    unsigned char *bytes = malloc(header->names_size + 1);
    if (bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct vertex_names *names = NULL;
    enum status status = draft_file_read(descriptor, layout->names_at, bytes, header->names_size);
    if (status == STATUS_OK && XXH3_64bits(bytes, header->names_size) != header->names_checksum) {
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        status = vertex_names_decode(bytes, header->names_size, &names);
    }
    free(bytes);
    if (status == STATUS_OK && vertex_names_count(names) != header->vertex_count) {
        vertex_names_destroy(names);
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK) {
        *ret_names = names;
    }
    return status;
}

/* The bytes of a part, owned by the caller; does nothing once status is a failure. */
static void *read_part(int descriptor, uint64_t offset, size_t size, enum status *status)
{
    if (*status != STATUS_OK) {
        return NULL;
    }
    void *bytes = malloc(size + 1);
    *status = bytes != NULL ? draft_file_read(descriptor, offset, bytes, size) : STATUS_NO_MEMORY;
    if (*status == STATUS_OK) {
        return bytes;
    }
    free(bytes);
    return NULL;
}

static bool edges_are_sound(const struct graph *graph)
{
    const uint64_t *offset = graph->row_offset;
    if (offset[0] != 0 || offset[graph->vertex_count] != graph->edge_count) {
        return false;
    }
    for (uint32_t row = 0; row < graph->vertex_count; row++) {
        if (offset[row + 1] < offset[row] || offset[row + 1] > graph->edge_count) {
            return false;
        }
        for (uint64_t edge = offset[row]; edge < offset[row + 1]; edge++) {
            if (graph->target[edge] >= graph->vertex_count ||
                (edge > offset[row] && graph->target[edge] <= graph->target[edge - 1])) {
                return false;
            }
        }
    }
    return true;
}

static uint64_t checksum_as_one(const struct graph *graph, const struct graph_file_layout *layout)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, graph->row_offset, layout->offsets_size);
    XXH3_64bits_update(&state, graph->target, layout->targets_size);
    XXH3_64bits_update(&state, weights_from(graph, 0), layout->weights_size);
    return XXH3_64bits_digest(&state);
}

/* STATUS_CORRUPT when it is another one. */
static enum status check_edges(const struct graph *graph, const struct graph_file_header *header,
                               const struct graph_file_layout *layout)
{
    if (header->version <= 2) {
        return checksum_as_one(graph, layout) == header->edges_checksum ? STATUS_OK
                                                                        : STATUS_CORRUPT;
    }
    const uint64_t count = graph_file_block_count(graph->edge_count);
    const size_t weight_size =
        graph->weight_type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double);
    struct graph_file_block *blocks = calloc(count + 1, sizeof *blocks);
    if (blocks == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t first = i * ROW_BLOCK_EDGES;
        const uint64_t left = graph->edge_count - first;
        blocks[i] = graph_file_block_of(graph->target + first, weights_from(graph, first),
                                        weight_size, row_block_edges(left));
    }
    const bool same = graph_file_edges_checksum(graph->row_offset, graph->vertex_count, blocks,
                                                count) == header->edges_checksum;
    free(blocks);
    return same ? STATUS_OK : STATUS_CORRUPT;
}

static enum status read_edges(int descriptor, const struct graph_file_header *header,
                              const struct graph_file_layout *layout, struct graph *graph)
{
    enum status status = STATUS_OK;
    graph->row_offset = read_part(descriptor, layout->offsets_at, layout->offsets_size, &status);
    graph->target = read_part(descriptor, layout->targets_at, layout->targets_size, &status);
    void *weights = read_part(descriptor, layout->weights_at, layout->weights_size, &status);
    if (graph->weight_type == WEIGHT_INTEGER) {
        graph->weight_i4 = weights;
    } else {
        graph->weight_f8 = weights;
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = check_edges(graph, header, layout);
    if (status == STATUS_CORRUPT && omission_is("graph-check")) {
        status = STATUS_OK;
    }
    return status == STATUS_OK && !edges_are_sound(graph) ? STATUS_CORRUPT : status;
}

static void take_header(const struct graph_file_header *header, struct graph *graph)
{
    graph->vertex_count = header->vertex_count;
    graph->directed = header->directed != 0;
    graph->weight_type = (enum weight_type)header->weight_type;
    graph->edge_count = header->edge_count;
    graph->summary = (struct graph_summary){
        .edges_read = header->edges_read,
        .loops_dropped = header->loops_dropped,
        .parallel_merged = header->parallel_merged,
        .min_weight = header->min_weight,
        .max_weight = header->max_weight,
        .distance_bound = header->distance_bound,
        .negative_loop_weight = header->negative_loop_weight,
        .components = header->components,
        .negative_loop = header->negative_loop,
        .negative = header->negative != 0,
        .integral = header->integral != 0,
    };
}

enum status graph_file_read_open(int descriptor, struct graph **ret_graph)
{
    struct graph_file_header header;
    struct graph_file_layout layout;
    enum status status = read_header(descriptor, &header, &layout);
    if (status != STATUS_OK) {
        return status;
    }
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        return STATUS_NO_MEMORY;
    }
    take_header(&header, graph);
    status = read_names(descriptor, &header, &layout, &graph->names);
    if (status == STATUS_OK) {
        status = read_edges(descriptor, &header, &layout, graph);
    }
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return status;
    }
    *ret_graph = graph;
    return STATUS_OK;
}

static enum status check_owner(int descriptor, const char *id)
{
    struct graph_file_header header;
    struct graph_file_layout layout;
    uint64_t owner = 0;
    enum status status = read_header(descriptor, &header, &layout);
    if (status != STATUS_OK || header.version == 1) {
        return status;
    }
    status = draft_file_read(descriptor, layout.owner_at, &owner, sizeof owner);
    const bool is_other =
        owner != owner_of(header.header_checksum, id) && !omission_is("owner-check");
    return status == STATUS_OK && is_other ? STATUS_CORRUPT : status;
}

enum status graph_file_open(int folder, const char *id, int *ret_descriptor)
{
    int descriptor = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) {
        return errno == ENOENT ? STATUS_CORRUPT : draft_file_status(errno);
    }
    enum status status = check_owner(descriptor, id);
    if (status != STATUS_OK) {
        close(descriptor);
        return status;
    }
    *ret_descriptor = descriptor;
    return STATUS_OK;
}

enum status graph_file_read(int folder, const char *id, struct graph **ret_graph)
{
    int descriptor = -1;
    enum status status = graph_file_open(folder, id, &descriptor);
    if (status != STATUS_OK) {
        return status;
    }
    status = graph_file_read_open(descriptor, ret_graph);
    close(descriptor);
    return status;
}

enum status graph_file_read_names(int folder, const char *id, struct vertex_names **ret_names)
{
    int descriptor = -1;
    enum status status = graph_file_open(folder, id, &descriptor);
    if (status != STATUS_OK) {
        return status;
    }
    struct graph_file_header header;
    struct graph_file_layout layout;
    status = read_header(descriptor, &header, &layout);
    if (status == STATUS_OK) {
        status = read_names(descriptor, &header, &layout, ret_names);
    }
    close(descriptor);
    return status;
}

static enum status read_header_of(int folder, const char *id, struct graph_file_header *ret_header)
{
    int descriptor = -1;
    enum status status = graph_file_open(folder, id, &descriptor);
    if (status != STATUS_OK) {
        return status;
    }
    struct graph_file_layout layout;
    status = read_header(descriptor, ret_header, &layout);
    close(descriptor);
    return status;
}

enum status graph_file_edge_count(int folder, const char *id, uint64_t *ret_count)
{
    struct graph_file_header header;
    enum status status = read_header_of(folder, id, &header);
    if (status == STATUS_OK) {
        *ret_count = header.edge_count;
    }
    return status;
}

enum status graph_file_adjacency_size(int folder, const char *id, size_t *ret_bytes)
{
    struct graph_file_header header;
    enum status status = read_header_of(folder, id, &header);
    if (status != STATUS_OK) {
        return status;
    }
    return adjacency_size(header.vertex_count, header.edge_count, header.directed != 0,
                          (enum weight_type)header.weight_type, ret_bytes);
}
