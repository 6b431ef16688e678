/* Relaxations per second that the device issues out of registers, for each arithmetic.
 *
 * One block of 256 threads, as many blocks as the device holds at once. A thread has PROBE_CHAINS
 * registers, and every relaxation takes the result of the one before in its chain; step and bound
 * are known only at run time, so that nothing can be folded. The loop's counter and branch may take
 * issue slots of the unit that is measured, so that a long body is faster, until it outgrows the
 * instruction cache: a short and a long one are tried, and the better is the limit. */
#include "gpu/device.cuh"
#include "gpu/gpu_probe.h"
#include "gpu/try.cuh"

#define PROBE_THREADS 256
/* Sixteen warps per scheduler hide any latency: these are for cards that hold fewer. */
#define PROBE_CHAINS 8
/* Relaxations per chain between two turns of the loop, and in all. */
#define PROBE_SHORT 32
#define PROBE_LONG 128
#define PROBE_LENGTH (384 * PROBE_LONG)
#define PROBE_RUNS 8

/* Two 16-bit elements that share a register. */
struct probe_pair {
    uint32_t lanes;
};

template <typename element> struct probe_traits {
    static constexpr uint32_t lanes = 1;
    static element value(uint32_t small)
    {
        return (element)small;
    }
};

template <> struct probe_traits<probe_pair> {
    static constexpr uint32_t lanes = 2;
    static probe_pair value(uint32_t small)
    {
        return {small << 16 | small};
    }
};

static __device__ __forceinline__ int32_t probe_relax(int32_t bound, int32_t a, int32_t b)
{
    return min(bound, a + b);
}

static __device__ __forceinline__ float probe_relax(float bound, float a, float b)
{
    return fminf(bound, a + b);
}

/* By a comparison: fmin costs more, for a NaN that never comes. */
static __device__ __forceinline__ double probe_relax(double bound, double a, double b)
{
    const double sum = a + b;
    return sum < bound ? sum : bound;
}

static __device__ __forceinline__ probe_pair probe_relax(probe_pair bound, probe_pair a,
                                                         probe_pair b)
{
    return {__viaddmin_u16x2(a.lanes, b.lanes, bound.lanes)};
}

/* A bit of the value, so that it counts as used. */
static __device__ __forceinline__ uint32_t probe_fold(int32_t value)
{
    return (uint32_t)value;
}

static __device__ __forceinline__ uint32_t probe_fold(float value)
{
    return __float_as_uint(value);
}

static __device__ __forceinline__ uint32_t probe_fold(double value)
{
    return (uint32_t)__double2loint(value) ^ (uint32_t)__double2hiint(value);
}

static __device__ __forceinline__ uint32_t probe_fold(probe_pair value)
{
    return value.lanes;
}

/* What a block saw of its multiprocessor. */
struct probe_stamp {
    uint64_t clocks;
    uint64_t nanoseconds;
};

