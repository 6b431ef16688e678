#include "server/store/graph_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define VERSION 6
#define ID_ROOM 32

/* The header stores the members of struct graph_summary from edges_read on. */
#define SUMMARY_AT offsetof(struct graph_summary, edges_read)
#define SUMMARY_SIZE (sizeof(struct graph_summary) - SUMMARY_AT)

static const char magic[8] = "APSPgrph";

struct header {
    char magic[8];
    uint32_t version;
    uint32_t vertex_count;
    uint64_t edge_count;
    uint64_t names_size;
    uint32_t directed;
    uint32_t weight_type;
    unsigned char summary[SUMMARY_SIZE];
    char id[ID_ROOM]; /* ID of the graph, to detect a file under the name of another graph */
    uint64_t names_checksum;
    uint64_t edges_checksum;  /* checksum of row offsets, targets and weights */
    uint64_t header_checksum; /* set by draft_file_seal_header */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");
static_assert(sizeof(struct header) == 168, "no padding");
static_assert(GRAPH_ID_SIZE <= ID_ROOM, "an id fits");

/* Positions of the parts after the header, all multiples of 8. */
struct layout {
    uint64_t offsets_at;
    uint64_t targets_at;
    uint64_t weights_at;
    uint64_t names_at;
    uint64_t file_size;
    size_t offsets_size;
    size_t targets_size;
    size_t weights_size;
};

/* Places a part at *position and moves *position past it to a multiple of 8; false on overflow. */
static bool place_part(uint64_t *position, uint64_t size, uint64_t *ret_at)
{
    uint64_t end;
    if (__builtin_add_overflow(*position, size, &end) || __builtin_add_overflow(end, 7, &end)) {
        return false;
    }
    *ret_at = *position;
    *position = end & ~(uint64_t)7;
    return true;
}

/* Computes the layout. Returns false if the counts in the header are too large for any file. */
static bool lay_out(const struct header *header, struct layout *ret_layout)
{
    const size_t weight_size =
        header->weight_type == WEIGHT_INTEGER ? sizeof(int32_t) : sizeof(double);
    struct layout layout = {.offsets_size = ((size_t)header->vertex_count + 1) * sizeof(uint64_t),
                            .file_size = sizeof(*header)};
    if (__builtin_mul_overflow(header->edge_count, sizeof(uint32_t), &layout.targets_size) ||
        __builtin_mul_overflow(header->edge_count, weight_size, &layout.weights_size) ||
        !place_part(&layout.file_size, layout.offsets_size, &layout.offsets_at) ||
        !place_part(&layout.file_size, layout.targets_size, &layout.targets_at) ||
        !place_part(&layout.file_size, layout.weights_size, &layout.weights_at) ||
        !place_part(&layout.file_size, header->names_size, &layout.names_at)) {
        return false;
    }
    *ret_layout = layout;
    return true;
}

static const void *weights_of(const struct graph *graph)
{
    return graph->weight_type == WEIGHT_INTEGER ? (const void *)graph->weight_i4
                                                : (const void *)graph->weight_f8;
}

static uint64_t edges_checksum(const struct graph *graph, const struct layout *layout)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, graph->row_offset, layout->offsets_size);
    XXH3_64bits_update(&state, graph->target, layout->targets_size);
    XXH3_64bits_update(&state, weights_of(graph), layout->weights_size);
    return XXH3_64bits_digest(&state);
}

struct opened {
    int descriptor;
    struct header header;
    struct layout layout;
    struct graph_summary summary;
};

static struct header make_header(const char *id, const struct graph *graph)
{
    struct header header = {
        .version = VERSION,
        .vertex_count = graph->vertex_count,
        .edge_count = graph->edge_count,
        .names_size = vertex_names_encoded_size(graph->names),
        .directed = graph->directed,
        .weight_type = graph->weight_type,
    };
    memcpy(header.summary, (const char *)&graph->summary + SUMMARY_AT, SUMMARY_SIZE);
    memcpy(header.id, id, strnlen(id, ID_ROOM - 1));
    return header;
}

enum status graph_file_write(int folder, const char *id, const struct graph *graph,
                             struct draft_file *ret_file, uint64_t *ret_bytes)
{
    struct header header = make_header(id, graph);
    struct layout layout;
    if (!lay_out(&header, &layout)) {
        return STATUS_TOO_LARGE;
    }
    const size_t names_size = layout.file_size - layout.names_at; /* includes padding */
    unsigned char *names = calloc(names_size + 1, 1);
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(graph->names, names);
    header.names_checksum = XXH3_64bits(names, header.names_size);
    header.edges_checksum = edges_checksum(graph, &layout);
    draft_file_seal_header(magic, &header, sizeof(header));
    const struct draft_part parts[] = {{0, &header, sizeof(header)},
                                       {layout.offsets_at, graph->row_offset, layout.offsets_size},
                                       {layout.targets_at, graph->target, layout.targets_size},
                                       {layout.weights_at, weights_of(graph), layout.weights_size},
                                       {layout.names_at, names, names_size}};
    const enum status status =
        draft_file_make(folder, parts, sizeof(parts) / sizeof(parts[0]), ret_file);
    free(names);
    STATUS_TRY(status);
    *ret_bytes = layout.file_size;
    return STATUS_OK;
}

/* Checks the graph's ID, the bounds of the header's fields, and that the file size agrees with its
 * counts. Afterwards no count can cause an allocation larger than the file. */
