#include "gpu/gpu.h"

#include <stdatomic.h>

/* One value per process, because a sticky error makes every later call on its CUDA context fail. */
static atomic_uint noted;

/* The numbers are those of the CUDA runtime, which do not change (driver_types.h). */
enum gpu_fault gpu_fault_of(int code)
{
    switch (code) {
    case 0:
    case 2: /* out of memory: the context stays usable */
        return GPU_FAULT_NONE;
    case 700: /* illegal address */
    case 710: /* assertion */
    case 714: /* hardware stack error */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid program counter */
    case 719: /* launch failure */
        return GPU_FAULT_KERNEL;
    case 702: /* launch timed out */
        return GPU_FAULT_TIMEOUT;
    case 214: /* uncorrectable memory error */
    case 220: /* NVLink error */
    case 226: /* contained memory error */
        return GPU_FAULT_HARDWARE;
    case 34:  /* libcuda is the stub of the toolkit: no driver is installed */
    case 35:  /* the driver is too old */
    case 46:  /* devices are unavailable */
    case 100: /* no device */
    case 101: /* invalid device */
    case 209: /* no code for this device */
    case 802: /* the system is not ready */
    case 803: /* driver and library do not match */
    case 804: /* the device does not support forward compatibility */
        return GPU_FAULT_SETUP;
    default:
        return GPU_FAULT_OTHER;
    }
}

enum status gpu_fault_status(int code)
{
    if (code == 0 || code == 2) {
        return code == 0 ? STATUS_OK : STATUS_NO_DEVICE_MEMORY;
    }
    return gpu_fault_of(code) == GPU_FAULT_SETUP ? STATUS_NO_DEVICE : STATUS_DEVICE_LOST;
}

void gpu_fault_note(int code)
{
    unsigned none = GPU_FAULT_NONE;
    atomic_compare_exchange_strong(&noted, &none, (unsigned)gpu_fault_of(code));
}

enum gpu_fault gpu_fault_noted(void)
{
    return (enum gpu_fault)atomic_load(&noted);
}
