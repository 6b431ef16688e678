/* The source of every edge of a chunk, from the graph's row offsets: one edge per thread, 256 per
 * block, a binary search among the rows that have edges in the chunk. */
#pragma once

#include "gpu/try.cuh"

#include <stdint.h>

#define SOURCES_THREADS 256

/* Edges [first, first + count), all within the rows [first_row, last_row]. */
struct sources_range {
    const uint64_t *row_offset; /* on the device, the graph's whole array */
    uint64_t first;
    uint32_t count;
    uint32_t first_row;
    uint32_t last_row;
};

static __global__ void __launch_bounds__(SOURCES_THREADS)
    sources_kernel(struct sources_range range, uint32_t *source)
{
    const uint32_t place = blockIdx.x * SOURCES_THREADS + threadIdx.x;
    if (place >= range.count) {
        return;
    }
    const uint64_t edge = range.first + place;
    uint32_t low = range.first_row;
    uint32_t high = range.last_row;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (range.row_offset[middle] <= edge) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    source[place] = low;
}

MUST_CHECK static inline enum status sources_launch(const struct sources_range &range,
                                                    uint32_t *source, cudaStream_t stream)
{
    const uint32_t blocks = (range.count + SOURCES_THREADS - 1) / SOURCES_THREADS;
    sources_kernel<<<blocks, SOURCES_THREADS, 0, stream>>>(range, source);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}
