/* The way out: finished rows, packed on the device, through the two staging buffers into the
 * caller's matrix. While the host copies one chunk out of staging, the next is on the bus. */
#pragma once

#include "gpu/kernel_finish.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

template <typename element, typename result_element> struct download {
    struct gpu *gpu;
    const struct workspace *workspace;
    const struct observer *observer;
    struct tile_matrix<element> matrix;
    struct tile_order order;
    result_element *result;
    uint32_t vertex_count;
    uint32_t chunk_rows; /* rows of a full chunk */
    bool clamp_diagonal;
};

template <typename element, typename result_element>
static uint32_t download_row_count(const struct download<element, result_element> *download,
                                   uint32_t first_row)
{
    const uint32_t left = download->vertex_count - first_row;
    return left < download->chunk_rows ? left : download->chunk_rows;
}

/* Packs the chunk of rows that starts at first_row, on the device. */
template <typename element, typename result_element>
MUST_CHECK static enum status
download_pack(const struct download<element, result_element> *download, uint32_t first_row,
              uint32_t slot)
{
    struct gpu *gpu = download->gpu;
    struct finish_rows rows;
    rows.vertex_count = download->vertex_count;
    rows.first_row = first_row;
    rows.row_count = download_row_count(download, first_row);
    rows.clamp = download->clamp_diagonal;
    rows.order = download->order;
    rows.alarm = gpu->alarm_device;
    return finish_launch(download->matrix, rows, (result_element *)download->workspace->chunk[slot],
                         gpu->stream);
}

/* And sends it on its way. */
template <typename element, typename result_element>
MUST_CHECK static enum status
download_start(const struct download<element, result_element> *download, uint32_t first_row,
               uint32_t slot)
{
    struct gpu *gpu = download->gpu;
    void *const chunk = download->workspace->chunk[slot];
    const size_t bytes = (size_t)download_row_count(download, first_row) * download->vertex_count *
                         sizeof(result_element);
    STATUS_TRY(download_pack(download, first_row, slot));
    GPU_TRY(cudaMemcpyAsync(gpu->staging[slot], chunk, bytes, cudaMemcpyDeviceToHost, gpu->stream));
    GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
    return STATUS_OK;
}

/* Waits for a chunk and copies it home. */
template <typename element, typename result_element>
MUST_CHECK static enum status
download_take(const struct download<element, result_element> *download, uint32_t first_row,
              uint32_t slot)
{
    struct gpu *gpu = download->gpu;
    const size_t row_bytes = (size_t)download->vertex_count * sizeof(result_element);
    GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
    STATUS_TRY(device_alarm(gpu));
    staging_copy(gpu->copier, (char *)download->result + first_row * row_bytes, gpu->staging[slot],
                 download_row_count(download, first_row) * row_bytes);
    return STATUS_OK;
}

template <typename element, typename result_element>
MUST_CHECK static enum status
download_rows(const struct download<element, result_element> *download)
{
    const uint32_t step = download->chunk_rows;
    uint32_t slot = 0;
    STATUS_TRY(download_start(download, 0, slot));
    for (uint64_t row = 0; row < download->vertex_count; row += step) {
        const uint32_t next = (slot + 1) % DEVICE_CHUNKS;
        if (row + step < download->vertex_count) {
            STATUS_TRY(download_start(download, (uint32_t)(row + step), next));
        }
        STATUS_TRY(download_take(download, (uint32_t)row, slot));
        if (device_cancelled(download->observer)) {
            return STATUS_CANCELLED;
        }
        slot = next;
    }
    return STATUS_OK;
}

/* Row chunks as large as a staging buffer; a row always fits (workspace_plan). */
static inline uint32_t download_chunk_rows(const struct workspace *workspace, uint32_t vertex_count,
                                           size_t element_bytes)
{
    const uint64_t row_bytes = (uint64_t)vertex_count * element_bytes;
    const uint64_t rows = workspace->layout.chunk_bytes / row_bytes;
    return rows < vertex_count ? (uint32_t)rows : vertex_count;
}
