/* What the parts of a graph's file are and where they lie: of graph_file.c and graph_writing.c
 * alone. */
#pragma once

#include "proto/graph.h"
#include "proto/row_stream.h"

/* Files of version 1 end with the weights, and do not say whose they are; those of version 2 have
 * names and row offsets in front of the edges. */
#define GRAPH_FILE_VERSION 3

struct graph_file_header {
    char magic[8];
    uint32_t version;
    uint32_t vertex_count;
    uint64_t edge_count;
    uint64_t names_size;
    uint32_t directed;
    uint32_t weight_type;
    uint64_t edges_read;
    uint64_t loops_dropped;
    uint64_t parallel_merged;
    double min_weight;
    double max_weight;
    double distance_bound;
    double negative_loop_weight;
    uint32_t components;
    uint32_t negative_loop;
    uint32_t negative;
    uint32_t integral;
    uint64_t names_checksum;
    uint64_t edges_checksum; /* of two checksums: of the row offsets, and of what is known of the
                                blocks of edges; until version 2 of row offsets, targets and weights
                                as one part */
    uint64_t edge_room; /* weights lie behind the targets of so many edges; from version 3 on */
    uint64_t header_checksum; /* of all the fields before */
};

/* Back to back, each on a multiple of 8: targets, for which there may have been more room, weights,
 * row offsets, names. The last is the owner: a checksum of the graph's id, by which a file under
 * the name of another is found. */
struct graph_file_layout {
    uint64_t targets_at;
    uint64_t weights_at;
    uint64_t offsets_at;
    uint64_t names_at;
    uint64_t owner_at;
    uint64_t file_size;
    uint64_t hole_size; /* of it: nothing was ever there */
    size_t offsets_size;
    size_t targets_size;
    size_t weights_size;
};

/* From the first bytes of a file of any version: room and checksum where they belong. */
struct graph_file_header graph_file_header_from(const struct graph_file_header *bytes);
/* Of a block of edges: all have ROW_BLOCK_EDGES but the last. */
struct graph_file_block {
    uint64_t targets_checksum;
    uint64_t weights_checksum;
};
uint64_t graph_file_block_count(uint64_t edges);
struct graph_file_block graph_file_block_of(const uint32_t *targets, const void *weights,
                                            size_t weight_size, size_t edges);
uint64_t graph_file_edges_checksum(const uint64_t *row_offset, uint32_t vertex_count,
                                   const struct graph_file_block *blocks, uint64_t block_count);

/* False when the counts of the header do not fit any file. */
MUST_CHECK bool graph_file_layout_of(const struct graph_file_header *header,
                                     struct graph_file_layout *ret_layout);
/* But its room and its checksums. */
struct graph_file_header graph_file_header_of(const struct graph *graph);
uint64_t graph_file_header_checksum(const struct graph_file_header *header);
/* Whether it is one, of a version that is known, and its fields are within their bounds. */
bool graph_file_header_is_sound(const struct graph_file_header *header);
