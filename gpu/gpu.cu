#include "gpu/gpu.h"

#include "gpu/device.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Minimum major compute capability. Ampere (8.0) is the first architecture with asynchronous copies
 * to shared memory; it and later ones have enough shared memory for the interior phase. */
#define CAPABILITY_MAJOR_MIN 8

/* Bytes of device memory left to the driver, which allocates memory when it loads a kernel. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

static int get_attribute(int ordinal, enum cudaDeviceAttr which)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return value;
}

/* Returns the number of usable devices. Sets *ret_ordinal to the CUDA device number of the usable
 * device with this index. */
static uint32_t find_usable(int device_count, uint32_t index, int *ret_ordinal)
{
    uint32_t usable = 0;
    for (int ordinal = 0; ordinal < device_count; ordinal++) {
        if (get_attribute(ordinal, cudaDevAttrComputeCapabilityMajor) < CAPABILITY_MAJOR_MIN ||
            get_attribute(ordinal, cudaDevAttrCooperativeLaunch) == 0) {
            continue;
        }
        if (usable == index) {
            *ret_ordinal = ordinal;
        }
        usable++;
    }
    return usable;
}

uint32_t gpu_count(char ret_reason[GPU_REASON_SIZE])
{
    int device_count = 0;
    int ordinal = 0;
    const cudaError_t error = cudaGetDeviceCount(&device_count);
    ret_reason[0] = '\0';
    if (error != cudaSuccess) {
        const char *words = cudaGetErrorString(error);
        if (error == cudaErrorInsufficientDriver) {
            words = "no NVIDIA driver, or a driver that is too old for this build";
        } else if (error == cudaErrorNoDevice) {
            words = "no NVIDIA device is visible to this process";
        }
        (void)cudaGetLastError();
        snprintf(ret_reason, GPU_REASON_SIZE, "%s", words);
        return 0;
    }
    const uint32_t usable = find_usable(device_count, 0, &ordinal);
    if (usable == 0) {
        snprintf(ret_reason, GPU_REASON_SIZE,
                 "none of the %d GPUs has compute capability %d.0 or higher and supports "
                 "cooperative launches",
                 device_count, CAPABILITY_MAJOR_MIN);
    }
    return usable;
}

/* Calls visit(event, flags) for every event of the device, until it returns an error. The flags are
 * those with which the event is created. */
template <typename visitor> static enum status visit_events(struct gpu *gpu, visitor visit)
{
    /* The host may wait for an event during a whole solve, so it sleeps instead of spinning. */
    const unsigned sleeping = cudaEventDisableTiming | cudaEventBlockingSync;
    for (uint32_t i = 0; i < DEVICE_PLANNED_AHEAD; i++) {
        STATUS_TRY(visit(&gpu->planned_done[i], sleeping));
    }
    for (uint32_t i = 0; i < DEVICE_ROUND_EVENTS; i++) {
        STATUS_TRY(visit(&gpu->panels_done[i], cudaEventDisableTiming));
        for (uint32_t j = 0; j < DEVICE_PIVOTS; j++) {
            STATUS_TRY(visit(&gpu->sent[i][j], cudaEventDisableTiming));
            STATUS_TRY(visit(&gpu->closed_sent[i][j], cudaEventDisableTiming));
        }
        for (uint32_t j = 0; j < DEVICE_HALVES; j++) {
            STATUS_TRY(visit(&gpu->half_done[j][i], sleeping));
        }
    }
    for (uint32_t i = 0; i < DEVICE_CHUNKS; i++) {
        STATUS_TRY(visit(&gpu->chunk_done[i], cudaEventDisableTiming));
    }
    STATUS_TRY(visit(&gpu->begin, cudaEventDefault));
    return visit(&gpu->end, cudaEventDefault);
}

/* Creates the streams, events and buffers of a device. threads: number of threads that copy the
 * device's rows to the caller's memory. */
