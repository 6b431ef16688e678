/* The min-plus product C = min(C, A x B) of int32 in many forms, so that the form that the solver's
 * interior kernel has can be seen beside the others on any card.
 *
 * C is n x n, A lies transposed as depth x n, B is depth x n: both operands are read as rows of
 * 16-byte quads. One block per ROWS x COLUMNS tile, ACROSS x DOWN elements per thread in registers,
 * as quads that lie 16 rows and 32 columns apart: a warp covers 4 DOWN x 8 ACROSS elements, and its
 * shared loads meet no bank conflict. Operands come through shared memory in slabs of SLAB pivots,
 * two stages filled by cp.async. */
#include "tests/bench/sweep.h"

#include "gpu/tile.cuh"
#include "proto/kind.h"

#include <cuda_pipeline_primitives.h>
#include <stdlib.h>

#define SWEEP_STAGES 2
#define SWEEP_WARP 32
/* Elements in one 16-byte access. */
#define SWEEP_QUAD 4
/* Quads of a thread lie this far apart, so that those of a warp are adjacent. */
#define SWEEP_ROW_GAP 16
#define SWEEP_COLUMN_GAP 32
/* Threads of a multiprocessor that shall fit: 128 registers for each. */
#define SWEEP_RESIDENT 512
#define SWEEP_RUNS 5
#define SWEEP_CHECK_N 384
#define SWEEP_NAIVE_EDGE 16

template <uint32_t ROWS, uint32_t COLUMNS, uint32_t DOWN, uint32_t ACROSS, uint32_t SLAB>
struct sweep_shape {
    static constexpr uint32_t threads = ROWS * COLUMNS / (DOWN * ACROSS);
    static constexpr uint32_t blocks = threads < SWEEP_RESIDENT ? SWEEP_RESIDENT / threads : 1;
    static constexpr uint32_t warp_rows = 4 * DOWN;
    static constexpr uint32_t warp_columns = 8 * ACROSS;
    static constexpr uint32_t warps_across = COLUMNS / warp_columns;
    static constexpr uint32_t stage_elements = SLAB * (ROWS + COLUMNS);
    static constexpr uint32_t shared_bytes = SWEEP_STAGES * stage_elements * sizeof(int32_t);
    static_assert(ROWS % warp_rows == 0 && COLUMNS % warp_columns == 0, "whole warps");
    static_assert(DOWN % SWEEP_QUAD == 0 && ACROSS % SWEEP_QUAD == 0, "whole quads");
    static_assert(SWEEP_MULTIPLE % ROWS == 0 && SWEEP_MULTIPLE % COLUMNS == 0, "whole tiles");
};

struct sweep_operands {
    int32_t *result;
    const int32_t *left; /* transposed: row = pivot */
    const int32_t *right;
    uint32_t n;
    uint32_t depth; /* a multiple of the slab */
};

/* Starts the copy of SLAB rows of WIDTH elements by all threads of the block. */
template <uint32_t WIDTH, uint32_t SLAB, uint32_t THREADS>
static __device__ __forceinline__ void sweep_fetch(int32_t *shared, const int32_t *global,
                                                   uint32_t stride)
{
    constexpr uint32_t quads = SLAB * WIDTH / SWEEP_QUAD;
    constexpr uint32_t quads_per_row = WIDTH / SWEEP_QUAD;
    static_assert(quads % THREADS == 0, "whole passes only");
#pragma unroll
    for (uint32_t pass = 0; pass < quads / THREADS; pass++) {
        const uint32_t quad = pass * THREADS + threadIdx.x;
        __pipeline_memcpy_async(shared + quad * SWEEP_QUAD,
                                global + (uint64_t)(quad / quads_per_row) * stride +
                                    quad % quads_per_row * SWEEP_QUAD,
                                sizeof(int32_t) * SWEEP_QUAD);
    }
}

