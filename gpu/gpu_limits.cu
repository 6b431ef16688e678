/* Measures what the device can do at most: relaxations out of registers, and copies.
 *
 * Relaxations: blocks of 256 threads, as many as the device holds at once. A thread has
 * LIMITS_CHAINS registers, and every relaxation takes the result of the one before in its chain;
 * step and bound are known only at run time, so that nothing can be folded. The counter and branch
 * of the loop take issue slots too, so that a long body is faster until it outgrows the instruction
 * cache: a short and a long one are tried, and the better is the limit. Copies: 16 bytes per thread
 * and turn, LIMITS_COPY_UNROLL of them in flight. */
#include "gpu/device.cuh"

#define LIMITS_THREADS 256
/* Sixteen warps per scheduler hide any latency; the chains are for devices that hold fewer. */
#define LIMITS_CHAINS 8
/* Relaxations per chain in one turn of the loop, and in all. */
#define LIMITS_UNROLL 128
#define LIMITS_LENGTH (384 * LIMITS_UNROLL)
#define LIMITS_RUNS 8
/* Far above any cache. */
#define LIMITS_DEVICE_BYTES ((uint64_t)1 << 30)
#define LIMITS_COPY_UNROLL 4

static __device__ __forceinline__ int32_t limits_relax(int32_t bound, int32_t a, int32_t b)
{
    return min(bound, a + b);
}

/* Two 16-bit elements in a register. */
static __device__ __forceinline__ uint32_t limits_relax(uint32_t bound, uint32_t a, uint32_t b)
{
    return __viaddmin_u16x2(a, b, bound);
}

static __device__ __forceinline__ float limits_relax(float bound, float a, float b)
{
    return fminf(bound, a + b);
}

/* By a comparison: fmin costs more, for a NaN that never comes. */
static __device__ __forceinline__ double limits_relax(double bound, double a, double b)
{
    const double sum = a + b;
    return sum < bound ? sum : bound;
}

/* turns is an argument, lest the loop be unrolled whole. The chains never end on 0, which the
 * compiler cannot know: so it must compute them. */
template <typename element>
static __global__ void __launch_bounds__(LIMITS_THREADS)
    limits_chain_kernel(element step, element bound, uint32_t turns, void *sink)
{
    element chain[LIMITS_CHAINS];
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_CHAINS; i++) {
        chain[i] = step;
    }
#pragma unroll 1
    for (uint32_t turn = 0; turn < turns; turn++) {
#pragma unroll
        for (uint32_t i = 0; i < LIMITS_UNROLL * LIMITS_CHAINS; i++) {
            chain[i % LIMITS_CHAINS] = limits_relax(bound, chain[i % LIMITS_CHAINS], step);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_CHAINS; i++) {
        if (chain[i] == (element)0) {
            *(element *)sink = chain[i];
        }
    }
}

static __global__ void __launch_bounds__(LIMITS_THREADS)
    limits_copy_kernel(const uint4 *from, uint4 *to)
{
    const uint64_t first = (uint64_t)blockIdx.x * LIMITS_THREADS * LIMITS_COPY_UNROLL + threadIdx.x;
    uint4 held[LIMITS_COPY_UNROLL];
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_COPY_UNROLL; i++) {
        held[i] = from[first + i * LIMITS_THREADS];
    }
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_COPY_UNROLL; i++) {
        to[first + i * LIMITS_THREADS] = held[i];
    }
}

/* Values that differ, as those of a matrix do: equal ones cost a device less power. */
static __global__ void __launch_bounds__(LIMITS_THREADS) limits_fill_kernel(uint4 *to)
{
    const uint64_t index = (uint64_t)blockIdx.x * LIMITS_THREADS + threadIdx.x;
    const uint32_t mixed = (uint32_t)index * 2654435761u;
    to[index] = make_uint4(mixed, mixed ^ 0x9e3779b9u, mixed >> 7, ~mixed);
}

/* The best of several runs, after one that warms up. launch: a function without arguments that
 * starts the work in the stream of the device. */
template <typename launcher>
MUST_CHECK static enum status limits_time(const struct gpu *gpu, launcher launch,
                                          double *ret_seconds)
{
    float best_ms = 0;
    for (uint32_t run = 0; run <= LIMITS_RUNS; run++) {
        float elapsed_ms = 0;
        GPU_TRY(cudaEventRecord(gpu->begin, gpu->stream));
        launch();
        GPU_TRY(cudaGetLastError());
        GPU_TRY(cudaEventRecord(gpu->end, gpu->stream));
        GPU_TRY(cudaEventSynchronize(gpu->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, gpu->begin, gpu->end));
        best_ms = run > 0 && (best_ms == 0 || elapsed_ms < best_ms) ? elapsed_ms : best_ms;
    }
    *ret_seconds = (double)best_ms * 1e-3;
    return STATUS_OK;
}