MUST_CHECK static enum status acquire_resources(struct gpu *gpu, uint32_t threads)
{
    int least = 0;
    int greatest = 0;
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    /* The panels use a stream of higher priority, so that when a block of the interior ends, a
     * waiting block of the panels is scheduled first. */
    GPU_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    GPU_TRY(cudaStreamCreateWithPriority(&gpu->stream, cudaStreamNonBlocking, greatest));
    GPU_TRY(cudaStreamCreateWithPriority(&gpu->alarm_stream, cudaStreamNonBlocking, greatest));
    for (uint32_t i = 0; i < DEVICE_HALVES; i++) {
        GPU_TRY(cudaStreamCreateWithPriority(&gpu->half[i], cudaStreamNonBlocking, least));
    }
    STATUS_TRY(visit_events(gpu, [](cudaEvent_t *event, unsigned flags) {
        return try_translate(cudaEventCreateWithFlags(event, flags));
    }));
    GPU_TRY(cudaHostAlloc((void **)&gpu->alarm, sizeof(*gpu->alarm), cudaHostAllocMapped));
    memset(gpu->alarm, 0, sizeof(*gpu->alarm));
    GPU_TRY(cudaHostGetDevicePointer((void **)&gpu->alarm_device, gpu->alarm, 0));
    GPU_TRY(cudaMallocHost((void **)&gpu->stop, sizeof(*gpu->stop)));
    *gpu->stop = 1;
    GPU_TRY(cudaMalloc((void **)&gpu->control, sizeof(*gpu->control)));
    for (uint32_t i = 0; i < DEVICE_CHUNKS; i++) {
        GPU_TRY(cudaMallocHost(&gpu->staging[i], DEVICE_CHUNK_BYTES));
    }
    return staging_create(threads, &gpu->copier);
}

MUST_CHECK static enum status open_member(uint32_t index, uint32_t threads, struct gpu **ret_gpu)
{
    int device_count = 0;
    int ordinal = 0;
    GPU_TRY(cudaGetDeviceCount(&device_count));
    if (index >= find_usable(device_count, index, &ordinal)) {
        return STATUS_NO_DEVICE;
    }
    struct gpu *gpu = (struct gpu *)calloc(1, sizeof(*gpu));
    if (gpu == NULL) {
        return STATUS_NO_MEMORY;
    }
    gpu->ordinal = ordinal;
    gpu->multiprocessors = (uint32_t)get_attribute(ordinal, cudaDevAttrMultiProcessorCount);
    gpu->clock_mhz = (uint32_t)get_attribute(ordinal, cudaDevAttrClockRate) / 1000;
    gpu->tuning = {GPU_SMALL_VERTICES, GPU_NARROW_VERTICES, GPU_PAIR_VERTICES, GPU_GROUP_VERTICES};
    gpu->member_count = 1;
    gpu->members[0] = gpu;
    const enum status status = acquire_resources(gpu, threads);
    if (status != STATUS_OK) {
        gpu_close(gpu);
        return status;
    }
    *ret_gpu = gpu;
    return STATUS_OK;
}

/* Lets one device write to another's memory. Without this, the driver copies through the host. */
MUST_CHECK static enum status connect_to(const struct gpu *gpu, const struct gpu *other)
{
    int can = 0;
    if (gpu->ordinal == other->ordinal) {
        return STATUS_OK;
    }
    GPU_TRY(cudaDeviceCanAccessPeer(&can, gpu->ordinal, other->ordinal));
    if (can == 0) {
        return STATUS_OK;
    }
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    const cudaError_t error = cudaDeviceEnablePeerAccess(other->ordinal, 0);
    /* Not a failure: without an NVLink switch a device supports only a limited number of peers. */
    if (error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorTooManyPeers ||
        error == cudaErrorPeerAccessUnsupported) {
        (void)cudaGetLastError();
        return STATUS_OK;
    }
    return try_translate(error);
}

