/* Takes the place of probe_gpu.c in a build without CUDA. */
#include "server/solver/probe.h"

enum status probe_gpu_open(const struct solver_device *device, struct probe **ret_probe)
{
    (void)device;
    (void)ret_probe;
    return STATUS_NO_DEVICE;
}
