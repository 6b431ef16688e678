/* The translation of CUDA's errors to enum status, where they occur; returning, never exiting. */
#pragma once

#include "gpu/gpu.h"
#include "proto/status.h"

#include <cuda_runtime.h>

/* Clears an error that leaves the context usable, so that a later launch check does not see it
 * again; notes a sticky one. */
MUST_CHECK static inline enum status try_translate(cudaError_t error)
{
    const enum status status = gpu_fault_status(static_cast<int>(error));
    if (status == STATUS_DEVICE_LOST) {
        gpu_fault_note(static_cast<int>(error));
    } else if (status != STATUS_OK) {
        (void)cudaGetLastError();
    }
    return status;
}

/* Returns from the calling function when a CUDA call failed. */
#define GPU_TRY(call)                                                                              \
    do {                                                                                           \
        const enum status try_status = try_translate(call);                                        \
        if (try_status != STATUS_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* The same for a call that already returns enum status. */
#define STATUS_TRY(call)                                                                           \
    do {                                                                                           \
        const enum status try_status = (call);                                                     \
        if (try_status != STATUS_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)