enum status gpu_open(const uint32_t *indexes, uint32_t count, struct gpu **ret_gpu)
{
    /* The first device gets one copying thread for every two processors, because it may download a
     * result alone. The other processors are left to the threads that fault in the pages of the
     * result: on 16 processors, 9.6 GB of new pages took 450 ms this way, and 540 ms with a copying
     * thread on every processor. Each other device of a group gets its share of all processors. */
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t half = processors > 2 ? (uint32_t)processors / 2 : 1;
    const uint32_t share = processors > (long)count ? (uint32_t)processors / count : 1;
    struct gpu *gpu = NULL;
    CHECK(count > 0 && count <= GPU_MEMBERS_MAX);
    enum status status = open_member(indexes[0], half, &gpu);
    while (status == STATUS_OK && gpu->member_count < count) {
        status = open_member(indexes[gpu->member_count], share, &gpu->members[gpu->member_count]);
        gpu->member_count += status == STATUS_OK ? 1 : 0;
    }
    for (uint32_t i = 0; status == STATUS_OK && i < count * count; i++) {
        status = connect_to(gpu->members[i / count], gpu->members[i % count]);
    }
    if (status != STATUS_OK) {
        gpu_close(gpu);
        return status;
    }
    *ret_gpu = gpu;
    return STATUS_OK;
}

static void close_stream(cudaStream_t stream)
{
    if (stream != NULL) {
        (void)cudaStreamDestroy(stream);
    }
}

/* Ignores errors of CUDA calls, because a lost device rejects every call. */
void gpu_close(struct gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    for (uint32_t i = 1; i < gpu->member_count; i++) {
        gpu_close(gpu->members[i]);
    }
    (void)cudaSetDevice(gpu->ordinal);
    nccl_close(gpu->nccl);
    for (uint32_t i = 0; i < DEVICE_CHUNKS; i++) {
        (void)cudaFreeHost(gpu->staging[i]);
    }
    staging_destroy(gpu->copier);
    (void)cudaFreeHost(gpu->alarm);
    (void)cudaFreeHost(gpu->stop);
    (void)cudaFree(gpu->control);
    (void)cudaFree(gpu->arena);
    (void)visit_events(gpu, [](cudaEvent_t *event, unsigned) {
        (void)(*event == NULL || cudaEventDestroy(*event));
        return STATUS_OK;
    });
    close_stream(gpu->stream);
    close_stream(gpu->alarm_stream);
    for (uint32_t i = 0; i < DEVICE_HALVES; i++) {
        close_stream(gpu->half[i]);
    }
    (void)cudaGetLastError();
    free(gpu);
}

/* Finds the smallest total and the smallest free memory of the first `count` members. The arena of
 * a member counts as free, because the next solve reuses it. */
MUST_CHECK static bool measure_memory(const struct gpu *gpu, uint32_t count, uint64_t *ret_bytes,
                                      uint64_t *ret_free_bytes)
{
    uint64_t least_free = UINT64_MAX;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        if (cudaSetDevice(gpu->members[i]->ordinal) != cudaSuccess ||
            cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
            (void)cudaGetLastError();
            return false;
        }
        const uint64_t usable = free_bytes + gpu->members[i]->arena_bytes;
        least_free = usable < least_free ? usable : least_free;
        least = total_bytes < least ? total_bytes : least;
    }
    *ret_bytes = least;
    *ret_free_bytes = least_free;
    return true;
}

void gpu_describe(const struct gpu *gpu, struct gpu_device *ret_device)
{
    struct cudaDeviceProp properties;
    memset(ret_device, 0, sizeof(*ret_device));
    if (cudaGetDeviceProperties(&properties, gpu->ordinal) != cudaSuccess ||
        !measure_memory(gpu, gpu->member_count, &ret_device->memory_bytes,
                        &ret_device->memory_free_bytes)) {
        return;
    }
    ret_device->memory_bytes *= gpu->member_count;
    ret_device->memory_free_bytes *= gpu->member_count;
    snprintf(ret_device->name, sizeof(ret_device->name), "%.63s", properties.name);
    ret_device->multiprocessors = (uint32_t)properties.multiProcessorCount;
    ret_device->clock_mhz = gpu->clock_mhz;
    ret_device->capability_major = (uint32_t)properties.major;
    ret_device->capability_minor = (uint32_t)properties.minor;
}

