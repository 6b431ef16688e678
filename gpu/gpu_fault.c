#include "gpu/gpu.h"

/* The error codes of the CUDA runtime (driver_types.h) are the same in all versions. */
enum status gpu_fault_status(int code)
{
    switch (code) {
    case 0:
        return STATUS_OK;
    case 2: /* out of memory: the context stays usable */
        return STATUS_NO_DEVICE_MEMORY;
    case 34:  /* libcuda is the stub of the toolkit: no driver is installed */
    case 35:  /* the driver is too old */
    case 46:  /* devices are unavailable */
    case 100: /* no device */
    case 101: /* invalid device */
    case 209: /* no code for this device */
    case 802: /* the system is not ready */
    case 803: /* driver and library do not match */
    case 804: /* the device does not support forward compatibility */
        return STATUS_NO_DEVICE;
    default:
        return STATUS_DEVICE_LOST;
    }
}
