/* Bytes per second within the device's memory and over the bus. The copy kernel moves 16 bytes per
 * thread and turn, COPY_UNROLL of them in flight: 256 threads per block, a grid-stride loop. */
#include "gpu/device.cuh"
#include "gpu/gpu_probe.h"
#include "gpu/try.cuh"

#define COPY_THREADS 256
#define COPY_UNROLL 4
#define COPY_RUNS 8
/* Far above any cache, and of both buffers together far below any card's memory. */
#define COPY_DEVICE_BYTES ((uint64_t)1 << 30)
#define COPY_PINNED_BYTES ((uint64_t)256 << 20)

static_assert(COPY_DEVICE_BYTES % (16 * COPY_THREADS * COPY_UNROLL) == 0, "whole blocks only");

static __global__ void __launch_bounds__(COPY_THREADS) copy_kernel(const uint4 *from, uint4 *to)
{
    const uint64_t first = (uint64_t)blockIdx.x * COPY_THREADS * COPY_UNROLL + threadIdx.x;
    uint4 held[COPY_UNROLL];
#pragma unroll
    for (uint32_t i = 0; i < COPY_UNROLL; ++i) {
        held[i] = from[first + i * COPY_THREADS];
    }
#pragma unroll
    for (uint32_t i = 0; i < COPY_UNROLL; ++i) {
        to[first + i * COPY_THREADS] = held[i];
    }
}

/* Values that differ, as the matrices' do: equal ones cost a card less power. */
static __global__ void __launch_bounds__(COPY_THREADS) copy_fill_kernel(uint4 *to)
{
    const uint64_t index = (uint64_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    const uint32_t mixed = (uint32_t)index * 2654435761u;
    to[index] = make_uint4(mixed, mixed ^ 0x9e3779b9u, mixed >> 7, ~mixed);
}

/* What the probe holds. A zeroed struct is empty. */
struct copying {
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    uint4 *from;
    uint4 *to;
    void *pinned;
};

static void copying_release(struct copying *copying)
{
    (void)cudaFree(copying->from);
    (void)cudaFree(copying->to);
    if (copying->pinned != NULL) {
        (void)cudaFreeHost(copying->pinned);
    }
    if (copying->begin != NULL) {
        (void)cudaEventDestroy(copying->begin);
    }
    if (copying->end != NULL) {
        (void)cudaEventDestroy(copying->end);
    }
    if (copying->stream != NULL) {
        (void)cudaStreamDestroy(copying->stream);
    }
}

MUST_CHECK static enum status copying_acquire(struct copying *copying)
{
    GPU_TRY(cudaStreamCreateWithFlags(&copying->stream, cudaStreamNonBlocking));
    GPU_TRY(cudaEventCreate(&copying->begin));
    GPU_TRY(cudaEventCreate(&copying->end));
    GPU_TRY(cudaMalloc((void **)&copying->from, COPY_DEVICE_BYTES));
    GPU_TRY(cudaMalloc((void **)&copying->to, COPY_DEVICE_BYTES));
    GPU_TRY(cudaMallocHost(&copying->pinned, COPY_PINNED_BYTES));
    copy_fill_kernel<<<(uint32_t)(COPY_DEVICE_BYTES / sizeof(uint4) / COPY_THREADS), COPY_THREADS,
                       0, copying->stream>>>(copying->from);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

enum copy_way { COPY_WITHIN, COPY_UP, COPY_DOWN };

MUST_CHECK static enum status copy_start(const struct copying *copying, enum copy_way way)
{
    if (way == COPY_UP) {
        GPU_TRY(cudaMemcpyAsync(copying->to, copying->pinned, COPY_PINNED_BYTES,
                                cudaMemcpyHostToDevice, copying->stream));
        return STATUS_OK;
    }
    if (way == COPY_DOWN) {
        GPU_TRY(cudaMemcpyAsync(copying->pinned, copying->from, COPY_PINNED_BYTES,
                                cudaMemcpyDeviceToHost, copying->stream));
        return STATUS_OK;
    }
    const uint32_t blocks =
        (uint32_t)(COPY_DEVICE_BYTES / (sizeof(uint4) * COPY_THREADS * COPY_UNROLL));
    copy_kernel<<<blocks, COPY_THREADS, 0, copying->stream>>>(copying->from, copying->to);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

/* The best of several, the first of which warms up and does not count. */
MUST_CHECK static enum status copy_time(const struct copying *copying, enum copy_way way,
                                        double *ret_seconds)
{
    double best_s = 0;
    for (uint32_t run = 0; run <= COPY_RUNS; ++run) {
        float elapsed_ms = 0;
        GPU_TRY(cudaEventRecord(copying->begin, copying->stream));
        STATUS_TRY(copy_start(copying, way));
        GPU_TRY(cudaEventRecord(copying->end, copying->stream));
        GPU_TRY(cudaEventSynchronize(copying->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, copying->begin, copying->end));
        const double seconds = (double)elapsed_ms * 1e-3;
        best_s = run > 0 && (best_s == 0 || seconds < best_s) ? seconds : best_s;
    }
    *ret_seconds = best_s;
    return STATUS_OK;
}

MUST_CHECK static enum status copy_measure(struct copying *copying, struct memory_limit *ret_limit)
{
    double within_s = 0;
    double up_s = 0;
    double down_s = 0;
    STATUS_TRY(copying_acquire(copying));
    STATUS_TRY(copy_time(copying, COPY_WITHIN, &within_s));
    STATUS_TRY(copy_time(copying, COPY_UP, &up_s));
    STATUS_TRY(copy_time(copying, COPY_DOWN, &down_s));
    ret_limit->copy = 2 * (double)COPY_DEVICE_BYTES / within_s;
    ret_limit->upload = (double)COPY_PINNED_BYTES / up_s;
    ret_limit->download = (double)COPY_PINNED_BYTES / down_s;
    return STATUS_OK;
}

enum status copy_probe_run(const struct gpu *gpu, struct memory_limit *ret_limit)
{
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    struct copying copying = {};
    const enum status status = copy_measure(&copying, ret_limit);
    copying_release(&copying);
    return status;
}
