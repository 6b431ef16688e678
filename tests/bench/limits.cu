/* Measures the peak rates of a device: relaxations in registers, and a copy within its memory.
 *
 * Relaxations: blocks of 256 threads, as many as the device runs at the same time. A thread has
 * LIMITS_CHAINS chains of relaxations, each in a register; a relaxation needs the result of the
 * previous one. The operands are known only at run time, so the compiler cannot precompute results.
 * Copy: 16 bytes per thread and iteration, with LIMITS_COPY_UNROLL loads in flight. */
#include "tests/bench/limits.h"

#include "gpu/tile.cuh"

#include <cuda_runtime.h>

#define LIMITS_THREADS 256
/* Independent chains per thread. Sixteen warps per scheduler hide any latency, and several chains
 * do the same on devices with fewer warps. */
#define LIMITS_CHAINS 8
/* Relaxations per chain in one iteration of the loop, and in the whole run. */
#define LIMITS_UNROLL 128
#define LIMITS_LENGTH (384 * LIMITS_UNROLL)
#define LIMITS_RUNS 8
/* Size of each copied buffer, which is far larger than any cache. */
#define LIMITS_COPY_BYTES ((uint64_t)1 << 30)
#define LIMITS_COPY_UNROLL 4

struct limits_timer {
    cudaEvent_t begin;
    cudaEvent_t end;
    uint32_t multiprocessors;
};

static __device__ __forceinline__ int32_t limits_relax(int32_t bound, int32_t a, int32_t b)
{
    return min(bound, a + b);
}

/* Relaxes two 16-bit elements in one register. */
static __device__ __forceinline__ uint32_t limits_relax(uint32_t bound, uint32_t a, uint32_t b)
{
    return __viaddmin_u16x2(a, b, bound);
}

static __device__ __forceinline__ float limits_relax(float bound, float a, float b)
{
    return fminf(bound, a + b);
}

/* Compares instead of calling fmin, which is slower because it handles NaN. No NaN occurs here. */
static __device__ __forceinline__ double limits_relax(double bound, double a, double b)
{
    const double sum = a + b;
    return sum < bound ? sum : bound;
}

/* The iteration count is an argument so that the compiler cannot unroll the whole loop. No chain
 * ends at 0, but the compiler cannot know that, so it must compute every chain. */
template <typename element>
static __global__ void __launch_bounds__(LIMITS_THREADS)
    limits_chain_kernel(element step, element bound, uint32_t iterations, void *sink)
{
    element chain[LIMITS_CHAINS];
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_CHAINS; i++) {
        chain[i] = step;
    }
#pragma unroll 1
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
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
    uint4 words[LIMITS_COPY_UNROLL];
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_COPY_UNROLL; i++) {
        words[i] = from[first + i * LIMITS_THREADS];
    }
#pragma unroll
    for (uint32_t i = 0; i < LIMITS_COPY_UNROLL; i++) {
        to[first + i * LIMITS_THREADS] = words[i];
    }
}

/* Fills the buffer with different values, like those of a matrix. Copying equal values draws less
 * power, so the measured rate could be too high. */
static __global__ void __launch_bounds__(LIMITS_THREADS) limits_fill_kernel(uint4 *to)
{
    const uint64_t index = (uint64_t)blockIdx.x * LIMITS_THREADS + threadIdx.x;
    const uint32_t mixed = (uint32_t)index * 2654435761u;
    to[index] = make_uint4(mixed, mixed ^ 0x9e3779b9u, mixed >> 7, ~mixed);
}

/* Measures the fastest of several runs after a warm-up run. launch: a function without parameters
 * that starts the work in the default stream. */
template <typename launcher>
MUST_CHECK static enum status limits_time(const struct limits_timer *timer, launcher launch,
                                          double *ret_seconds)
{
    float best_ms = 0;
    for (uint32_t run = 0; run <= LIMITS_RUNS; run++) {
        float elapsed_ms = 0;
        GPU_TRY(cudaEventRecord(timer->begin, 0));
        launch();
        GPU_TRY(cudaGetLastError());
        GPU_TRY(cudaEventRecord(timer->end, 0));
        GPU_TRY(cudaEventSynchronize(timer->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, timer->begin, timer->end));
        best_ms = run > 0 && (best_ms == 0 || elapsed_ms < best_ms) ? elapsed_ms : best_ms;
    }
    *ret_seconds = (double)best_ms * 1e-3;
    return STATUS_OK;
}

/* Measures the rate of relaxations in registers. lanes: number of elements per register. */
template <typename element>
MUST_CHECK static enum status limits_chain(const struct limits_timer *timer, element step,
                                           element bound, uint32_t lanes, void *sink,
                                           double *ret_rate)
{
    int resident = 0;
    double seconds = 0;
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, limits_chain_kernel<element>,
                                                          LIMITS_THREADS, 0));
    const uint32_t blocks = timer->multiprocessors * (uint32_t)resident;
    const auto launch = [&]() {
        limits_chain_kernel<element>
            <<<blocks, LIMITS_THREADS>>>(step, bound, LIMITS_LENGTH / LIMITS_UNROLL, sink);
    };
    STATUS_TRY(limits_time(timer, launch, &seconds));
    *ret_rate = (double)blocks * LIMITS_THREADS * LIMITS_CHAINS * LIMITS_LENGTH * lanes / seconds;
    return STATUS_OK;
}

/* Measures all limits. memory: two buffers of LIMITS_COPY_BYTES bytes. */
MUST_CHECK static enum status limits_run(const struct limits_timer *timer, uint4 *memory,
                                         struct limits *limits)
{
    const uint32_t blocks = (uint32_t)(LIMITS_COPY_BYTES / sizeof(uint4) / LIMITS_THREADS);
    uint4 *const to = memory + LIMITS_COPY_BYTES / sizeof(uint4);
    double copy_s = 0;
    limits_fill_kernel<<<blocks, LIMITS_THREADS>>>(memory);
    GPU_TRY(cudaGetLastError());
    const auto copy = [&]() {
        limits_copy_kernel<<<blocks / LIMITS_COPY_UNROLL, LIMITS_THREADS>>>(memory, to);
    };
    STATUS_TRY(limits_time(timer, copy, &copy_s));
    limits->copy_bytes_per_s = 2 * (double)LIMITS_COPY_BYTES / copy_s;
    STATUS_TRY(limits_chain<int32_t>(timer, 1, 30000, 1, to, &limits->i4_per_s));
    STATUS_TRY(limits_chain<uint32_t>(timer, 0x00010001u, 0x75307530u, 2, to, &limits->u2_per_s));
    STATUS_TRY(limits_chain<float>(timer, 1, 30000, 1, to, &limits->f4_per_s));
    return limits_chain<double>(timer, 1, 30000, 1, to, &limits->f8_per_s);
}

enum status limits_measure(struct limits *ret_limits)
{
    struct limits_timer timer = {};
    uint4 *buffers = NULL;
    int multiprocessors = 0;
    GPU_TRY(cudaSetDevice(0));
    GPU_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    timer.multiprocessors = (uint32_t)multiprocessors;
    GPU_TRY(cudaEventCreate(&timer.begin));
    GPU_TRY(cudaEventCreate(&timer.end));
    GPU_TRY(cudaMalloc((void **)&buffers, 2 * LIMITS_COPY_BYTES));
    const enum status status = limits_run(&timer, buffers, ret_limits);
    (void)cudaFree(buffers);
    (void)cudaEventDestroy(timer.end);
    (void)cudaEventDestroy(timer.begin);
    return status;
}
