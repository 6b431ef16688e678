/* The device side of a struct statistics: its memory, and the way of the figures to the host.
 *
 *   init
 *   statistics_rows_launch          over all rows, in any number of launches and any order
 *   statistics_workspace_fetch_rows waits; the statistics have all but their bins
 *   statistics_histogram_launch     over all rows once more, likewise
 *   statistics_workspace_fetch_bins waits
 *
 * A solve makes both passes over its whole padded matrix, before that leaves. */
#pragma once

#include "gpu/kernel_statistics.cuh"

#include <string.h>

/* A zeroed struct is empty. */
struct statistics_workspace {
    uint32_t vertex_count;
    void *memory;
    unsigned long long *bins; /* STATISTICS_BINS, for statistics_histogram_launch */
    struct statistics_columns columns;
};

/* The bins and the lowest, with room for one more to keep what follows aligned to 16. */
#define STATISTICS_WORKSPACE_HEAD_BYTES ((STATISTICS_BINS + 2) * sizeof(unsigned long long))

/* Device bytes that it takes, in one piece. */
static inline uint64_t statistics_workspace_bytes(uint32_t vertex_count)
{
    return STATISTICS_WORKSPACE_HEAD_BYTES + (uint64_t)vertex_count * STATISTICS_VERTEX_BYTES;
}

/* memory: statistics_workspace_bytes on the device, borrowed, aligned as cudaMalloc does. */
MUST_CHECK static inline enum status
statistics_workspace_init(struct statistics_workspace *workspace, uint32_t vertex_count,
                          void *memory, cudaStream_t stream)
{
    workspace->memory = memory;
    workspace->vertex_count = vertex_count;
    workspace->bins = (unsigned long long *)workspace->memory;
    workspace->columns.lowest = workspace->bins + STATISTICS_BINS;
    workspace->columns.eccentricity =
        (double *)((char *)workspace->memory + STATISTICS_WORKSPACE_HEAD_BYTES);
    workspace->columns.distance_sum =
        (union statistics_sum *)(workspace->columns.eccentricity + vertex_count);
    workspace->columns.reachable = (uint32_t *)(workspace->columns.distance_sum + vertex_count);
    GPU_TRY(cudaMemsetAsync(workspace->memory, 0, STATISTICS_WORKSPACE_HEAD_BYTES, stream));
    return STATUS_OK;
}

/* The arrays lie one after the other on both sides, so that they travel at once. */
MUST_CHECK static inline enum status
statistics_workspace_fetch_rows(const struct statistics_workspace *workspace, cudaStream_t stream,
                                struct statistics *statistics)
{
    double lowest = 0;
    GPU_TRY(cudaMemcpyAsync(statistics->eccentricity, workspace->columns.eccentricity,
                            (size_t)workspace->vertex_count * STATISTICS_VERTEX_BYTES,
                            cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaMemcpyAsync(&lowest, workspace->columns.lowest, sizeof(lowest),
                            cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    statistics_summarize(statistics, lowest);
    return STATUS_OK;
}

MUST_CHECK static inline enum status
statistics_workspace_fetch_bins(const struct statistics_workspace *workspace, cudaStream_t stream,
                                struct statistics *statistics)
{
    static_assert(sizeof(*workspace->bins) == sizeof(*statistics->summary->bins), "64-bit counts");
    GPU_TRY(cudaMemcpyAsync(statistics->summary->bins, workspace->bins,
                            sizeof(statistics->summary->bins), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    return STATUS_OK;
}
