/* The certificate for a matrix that lies on the host: sent to the device whole, and checked there
 * by the same code that checks a solve's own. */
#include "gpu/gpu.h"
#include "gpu/matrix_certificate.cuh"
#include "proto/check.h"

/* Rows that the scratch holds for the thorough half. */
#define CERTIFY_SCRATCH_ROWS 256

/* All on the device. A zeroed struct is empty. */
struct certify {
    void *matrix;
    struct certificate_memory memory;
};

MUST_CHECK static enum status certify_acquire(struct certify *certify, const struct graph *graph,
                                              uint64_t matrix_bytes, uint64_t element_bytes)
{
    const uint32_t vertices = graph->vertex_count;
    const uint32_t rows = vertices < CERTIFY_SCRATCH_ROWS ? vertices : CERTIFY_SCRATCH_ROWS;
    struct certificate_memory *memory = &certify->memory;
    memory->chunk_bytes = graph->edge_count < DEVICE_CHUNK_BYTES / EDGE_STREAM_EDGE_BYTES_MAX
                              ? (graph->edge_count + 1) * EDGE_STREAM_EDGE_BYTES_MAX
                              : DEVICE_CHUNK_BYTES;
    memory->scratch_bytes = certificate_bytes(vertices, element_bytes, rows);
    GPU_TRY(cudaMalloc(&certify->matrix, matrix_bytes));
    GPU_TRY(cudaMalloc(&memory->scratch, memory->scratch_bytes));
    for (uint32_t i = 0; i < DEVICE_CHUNKS; ++i) {
        GPU_TRY(cudaMalloc(&memory->chunk[i], memory->chunk_bytes));
    }
    return STATUS_OK;
}

static void certify_release(struct certify *certify)
{
    (void)cudaFree(certify->matrix);
    (void)cudaFree(certify->memory.scratch);
    for (uint32_t i = 0; i < DEVICE_CHUNKS; ++i) {
        (void)cudaFree(certify->memory.chunk[i]);
    }
}

MUST_CHECK static enum status certify_upload(struct gpu *gpu, const struct certify *certify,
                                             const struct matrix *matrix, uint64_t matrix_bytes,
                                             const struct observer *observer)
{
    uint32_t slot = 0;
    for (uint64_t done = 0; done < matrix_bytes; done += DEVICE_CHUNK_BYTES) {
        const uint64_t left = matrix_bytes - done;
        const uint64_t bytes = left < DEVICE_CHUNK_BYTES ? left : DEVICE_CHUNK_BYTES;
        if (device_cancelled(observer)) {
            return STATUS_CANCELLED;
        }
        GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
        staging_copy(gpu->copier, gpu->staging[slot], (const char *)matrix->elements + done, bytes);
        GPU_TRY(cudaMemcpyAsync((char *)certify->matrix + done, gpu->staging[slot], bytes,
                                cudaMemcpyHostToDevice, gpu->stream));
        GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
        slot = (slot + 1) % DEVICE_CHUNKS;
    }
    return STATUS_OK;
}

/* far: the one element that says unreachable. */
template <typename element>
MUST_CHECK static enum status certify_run(struct gpu *gpu, const struct graph *graph,
                                          const struct matrix *matrix, uint32_t row_count,
                                          const struct observer *observer, element far,
                                          struct verification *ret_verification)
{
    const uint64_t matrix_bytes =
        (uint64_t)matrix->vertex_count * matrix->vertex_count * sizeof(element);
    struct certify certify = {};
    struct certificate_request<element> request = {
    };
    enum status status = certify_acquire(&certify, graph, matrix_bytes, sizeof(element));
    if (status == STATUS_OK) {
        status = certify_upload(gpu, &certify, matrix, matrix_bytes, observer);
    }
    if (status == STATUS_OK) {
        request.gpu = gpu;
        request.graph = graph;
        request.observer = observer;
        request.matrix.elements = (const element *)certify.matrix;
        request.matrix.stride = matrix->vertex_count;
        request.matrix.far_least = far;
        request.matrix.far_most = far;
        request.memory = certify.memory;
        request.kind = matrix->kind;
        request.row_count = row_count;
        status = certificate_verify(&request, ret_verification);
    }
    const enum status drained = try_translate(cudaStreamSynchronize(gpu->stream));
    certify_release(&certify);
    return drained == STATUS_OK ? status : drained;
}

enum status gpu_certify(struct gpu *gpu, const struct graph *graph, const struct matrix *matrix,
                        uint32_t row_count, const struct observer *observer,
                        struct verification *ret_verification)
{
    CHECK(graph->vertex_count == matrix->vertex_count && matrix->kind != KIND_AUTO);
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    switch (matrix->kind) {
    case KIND_I4:
        return certify_run<int32_t>(gpu, graph, matrix, row_count, observer, UNREACHABLE_I4,
                                    ret_verification);
    case KIND_U2:
        return certify_run<uint16_t>(gpu, graph, matrix, row_count, observer, UNREACHABLE_U2,
                                     ret_verification);
    case KIND_F4:
        return certify_run<float>(gpu, graph, matrix, row_count, observer, INFINITY,
                                  ret_verification);
    case KIND_F8:
        return certify_run<double>(gpu, graph, matrix, row_count, observer, INFINITY,
                                   ret_verification);
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    return STATUS_BAD_PARAMETER;
}
