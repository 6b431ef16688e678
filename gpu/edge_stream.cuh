/* The edges of a graph passing by the device, as often as wanted: in chunks through the two staging
 * buffers, one being filled by the host while the other is on the bus. A graph of at most
 * DEVICE_CHUNKS chunks travels once and stays. */
#pragma once

#include "gpu/device.cuh"
#include "gpu/kernel_certificate.cuh"
#include "gpu/kernel_sources.cuh"
#include "gpu/staging.h"

/* What a weight, a source and a target take on the device. The first chunk buffers may be as small
 * as this. */
#define EDGE_STREAM_EDGE_BYTES_MAX 16

template <typename weight> struct edge_stream {
    struct gpu *gpu;
    const struct graph *graph;
    const struct observer *observer; /* may be NULL; a cancel is heard between chunks */
    const weight *weights;           /* the graph's, on the host */
    const uint64_t *row_offset;      /* on the device */
    void *chunk[DEVICE_CHUNKS];      /* on the device, room for chunk_edges each */
    uint32_t chunk_edges;
    bool loaded[DEVICE_CHUNKS]; /* of a graph that stays */
};

/* Edges of a full chunk in a buffer of these bytes. */
template <typename weight> static inline uint32_t edge_stream_capacity(uint64_t chunk_bytes)
{
    const uint64_t bytes = chunk_bytes < DEVICE_CHUNK_BYTES ? chunk_bytes : DEVICE_CHUNK_BYTES;
    return (uint32_t)(bytes / (sizeof(weight) + 2 * sizeof(uint32_t)));
}

template <typename weight>
static inline bool edge_stream_stays(const struct edge_stream<weight> *stream)
{
    return stream->graph->edge_count <= (uint64_t)stream->chunk_edges * DEVICE_CHUNKS;
}

/* The row of the graph that an edge lies in. */
static inline uint32_t edge_stream_row(const struct graph *graph, uint64_t edge)
{
    uint32_t low = 0;
    uint32_t high = graph->vertex_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (graph->row_offset[middle] <= edge) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Where the parts of a chunk lie: weights, then targets and sources, so that doubles are aligned.
 */
template <typename weight>
static inline struct certificate_edges<weight>
edge_stream_chunk(const struct edge_stream<weight> *stream, uint32_t slot, uint64_t first) {
    const uint64_t left = stream->graph->edge_count - first;
    char *const device = (char *)stream->chunk[slot];
    struct certificate_edges<weight> edges;
    edges.first = first;
    edges.count = left < stream->chunk_edges ? (uint32_t)left : stream->chunk_edges;
    edges.weights = (const weight *)device;
    edges.target = (const uint32_t *)(device + edges.count * sizeof(weight));
    edges.source = edges.target + edges.count;
    edges.directed = stream->graph->directed;
    return edges;
}

template <typename weight>
MUST_CHECK static enum status edge_stream_load(const struct edge_stream<weight> *stream,
                                               uint32_t slot,
                                               const struct certificate_edges<weight> &edges)
{
    struct gpu *gpu = stream->gpu;
    const size_t weight_bytes = edges.count * sizeof(weight);
    const size_t target_bytes = edges.count * sizeof(uint32_t);
    char *const host = (char *)gpu->staging[slot];
    GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
    staging_copy(gpu->copier, host, stream->weights + edges.first, weight_bytes);
    staging_copy(gpu->copier, host + weight_bytes, stream->graph->target + edges.first,
                 target_bytes);
    GPU_TRY(cudaMemcpyAsync(stream->chunk[slot], host, weight_bytes + target_bytes,
                            cudaMemcpyHostToDevice, gpu->stream));
    struct sources_range range;
    range.row_offset = stream->row_offset;
    range.first = edges.first;
    range.count = edges.count;
    range.first_row = edge_stream_row(stream->graph, edges.first);
    range.last_row = edge_stream_row(stream->graph, edges.first + edges.count - 1);
    STATUS_TRY(sources_launch(range, (uint32_t *)edges.source, gpu->stream));
    GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
    return STATUS_OK;
}

/* Calls launch(edges) for each chunk, in stream order: enum status (const certificate_edges &). */
template <typename weight, typename launcher>
MUST_CHECK static enum status edge_stream_visit(struct edge_stream<weight> *stream, launcher launch)
{
    const bool stays = edge_stream_stays(stream);
    uint32_t slot = 0;
    for (uint64_t first = 0; first < stream->graph->edge_count; first += stream->chunk_edges) {
        if (device_cancelled(stream->observer)) {
            return STATUS_CANCELLED;
        }
        const struct certificate_edges<weight> edges = edge_stream_chunk(stream, slot, first);
        if (!stream->loaded[slot]) {
            STATUS_TRY(edge_stream_load(stream, slot, edges));
        }
        stream->loaded[slot] = stays;
        STATUS_TRY(launch(edges));
        slot = (slot + 1) % DEVICE_CHUNKS;
    }
    return STATUS_OK;
}