/* Four elements at a time; memory is 16-byte aligned. */
static __device__ __forceinline__ void sweep_load(const int32_t *from, int32_t *to)
{
    const int4 four = *reinterpret_cast<const int4 *>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

static __device__ __forceinline__ void sweep_store(int32_t *to, const int32_t *from)
{
    *reinterpret_cast<int4 *>(to) = make_int4(from[0], from[1], from[2], from[3]);
}

/* Where a thread's row i, column quad lie from its first element. */
static __device__ __forceinline__ uint64_t sweep_place(uint32_t i, uint32_t quad, uint32_t n)
{
    return (uint64_t)(i / SWEEP_QUAD * SWEEP_ROW_GAP + i % SWEEP_QUAD) * n +
           quad * SWEEP_COLUMN_GAP;
}

template <uint32_t SLAB, uint32_t DOWN, uint32_t ACROSS>
static __device__ __forceinline__ void sweep_product(int32_t (&tile)[DOWN][ACROSS],
                                                     const int32_t *left, uint32_t left_stride,
                                                     const int32_t *right, uint32_t right_stride)
{
    /* As many pivots per turn as registers allow. */
    constexpr uint32_t unroll = DOWN * ACROSS > 32 ? 4 : 8;
#pragma unroll unroll
    for (uint32_t pivot = 0; pivot < SLAB; pivot++) {
        int32_t to[DOWN];
        int32_t from[ACROSS];
#pragma unroll
        for (uint32_t quad = 0; quad < DOWN / SWEEP_QUAD; quad++) {
            sweep_load(left + pivot * left_stride + quad * SWEEP_ROW_GAP, to + quad * SWEEP_QUAD);
        }
#pragma unroll
        for (uint32_t quad = 0; quad < ACROSS / SWEEP_QUAD; quad++) {
            sweep_load(right + pivot * right_stride + quad * SWEEP_COLUMN_GAP,
                       from + quad * SWEEP_QUAD);
        }
#pragma unroll
        for (uint32_t i = 0; i < DOWN; i++) {
#pragma unroll
            for (uint32_t j = 0; j < ACROSS; j++) {
                tile[i][j] = min(tile[i][j], to[i] + from[j]);
            }
        }
    }
}

/* Grid: x over tile columns, y over tile rows. */
template <uint32_t ROWS, uint32_t COLUMNS, uint32_t DOWN, uint32_t ACROSS, uint32_t SLAB>
static __global__ void __launch_bounds__(sweep_shape<ROWS, COLUMNS, DOWN, ACROSS, SLAB>::threads,
                                         sweep_shape<ROWS, COLUMNS, DOWN, ACROSS, SLAB>::blocks)
    sweep_kernel(struct sweep_operands operands)
{
    using shape = sweep_shape<ROWS, COLUMNS, DOWN, ACROSS, SLAB>;
    extern __shared__ __align__(16) int32_t sweep_ring[];
    const uint32_t n = operands.n;
    const uint32_t warp = threadIdx.x / SWEEP_WARP;
    const uint32_t lane = threadIdx.x % SWEEP_WARP;
    const uint32_t row = warp / shape::warps_across * shape::warp_rows + lane / 8 * SWEEP_QUAD;
    const uint32_t column =
        warp % shape::warps_across * shape::warp_columns + lane % 8 * SWEEP_QUAD;
    const int32_t *const left = operands.left + blockIdx.y * ROWS;
    const int32_t *const right = operands.right + blockIdx.x * COLUMNS;
    int32_t *const home =
        operands.result + (uint64_t)(blockIdx.y * ROWS + row) * n + blockIdx.x * COLUMNS + column;
    const uint32_t slab_count = operands.depth / SLAB;
    sweep_fetch<ROWS, SLAB, shape::threads>(sweep_ring, left, n);
    sweep_fetch<COLUMNS, SLAB, shape::threads>(sweep_ring + SLAB * ROWS, right, n);
    __pipeline_commit();
    int32_t tile[DOWN][ACROSS];
#pragma unroll
    for (uint32_t i = 0; i < DOWN; i++) {
#pragma unroll
        for (uint32_t quad = 0; quad < ACROSS / SWEEP_QUAD; quad++) {
            sweep_load(home + sweep_place(i, quad, n), tile[i] + quad * SWEEP_QUAD);
        }
    }
    for (uint32_t slab = 0; slab < slab_count; slab++) {
        __pipeline_wait_prior(0);
        /* The slab has landed for all, and all are done with the stage that is filled next. */
        __syncthreads();
        if (slab + 1 < slab_count) {
            int32_t *const next = sweep_ring + (slab + 1) % SWEEP_STAGES * shape::stage_elements;
            const uint64_t offset = (uint64_t)(slab + 1) * SLAB * n;
            sweep_fetch<ROWS, SLAB, shape::threads>(next, left + offset, n);
            sweep_fetch<COLUMNS, SLAB, shape::threads>(next + SLAB * ROWS, right + offset, n);
        }
        __pipeline_commit();
        const int32_t *const stage = sweep_ring + slab % SWEEP_STAGES * shape::stage_elements;
        sweep_product<SLAB>(tile, stage + row, ROWS, stage + SLAB * ROWS + column, COLUMNS);
    }
#pragma unroll
    for (uint32_t i = 0; i < DOWN; i++) {
#pragma unroll
        for (uint32_t quad = 0; quad < ACROSS / SWEEP_QUAD; quad++) {
            sweep_store(home + sweep_place(i, quad, n), tile[i] + quad * SWEEP_QUAD);
        }
    }
}

/* The same value for an element on every call; one in sixteen is unreachable. */
static __device__ __forceinline__ int32_t sweep_value(uint64_t index, uint32_t seed)
{
    uint32_t mixed = ((uint32_t)index ^ seed) * 2654435761u;
    mixed ^= mixed >> 15;
    mixed *= 2246822519u;
    mixed ^= mixed >> 13;
    return (mixed & 15u) == 0 ? UNREACHABLE_I4 : (int32_t)(mixed >> 12);
}

static __global__ void sweep_fill_kernel(int32_t *elements, uint64_t count, uint32_t seed)
{
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        elements[i] = sweep_value(i, seed);
    }
}