void gpu_set_tuning(struct gpu *gpu, const struct gpu_tuning *tuning)
{
    for (uint32_t i = 0; i < gpu->member_count; i++) {
        gpu->members[i]->tuning = *tuning;
    }
}

void gpu_join(struct gpu *gpu, const struct ranks *ranks)
{
    gpu->ranks = ranks;
}

/* Makes NCCL's first broadcast, which takes 0.25 s because it connects the devices, so that no
 * solve has to wait for it. */
MUST_CHECK static enum status send_first(const struct gpu *gpu)
{
    STATUS_TRY(nccl_broadcast(gpu->nccl, gpu->control, sizeof(*gpu->control), 0, gpu->stream));
    return try_translate(cudaStreamSynchronize(gpu->stream));
}

bool gpu_connect(struct gpu *gpu)
{
    const struct ranks *ranks = gpu->ranks;
    CHECK(ranks != NULL && gpu->nccl == NULL);
    const bool entered = cudaSetDevice(gpu->ordinal) == cudaSuccess;
    if (ranks->highest(ranks->context, !entered) == 0) {
        gpu->nccl = nccl_open(ranks);
    }
    if (gpu->nccl != NULL && send_first(gpu) != STATUS_OK) {
        ranks->end(ranks->context);
    }
    return gpu->nccl != NULL;
}

uint64_t gpu_free_bytes(const struct gpu *gpu)
{
    uint64_t bytes = 0;
    uint64_t free_bytes = 0;
    return measure_memory(gpu, 1, &bytes, &free_bytes) ? free_bytes : 0;
}

/* Returns the size of the workspace in bytes. Assumes elements of at least 4 bytes, because it
 * depends on the weights whether 16 bits suffice. */
static uint64_t bytes_of(struct workspace_shape *shape, uint64_t edge_count, enum kind kind)
{
    struct workspace_layout layout;
    shape->edge_count = edge_count;
    shape->element_bytes = kind == KIND_F8 ? sizeof(double) : sizeof(int32_t);
    shape->word_bytes = shape->element_bytes;
    shape->result_bytes = (uint32_t)kind_size(kind);
    shape->right_blocks = operand_right_blocks<semiring_i4>();
    if (!workspace_plan(shape, &layout)) {
        return UINT64_MAX;
    }
    return shape->vertex_count == 0 ? 0 : layout.total_bytes + RESERVE_BYTES;
}

uint64_t gpu_bytes_needed(uint32_t members, uint32_t vertex_count, uint64_t edge_count,
                          enum kind kind)
{
    const bool small = vertex_count <= GPU_SMALL_VERTICES;
    const uint32_t pivots = small ? 0 : vertex_count < GPU_PAIR_VERTICES ? 1 : OPERAND_PIVOTS;
    uint64_t most = 0;
    members = vertex_count < GPU_GROUP_VERTICES ? 1 : members;
    for (uint32_t member = 0; member < members; member++) {
        struct workspace_shape shape;
        workspace_set_dense(&shape, vertex_count, pivots, members, member);
        const uint64_t bytes = bytes_of(&shape, edge_count, kind);
        most = bytes > most ? bytes : most;
    }
    return most <= UINT64_MAX / members ? most * members : UINT64_MAX;
}

uint64_t gpu_plan_bytes(const struct plan *plan, uint64_t edge_count, enum kind kind)
{
    struct workspace_shape shape;
    workspace_set_planned(&shape, plan);
    return bytes_of(&shape, edge_count, kind);
}
