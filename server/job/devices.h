/* The devices found at start-up, for /v1/devices, admission and the log. Immutable after start,
 * but for the workers' health. */
#pragma once

#include "server/job/worker/worker.h"

#define DEVICE_LIMIT 16

struct device_list {
    struct solver_device devices[DEVICE_LIMIT];       /* one worker each */
    const struct worker_health *health[DEVICE_LIMIT]; /* of their workers, which outlive it */
    uint32_t count;
    char gpu_reason[SOLVER_REASON_SIZE]; /* why no GPU is used; empty when one is */
};