/* Counts the elements of a result filled with seed that a plain loop over the pivots does not
 * give. */
static __global__ void sweep_compare_kernel(struct sweep_operands operands, uint32_t seed,
                                            uint32_t *mismatches)
{
    const uint32_t row = blockIdx.y * SWEEP_NAIVE_EDGE + threadIdx.y;
    const uint32_t column = blockIdx.x * SWEEP_NAIVE_EDGE + threadIdx.x;
    const uint64_t place = (uint64_t)row * operands.n + column;
    int64_t distance = sweep_value(place, seed);
    for (uint64_t pivot = 0; pivot < operands.depth; pivot++) {
        const int64_t sum = (int64_t)operands.left[pivot * operands.n + row] +
                            operands.right[pivot * operands.n + column];
        distance = sum < distance ? sum : distance;
    }
    if (operands.result[place] != distance) {
        atomicAdd(mismatches, 1u);
    }
}

typedef void sweep_entry(struct sweep_operands operands);

/* Its kernels for slabs of 16 and of 32 pivots. */
struct sweep_choice {
    uint32_t rows;
    uint32_t columns;
    uint32_t down;
    uint32_t across;
    uint32_t threads;
    uint32_t shared_bytes[2];
    sweep_entry *kernel[2];
};

#define SWEEP_CHOICE(rows, columns, down, across)                                                  \
    {                                                                                              \
        rows, columns, down, across, sweep_shape<rows, columns, down, across, 16>::threads,        \
            {sweep_shape<rows, columns, down, across, 16>::shared_bytes,                           \
             sweep_shape<rows, columns, down, across, 32>::shared_bytes},                          \
        {                                                                                          \
            sweep_kernel<rows, columns, down, across, 16>,                                         \
                sweep_kernel<rows, columns, down, across, 32>                                      \
        }                                                                                          \
    }

static const struct sweep_choice sweep_choices[] = {
    SWEEP_CHOICE(32, 32, 4, 4),   SWEEP_CHOICE(64, 64, 4, 4),  SWEEP_CHOICE(64, 64, 8, 4),
    SWEEP_CHOICE(64, 64, 8, 8),   SWEEP_CHOICE(64, 128, 8, 4), SWEEP_CHOICE(64, 128, 8, 8),
    SWEEP_CHOICE(128, 64, 8, 4),  SWEEP_CHOICE(128, 64, 8, 8), SWEEP_CHOICE(128, 128, 8, 4),
    SWEEP_CHOICE(128, 128, 8, 8),
};

/* Depths 16, 32, ... SWEEP_DEPTH_MAX in slabs of 16, then 32, 64, ... in slabs of 32. */
#define SWEEP_DEPTHS 6
#define SWEEP_DEPTHS_OF_CHOICE (2 * SWEEP_DEPTHS - 1)
static_assert(16u << (SWEEP_DEPTHS - 1) == SWEEP_DEPTH_MAX, "depths double from one slab on");