/* lanes: the elements in one register. */
template <typename element>
MUST_CHECK static enum status limits_chain(const struct gpu *gpu, element step, element bound,
                                           uint32_t lanes, void *sink, double *ret_rate)
{
    int resident = 0;
    double seconds = 0;
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, limits_chain_kernel<element>,
                                                          LIMITS_THREADS, 0));
    const uint32_t blocks = gpu->multiprocessors * (uint32_t)resident;
    const auto launch = [&]() {
        limits_chain_kernel<element><<<blocks, LIMITS_THREADS, 0, gpu->stream>>>(
            step, bound, LIMITS_LENGTH / LIMITS_UNROLL, sink);
    };
    STATUS_TRY(limits_time(gpu, launch, &seconds));
    *ret_rate = (double)blocks * LIMITS_THREADS * LIMITS_CHAINS * LIMITS_LENGTH * lanes / seconds;
    return STATUS_OK;
}

MUST_CHECK static enum status limits_copies(const struct gpu *gpu, uint4 *from, uint4 *to,
                                            struct device_limits *limits)
{
    const uint32_t blocks = (uint32_t)(LIMITS_DEVICE_BYTES / sizeof(uint4) / LIMITS_THREADS);
    double copy_s = 0;
    double up_s = 0;
    double down_s = 0;
    limits_fill_kernel<<<blocks, LIMITS_THREADS, 0, gpu->stream>>>(from);
    GPU_TRY(cudaGetLastError());
    const auto copy = [&]() {
        limits_copy_kernel<<<blocks / LIMITS_COPY_UNROLL, LIMITS_THREADS, 0, gpu->stream>>>(from,
                                                                                            to);
    };
    const auto upload = [&]() {
        (void)cudaMemcpyAsync(to, gpu->staging[0], DEVICE_CHUNK_BYTES, cudaMemcpyHostToDevice,
                              gpu->stream);
    };
    const auto download = [&]() {
        (void)cudaMemcpyAsync(gpu->staging[0], from, DEVICE_CHUNK_BYTES, cudaMemcpyDeviceToHost,
                              gpu->stream);
    };
    STATUS_TRY(limits_time(gpu, copy, &copy_s));
    STATUS_TRY(limits_time(gpu, upload, &up_s));
    STATUS_TRY(limits_time(gpu, download, &down_s));
    limits->copy_bytes_per_s = 2 * (double)LIMITS_DEVICE_BYTES / copy_s;
    limits->upload_bytes_per_s = (double)DEVICE_CHUNK_BYTES / up_s;
    limits->download_bytes_per_s = (double)DEVICE_CHUNK_BYTES / down_s;
    return STATUS_OK;
}

/* memory: two buffers of LIMITS_DEVICE_BYTES. */
MUST_CHECK static enum status limits_run(const struct gpu *gpu, uint4 *memory,
                                         struct device_limits *limits)
{
    double *rates = limits->relaxations_per_s;
    uint4 *const to = memory + LIMITS_DEVICE_BYTES / sizeof(uint4);
    STATUS_TRY(limits_copies(gpu, memory, to, limits));
    STATUS_TRY(limits_chain<int32_t>(gpu, 1, 30000, 1, to, &rates[ARITHMETIC_I4]));
    STATUS_TRY(
        limits_chain<uint32_t>(gpu, 0x00010001u, 0x75307530u, 2, to, &rates[ARITHMETIC_NARROW]));
    STATUS_TRY(limits_chain<float>(gpu, 1, 30000, 1, to, &rates[ARITHMETIC_F4]));
    return limits_chain<double>(gpu, 1, 30000, 1, to, &rates[ARITHMETIC_F8]);
}

enum status gpu_limits_measure(const struct gpu *gpu, struct device_limits *ret_limits)
{
    struct device_limits limits = {};
    uint4 *buffers = NULL;
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    GPU_TRY(cudaMalloc((void **)&buffers, 2 * LIMITS_DEVICE_BYTES));
    const enum status status = limits_run(gpu, buffers, &limits);
    (void)cudaFree(buffers);
    if (status == STATUS_OK) {
        *ret_limits = limits;
    }
    return status;
}