static enum status read_header(int descriptor, const char *id, struct opened *ret_file)
{
    struct header header;
    struct layout layout;
    struct graph_summary summary = {0};
    uint64_t file_size;
    STATUS_TRY(draft_file_read_header(descriptor, magic, &header, sizeof(header), &file_size));
    memcpy((char *)&summary + SUMMARY_AT, header.summary, SUMMARY_SIZE);
    const bool is_sound =
        header.version == VERSION && strncmp(id, header.id, ID_ROOM) == 0 && header.directed <= 1 &&
        (header.weight_type == WEIGHT_INTEGER || header.weight_type == WEIGHT_REAL) &&
        summary.negative <= 1 &&
        (summary.negative_loop == NO_VERTEX || summary.negative_loop < header.vertex_count) &&
        isfinite(summary.min_weight) && isfinite(summary.max_weight) &&
        isfinite(summary.negative_loop_weight);
    if (!is_sound || !lay_out(&header, &layout) || layout.file_size != file_size) {
        return STATUS_CORRUPT;
    }
    *ret_file = (struct opened){descriptor, header, layout, summary};
    return STATUS_OK;
}

/* Opens the file of this graph. The caller closes the descriptor. */
static enum status open_file(int folder, const char *id, struct opened *ret_file)
{
    const int descriptor = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) {
        return errno == ENOENT ? STATUS_CORRUPT : draft_file_status(errno);
    }
    const enum status status = read_header(descriptor, id, ret_file);
    if (status != STATUS_OK) {
        close(descriptor);
    }
    return status;
}

/* Reads and decodes the vertex names. bytes: a buffer for their encoded form. */
static enum status decode_names(const struct opened *file, unsigned char *bytes,
                                struct vertex_names **ret_names)
{
    const struct header *header = &file->header;
    STATUS_TRY(draft_file_read(file->descriptor, file->layout.names_at, bytes, header->names_size));
    return XXH3_64bits(bytes, header->names_size) == header->names_checksum
               ? vertex_names_decode(bytes, header->names_size, ret_names)
               : STATUS_CORRUPT;
}

static enum status read_names(const struct opened *file, struct vertex_names **ret_names)
{
    struct vertex_names *names = NULL;
    unsigned char *bytes = malloc(file->header.names_size + 1);
    const enum status status = bytes != NULL ? decode_names(file, bytes, &names) : STATUS_NO_MEMORY;
    free(bytes);
    STATUS_TRY(status);
    if (vertex_names_count(names) != file->header.vertex_count) {
        vertex_names_destroy(names);
        return STATUS_CORRUPT;
    }
    *ret_names = names;
    return STATUS_OK;
}

/* Reads a part into memory owned by the caller; does nothing if *status is already an error. */
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

static enum status read_edges(const struct opened *file, struct graph *graph)
{
    const struct layout *layout = &file->layout;
    const int descriptor = file->descriptor;
    enum status status = STATUS_OK;
    graph->row_offset = read_part(descriptor, layout->offsets_at, layout->offsets_size, &status);
    graph->target = read_part(descriptor, layout->targets_at, layout->targets_size, &status);
    void *weights = read_part(descriptor, layout->weights_at, layout->weights_size, &status);
    if (graph->weight_type == WEIGHT_INTEGER) {
        graph->weight_i4 = weights;
    } else {
        graph->weight_f8 = weights;
    }
    STATUS_TRY(status);
    return edges_checksum(graph, layout) == file->header.edges_checksum ? STATUS_OK
                                                                        : STATUS_CORRUPT;
}

static enum status read_graph(const struct opened *file, struct graph **ret_graph)
{
    const struct header *header = &file->header;
    struct graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL) {
        return STATUS_NO_MEMORY;
    }
    graph->vertex_count = header->vertex_count;
    graph->directed = header->directed != 0;
    graph->weight_type = (enum weight_type)header->weight_type;
    graph->edge_count = header->edge_count;
    graph->summary = file->summary;
    enum status status = read_names(file, &graph->names);
    STATUS_THEN(status, read_edges(file, graph));
    if (status != STATUS_OK) {
        graph_destroy(graph);
        return status;
    }
    *ret_graph = graph;
    return STATUS_OK;
}

enum status graph_file_read_open(int descriptor, const char *id, struct graph **ret_graph)
{
    struct opened file;
    STATUS_TRY(read_header(descriptor, id, &file));
    return read_graph(&file, ret_graph);
}

enum status graph_file_open(int folder, const char *id, int *ret_descriptor)
{
    struct opened file = {.descriptor = -1};
    STATUS_TRY(open_file(folder, id, &file));
    *ret_descriptor = file.descriptor;
    return STATUS_OK;
}

enum status graph_file_read(int folder, const char *id, struct graph **ret_graph)
{
    struct opened file;
    STATUS_TRY(open_file(folder, id, &file));
    const enum status status = read_graph(&file, ret_graph);
    close(file.descriptor);
    return status;
}

enum status graph_file_read_names(int folder, const char *id, struct vertex_names **ret_names)
{
    struct opened file;
    STATUS_TRY(open_file(folder, id, &file));
    const enum status status = read_names(&file, ret_names);
    close(file.descriptor);
    return status;
}

enum status graph_file_sizes(int folder, const char *id, uint64_t *ret_edge_count,
                             size_t *ret_adjacency_bytes)
{
    struct opened file;
    STATUS_TRY(open_file(folder, id, &file));
    close(file.descriptor);
    *ret_edge_count = file.header.edge_count;
    return adjacency_size(file.header.vertex_count, file.header.edge_count,
                          file.header.directed != 0, (enum weight_type)file.header.weight_type,
                          ret_adjacency_bytes);
}