size_t sweep_form_count(void)
{
    return sizeof(sweep_choices) / sizeof(sweep_choices[0]) * SWEEP_DEPTHS_OF_CHOICE;
}

static const struct sweep_choice *sweep_choice_at(size_t index)
{
    CHECK(index < sweep_form_count());
    return &sweep_choices[index / SWEEP_DEPTHS_OF_CHOICE];
}

static bool sweep_is_wide_slab(size_t index)
{
    return index % SWEEP_DEPTHS_OF_CHOICE >= SWEEP_DEPTHS;
}

struct sweep_form sweep_form_at(size_t index)
{
    const struct sweep_choice *choice = sweep_choice_at(index);
    const uint32_t step = (uint32_t)(index % SWEEP_DEPTHS_OF_CHOICE);
    struct sweep_form form;
    form.tile_rows = choice->rows;
    form.tile_columns = choice->columns;
    form.thread_rows = choice->down;
    form.thread_columns = choice->across;
    form.slab = sweep_is_wide_slab(index) ? 32 : 16;
    form.depth = sweep_is_wide_slab(index) ? 32u << (step - SWEEP_DEPTHS) : 16u << step;
    return form;
}

struct sweep {
    uint32_t n;
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    int32_t *result;      /* n x n */
    int32_t *left;        /* SWEEP_DEPTH_MAX x n */
    int32_t *right;       /* the same */
    uint32_t *mismatches; /* on the device */
};

void sweep_close(struct sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    (void)cudaFree(sweep->result);
    (void)cudaFree(sweep->left);
    (void)cudaFree(sweep->right);
    (void)cudaFree(sweep->mismatches);
    if (sweep->begin != NULL) {
        (void)cudaEventDestroy(sweep->begin);
    }
    if (sweep->end != NULL) {
        (void)cudaEventDestroy(sweep->end);
    }
    if (sweep->stream != NULL) {
        (void)cudaStreamDestroy(sweep->stream);
    }
    free(sweep);
}

#define SWEEP_SEED 11u

MUST_CHECK static enum status sweep_fill(const struct sweep *sweep, int32_t *elements,
                                         uint64_t count, uint32_t seed)
{
    sweep_fill_kernel<<<1024, 256, 0, sweep->stream>>>(elements, count, seed);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

/* The carve-out lets as many blocks share a multiprocessor as their registers allow. */
MUST_CHECK static enum status sweep_prepare(void)
{
    for (size_t i = 0; i < sizeof(sweep_choices) / sizeof(sweep_choices[0]); i++) {
        for (uint32_t slab = 0; slab < 2; slab++) {
            sweep_entry *const kernel = sweep_choices[i].kernel[slab];
            GPU_TRY(cudaFuncSetAttribute((const void *)kernel,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)sweep_choices[i].shared_bytes[slab]));
            GPU_TRY(cudaFuncSetAttribute((const void *)kernel,
                                         cudaFuncAttributePreferredSharedMemoryCarveout,
                                         cudaSharedmemCarveoutMaxShared));
        }
    }
    return STATUS_OK;
}

MUST_CHECK static enum status sweep_acquire(struct sweep *sweep)
{
    const uint64_t elements = (uint64_t)sweep->n * sweep->n;
    const uint64_t panel = (uint64_t)SWEEP_DEPTH_MAX * sweep->n;
    GPU_TRY(cudaSetDevice(0));
    STATUS_TRY(sweep_prepare());
    GPU_TRY(cudaStreamCreateWithFlags(&sweep->stream, cudaStreamNonBlocking));
    GPU_TRY(cudaEventCreate(&sweep->begin));
    GPU_TRY(cudaEventCreate(&sweep->end));
    GPU_TRY(cudaMalloc((void **)&sweep->result, elements * sizeof(int32_t)));
    GPU_TRY(cudaMalloc((void **)&sweep->left, panel * sizeof(int32_t)));
    GPU_TRY(cudaMalloc((void **)&sweep->right, panel * sizeof(int32_t)));
    GPU_TRY(cudaMalloc((void **)&sweep->mismatches, sizeof(uint32_t)));
    STATUS_TRY(sweep_fill(sweep, sweep->result, elements, SWEEP_SEED));
    STATUS_TRY(sweep_fill(sweep, sweep->left, panel, SWEEP_SEED + 1));
    return sweep_fill(sweep, sweep->right, panel, SWEEP_SEED + 2);
}

