/* The translation of CUDA's errors to enum status, where they occur; returning, never exiting. */
#pragma once

#include "gpu/gpu.h"
#include "proto/status.h"

#include <cuda_runtime.h>

/* The memory error leaves the context usable and is cleared, so that a later launch check does not
 * see it again. Whatever is not known to be harmless counts as a lost device. */
MUST_CHECK static inline enum status try_translate(cudaError_t error)
{
    switch (static_cast<int>(error)) {
    case cudaSuccess:
        return STATUS_OK;
    case cudaErrorMemoryAllocation:
        (void)cudaGetLastError();
        return STATUS_NO_DEVICE_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
        (void)cudaGetLastError();
        return STATUS_NO_DEVICE;
    default:
        gpu_fault_note(static_cast<int>(error));
        return STATUS_DEVICE_LOST;
    }
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