static __device__ __forceinline__ uint64_t probe_nanoseconds(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* turns is an argument, lest the loop be unrolled whole. sink is written when the chains end on a
 * value that they never have, which the compiler cannot know. */
template <typename element, uint32_t UNROLL>
static __global__ void __launch_bounds__(PROBE_THREADS)
    probe_kernel(element start, element step, element bound, uint32_t turns, uint32_t never,
                 uint32_t *sink, struct probe_stamp *stamps)
{
    element chain[PROBE_CHAINS];
#pragma unroll
    for (uint32_t i = 0; i < PROBE_CHAINS; ++i) {
        chain[i] = probe_relax(bound, start, step);
    }
    __syncthreads();
    const uint64_t begin_ns = probe_nanoseconds();
    const uint64_t begin = (uint64_t)clock64();
#pragma unroll 1
    for (uint32_t turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (uint32_t i = 0; i < UNROLL * PROBE_CHAINS; ++i) {
            chain[i % PROBE_CHAINS] = probe_relax(bound, chain[i % PROBE_CHAINS], step);
        }
    }
    const uint64_t end = (uint64_t)clock64();
    const uint64_t end_ns = probe_nanoseconds();
    uint32_t folded = 0;
#pragma unroll
    for (uint32_t i = 0; i < PROBE_CHAINS; ++i) {
        folded |= probe_fold(chain[i]);
    }
    if (folded == never) {
        *sink = folded;
    }
    if (threadIdx.x == 0) {
        stamps[blockIdx.x].clocks = end - begin;
        stamps[blockIdx.x].nanoseconds = end_ns - begin_ns;
    }
}

/* What one probe holds. A zeroed struct is empty. */
struct probe {
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    uint32_t *sink;
    struct probe_stamp *stamps; /* host-mapped, one per block */
    uint32_t blocks;
    uint32_t multiprocessors;
};

static void probe_release(struct probe *probe)
{
    (void)cudaFree(probe->sink);
    if (probe->stamps != NULL) {
        (void)cudaFreeHost(probe->stamps);
    }
    if (probe->begin != NULL) {
        (void)cudaEventDestroy(probe->begin);
    }
    if (probe->end != NULL) {
        (void)cudaEventDestroy(probe->end);
    }
    if (probe->stream != NULL) {
        (void)cudaStreamDestroy(probe->stream);
    }
}

MUST_CHECK static enum status probe_acquire(struct probe *probe)
{
    GPU_TRY(cudaStreamCreateWithFlags(&probe->stream, cudaStreamNonBlocking));
    GPU_TRY(cudaEventCreate(&probe->begin));
    GPU_TRY(cudaEventCreate(&probe->end));
    GPU_TRY(cudaMalloc((void **)&probe->sink, sizeof(uint32_t)));
    GPU_TRY(cudaMallocHost((void **)&probe->stamps, probe->blocks * sizeof(*probe->stamps)));
    return STATUS_OK;
}

/* The mean over the blocks; a block's own stamps leave the launch out. */
static double probe_clock_hz(const struct probe *probe)
{
    double clocks = 0;
    double nanoseconds = 0;
    for (uint32_t block = 0; block < probe->blocks; ++block) {
        clocks += (double)probe->stamps[block].clocks;
        nanoseconds += (double)probe->stamps[block].nanoseconds;
    }
    return nanoseconds > 0 ? clocks / nanoseconds * 1e9 : 0;
}

template <typename element, uint32_t UNROLL>
MUST_CHECK static enum status probe_time(struct probe *probe, struct arithmetic_limit *best)
{
    using traits = probe_traits<element>;
    float elapsed_ms = 0;
    GPU_TRY(cudaEventRecord(probe->begin, probe->stream));
    probe_kernel<element, UNROLL><<<probe->blocks, PROBE_THREADS, 0, probe->stream>>>(
        traits::value(2), traits::value(1), traits::value(30000), PROBE_LENGTH / UNROLL, 1,
        probe->sink, probe->stamps);
    GPU_TRY(cudaGetLastError());
    GPU_TRY(cudaEventRecord(probe->end, probe->stream));
    GPU_TRY(cudaEventSynchronize(probe->end));
    GPU_TRY(cudaEventElapsedTime(&elapsed_ms, probe->begin, probe->end));
    const double relaxations =
        (double)probe->blocks * PROBE_THREADS * PROBE_CHAINS * PROBE_LENGTH * traits::lanes;
    const double rate = relaxations / ((double)elapsed_ms * 1e-3);
    if (rate > best->relaxations_per_s) {
        best->relaxations_per_s = rate;
        best->relaxations_per_s_unit = rate / probe->multiprocessors;
        best->clock_hz = probe_clock_hz(probe);
    }
    return STATUS_OK;
}

/* The first run warms up; the best of the others is the limit. */
template <typename element>
MUST_CHECK static enum status probe_runs(struct probe *probe, struct arithmetic_limit *ret_limit)
{
    struct arithmetic_limit warm_up = {};
    struct arithmetic_limit best = {};
    STATUS_TRY((probe_time<element, PROBE_LONG>(probe, &warm_up)));
    for (uint32_t run = 0; run < PROBE_RUNS; ++run) {
        STATUS_TRY((probe_time<element, PROBE_SHORT>(probe, &best)));
        STATUS_TRY((probe_time<element, PROBE_LONG>(probe, &best)));
    }
    *ret_limit = best;
    return STATUS_OK;
}

template <typename element>
MUST_CHECK static enum status probe_run(int ordinal, struct arithmetic_limit *ret_limit)
{
    struct probe probe = {};
    int multiprocessors = 0;
    int blocks = 0;
    GPU_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, ordinal));
    GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, probe_kernel<element, PROBE_LONG>, PROBE_THREADS, 0));
    probe.multiprocessors = (uint32_t)multiprocessors;
    probe.blocks = (uint32_t)(multiprocessors * blocks);
    enum status status = probe_acquire(&probe);
    if (status == STATUS_OK) {
        status = probe_runs<element>(&probe, ret_limit);
    }
    probe_release(&probe);
    return status;
}

enum status limit_probe_run(const struct gpu *gpu, enum arithmetic arithmetic,
                            struct arithmetic_limit *ret_limit)
{
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    switch (arithmetic) {
    case ARITHMETIC_I4:
        return probe_run<int32_t>(gpu->ordinal, ret_limit);
    case ARITHMETIC_NARROW:
        return probe_run<probe_pair>(gpu->ordinal, ret_limit);
    case ARITHMETIC_F4:
        return probe_run<float>(gpu->ordinal, ret_limit);
    case ARITHMETIC_F8:
    case ARITHMETIC_COUNT:
        break;
    }
    return probe_run<double>(gpu->ordinal, ret_limit);
}

enum status limit_probe_facts(const struct gpu *gpu, struct device_facts *ret_facts)
{
    int driver = 0;
    int runtime = 0;
    int clock_khz = 0;
    int cache_bytes = 0;
    int units = 0;
    GPU_TRY(cudaDriverGetVersion(&driver));
    GPU_TRY(cudaRuntimeGetVersion(&runtime));
    GPU_TRY(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, gpu->ordinal));
    GPU_TRY(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, gpu->ordinal));
    GPU_TRY(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, gpu->ordinal));
    ret_facts->driver = (uint32_t)driver;
    ret_facts->runtime = (uint32_t)runtime;
    ret_facts->clock_hz = (double)clock_khz * 1e3;
    ret_facts->cache_bytes = (uint64_t)cache_bytes;
    ret_facts->units = (uint32_t)units;
    return STATUS_OK;
}