enum status sweep_open(uint32_t n, struct sweep **ret_sweep)
{
    CHECK(n % SWEEP_MULTIPLE == 0 && n >= SWEEP_N_MIN);
    struct sweep *sweep = (struct sweep *)calloc(1, sizeof(*sweep));
    if (sweep == NULL) {
        return STATUS_NO_MEMORY;
    }
    sweep->n = n;
    const enum status status = sweep_acquire(sweep);
    if (status != STATUS_OK) {
        sweep_close(sweep);
        return status;
    }
    *ret_sweep = sweep;
    return STATUS_OK;
}

static struct sweep_operands sweep_operands_of(const struct sweep *sweep, uint32_t n,
                                               uint32_t depth)
{
    struct sweep_operands operands;
    operands.result = sweep->result;
    operands.left = sweep->left;
    operands.right = sweep->right;
    operands.n = n;
    operands.depth = depth;
    return operands;
}

MUST_CHECK static enum status sweep_launch(const struct sweep *sweep, size_t index,
                                           struct sweep_operands operands)
{
    const struct sweep_choice *choice = sweep_choice_at(index);
    const bool wide = sweep_is_wide_slab(index);
    const dim3 grid(operands.n / choice->columns, operands.n / choice->rows);
    choice->kernel[wide]<<<grid, choice->threads, choice->shared_bytes[wide], sweep->stream>>>(
        operands);
    GPU_TRY(cudaGetLastError());
    return STATUS_OK;
}

enum status sweep_check(struct sweep *sweep, size_t index)
{
    const struct sweep_operands operands =
        sweep_operands_of(sweep, SWEEP_CHECK_N, sweep_form_at(index).depth);
    const dim3 threads(SWEEP_NAIVE_EDGE, SWEEP_NAIVE_EDGE);
    const dim3 grid(SWEEP_CHECK_N / SWEEP_NAIVE_EDGE, SWEEP_CHECK_N / SWEEP_NAIVE_EDGE);
    uint32_t mismatches = 0;
    STATUS_TRY(
        sweep_fill(sweep, sweep->result, (uint64_t)SWEEP_CHECK_N * SWEEP_CHECK_N, SWEEP_SEED));
    STATUS_TRY(sweep_launch(sweep, index, operands));
    GPU_TRY(cudaMemsetAsync(sweep->mismatches, 0, sizeof(uint32_t), sweep->stream));
    sweep_compare_kernel<<<grid, threads, 0, sweep->stream>>>(operands, SWEEP_SEED,
                                                              sweep->mismatches);
    GPU_TRY(cudaGetLastError());
    GPU_TRY(cudaMemcpyAsync(&mismatches, sweep->mismatches, sizeof(uint32_t),
                            cudaMemcpyDeviceToHost, sweep->stream));
    GPU_TRY(cudaStreamSynchronize(sweep->stream));
    return mismatches == 0 ? STATUS_OK : STATUS_NOT_VERIFIED;
}

static int sweep_order(const void *a, const void *b)
{
    const float left = *(const float *)a;
    const float right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Runs that find the product done already take as long: every element is computed and stored. */
enum status sweep_measure(struct sweep *sweep, size_t index, double *ret_seconds)
{
    const struct sweep_operands operands =
        sweep_operands_of(sweep, sweep->n, sweep_form_at(index).depth);
    float elapsed_ms[SWEEP_RUNS];
    STATUS_TRY(sweep_launch(sweep, index, operands));
    for (uint32_t run = 0; run < SWEEP_RUNS; run++) {
        GPU_TRY(cudaEventRecord(sweep->begin, sweep->stream));
        STATUS_TRY(sweep_launch(sweep, index, operands));
        GPU_TRY(cudaEventRecord(sweep->end, sweep->stream));
        GPU_TRY(cudaEventSynchronize(sweep->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms[run], sweep->begin, sweep->end));
    }
    qsort(elapsed_ms, SWEEP_RUNS, sizeof(elapsed_ms[0]), sweep_order);
    *ret_seconds = (double)elapsed_ms[SWEEP_RUNS / 2] * 1e-3;
    return STATUS_OK;
}
