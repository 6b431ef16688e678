/* The members of struct gpu: the streams, events, staging buffers and memory of one device.
 * gpu_open creates one struct for each member of a group. */
#pragma once

#include "gpu/gpu.h"
#include "gpu/kernel_finish.cuh"
#include "gpu/nccl.h"

#include <cuda_runtime.h>

/* Size of a staging buffer, on the host and on the device. Each transfer fills at most one. A
 * buffer of twice the size would be evicted from the host's cache before the host copies it: an
 * H200 then downloads 40 GB/s instead of 55. */
#define DEVICE_CHUNK_BYTES ((uint64_t)32 << 20)
#define DEVICE_CHUNKS 2
/* Maximum number of rounds that the host launches before it waits for the first of them. */
#define DEVICE_ROUNDS_AHEAD 4
/* Number of events of each kind: twice the rounds in flight. An event may be recorded again only
 * after every stream that needs its previous recording has been told to wait for it. */
#define DEVICE_ROUND_EVENTS (2 * DEVICE_ROUNDS_AHEAD)
/* Largest number of pivot tiles in a round. */
#define DEVICE_PIVOTS 2
/* Same limit as DEVICE_ROUNDS_AHEAD for a plan that omits tiles, whose rounds are shorter. */
#define DEVICE_PLANNED_AHEAD 32
/* The interior of a round is launched as two halves, each in its own stream, so that blocks of one
 * half fill the device while the last blocks of the other half finish. */
#define DEVICE_HALVES 2
/* The device memory of a solve is kept for the next solve if it is not larger than this. */
#define DEVICE_KEPT_BYTES ((uint64_t)256 << 20)

struct gpu {
    int ordinal; /* CUDA's device number */
    uint32_t multiprocessors;
    uint32_t clock_mhz;
    struct gpu_tuning tuning;
    cudaStream_t stream; /* runs transfers, diagonal and panels; higher priority than half[] */
    cudaStream_t half[DEVICE_HALVES];
    cudaStream_t alarm_stream; /* copies the flag that makes running kernels stop */
    cudaEvent_t panels_done[DEVICE_ROUND_EVENTS];
    cudaEvent_t half_done[DEVICE_HALVES][DEVICE_ROUND_EVENTS];
    cudaEvent_t planned_done[DEVICE_PLANNED_AHEAD];
    cudaEvent_t chunk_done[DEVICE_CHUNKS];
    cudaEvent_t begin; /* `begin` and `end` are recorded around the rounds of a solve */
    cudaEvent_t end;
    void *staging[DEVICE_CHUNKS]; /* pinned memory of the host, DEVICE_CHUNK_BYTES each */
    struct staging *copier;       /* threads that copy staging to the caller */
    struct finish_alarm
        *alarm; /* mapped host memory: kernels write it, and the host reads it after an event */
    struct finish_alarm *alarm_device;
    struct tile_control *control; /* in device memory */
    uint32_t *stop;               /* pinned memory that holds a 1 */
    void *arena;                  /* device memory kept between solves, or NULL */
    uint64_t arena_bytes;
    const struct ranks *ranks; /* ranks that share a solve, or NULL */
    struct nccl *nccl;         /* NULL: ranks send panels through their hosts */
    /* The next two are set only in the first member of a group, which owns the other members: */
    uint32_t member_count;                /* number of members; 1: a single device */
    struct gpu *members[GPU_MEMBERS_MAX]; /* the first member itself, then the others */
    /* Set in every member: events by round and pivot, recorded after all pieces have been sent. */
    cudaEvent_t sent[DEVICE_ROUND_EVENTS][DEVICE_PIVOTS];
    cudaEvent_t closed_sent[DEVICE_ROUND_EVENTS][DEVICE_PIVOTS]; /* recorded when the closed
                                                                    diagonal tile has been sent */
};

/* Returns the status for the alarms that kernels have raised. It covers all kernels that were
 * launched before the last event for which the host has waited. */
MUST_CHECK static inline enum status device_alarm(const struct gpu *gpu)
{
    const volatile struct finish_alarm *alarm = gpu->alarm;
    if (alarm->negative != 0) {
        return STATUS_NEGATIVE_CYCLE;
    }
    return alarm->out_of_range != 0 ? STATUS_WEIGHT_RANGE : STATUS_OK;
}
