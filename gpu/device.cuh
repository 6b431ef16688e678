/* The body of struct gpu: what is acquired once per device, and per member of a group. */
#pragma once

#include "gpu/gpu.h"
#include "gpu/kernel_finish.cuh"
#include "gpu/nccl.h"

#include <cuda_runtime.h>

/* Bytes of one staging buffer, host and device side: what travels at once. Twice as much leaves the
 * cache of the host before it is copied from there: 40 in place of 55 GB/s beside an H200. */
#define DEVICE_CHUNK_BYTES ((uint64_t)32 << 20)
#define DEVICE_CHUNKS 2
/* The most rounds that the host is ahead of the device: rounds_run says when. */
#define DEVICE_ROUNDS_AHEAD 4
/* An event is recorded anew only after everybody who waits for it has asked to. */
#define DEVICE_ROUND_EVENTS (2 * DEVICE_ROUNDS_AHEAD)
/* Pivot tiles of a round, at most. */
#define DEVICE_PIVOTS 2
/* The same of a plan's rounds. */
#define DEVICE_PLANNED_AHEAD 32
/* The interior of a round runs as two halves, each in a stream of its own: while the last blocks of
 * one half finish, the other fills the device. */
#define DEVICE_HALVES 2
/* Device memory of a solve up to this size is kept for the next one. */
#define DEVICE_KEPT_BYTES ((uint64_t)256 << 20)

struct gpu {
    int ordinal; /* as CUDA counts */
    uint32_t multiprocessors;
    uint32_t clock_mhz;
    struct gpu_tuning tuning;
    cudaStream_t stream; /* transfers, diagonal and panels: goes before the halves */
    cudaStream_t half[DEVICE_HALVES];
    cudaStream_t alarm_stream; /* tells kernels under way to stop */
    cudaEvent_t panels_done[DEVICE_ROUND_EVENTS];
    cudaEvent_t half_done[DEVICE_HALVES][DEVICE_ROUND_EVENTS];
    cudaEvent_t planned_done[DEVICE_PLANNED_AHEAD];
    cudaEvent_t chunk_done[DEVICE_CHUNKS];
    cudaEvent_t begin; /* with timing, around whole phases */
    cudaEvent_t end;
    void *staging[DEVICE_CHUNKS];       /* host, DEVICE_CHUNK_BYTES each */
    bool staging_pinned[DEVICE_CHUNKS]; /* else pageable: slower, still right */
    struct staging *copier;             /* threads between staging and the caller's memory */
    struct finish_alarm
        *alarm; /* host-mapped; kernels write it, the host reads it after an event */
    struct finish_alarm *alarm_device;
    struct tile_control *control; /* on the device */
    uint32_t *stop;               /* pinned: 1 */
    void *arena;                  /* device memory kept between solves, or NULL */
    uint64_t arena_bytes;
    const struct ranks *ranks; /* that it solves with, or NULL */
    struct nccl *nccl;         /* between their devices; NULL: by way of the hosts */
    /* In the first member of a group, which has the others: */
    uint32_t member_count;                /* 1: it is alone */
    struct gpu *members[GPU_MEMBERS_MAX]; /* itself, then the others */
    /* In every member, by round and pivot: it has sent all that others need. */
    cudaEvent_t sent[DEVICE_ROUND_EVENTS][DEVICE_PIVOTS];
    cudaEvent_t closed_sent[DEVICE_ROUND_EVENTS][DEVICE_PIVOTS]; /* the diagonal tile alone */
};

static inline bool device_cancelled(const struct observer *observer)
{
    return observer != NULL && observer->cancelled != NULL &&
           observer->cancelled(observer->context);
}

/* Status from the alarms that kernels raise; complete for the kernels before an event that has been
 * waited for. */
MUST_CHECK static inline enum status device_alarm(const struct gpu *gpu)
{
    const volatile struct finish_alarm *alarm = gpu->alarm;
    if (alarm->negative != 0) {
        return STATUS_NEGATIVE_CYCLE;
    }
    return alarm->out_of_range != 0 ? STATUS_WEIGHT_RANGE : STATUS_OK;
}
