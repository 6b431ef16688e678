#include "server/solver/probe.h"

#include <string.h>

enum status probe_open(const struct solver *solver, struct probe **ret_probe)
{
    struct solver_device device;
    solver_describe(solver, &device);
    return strcmp(device.solver, "gpu") == 0 ? probe_gpu_open(&device, ret_probe)
                                             : probe_cpu_open(&device, ret_probe);
}

void probe_close(struct probe *probe)
{
    if (probe != NULL) {
        probe->class_->close(probe);
    }
}

enum status probe_facts(struct probe *probe, struct device_facts *ret_facts)
{
    return probe->class_->facts(probe, ret_facts);
}

enum status probe_limit(struct probe *probe, enum arithmetic arithmetic,
                        struct arithmetic_limit *ret_limit)
{
    return probe->class_->limit(probe, arithmetic, ret_limit);
}

enum status probe_memory(struct probe *probe, struct memory_limit *ret_limit)
{
    return probe->class_->memory(probe, ret_limit);
}

enum status probe_sweep_begin(struct probe *probe, uint32_t n, size_t *ret_count)
{
    if (probe->class_->sweep_begin == NULL) {
        *ret_count = 0;
        return STATUS_OK;
    }
    return probe->class_->sweep_begin(probe, n, ret_count);
}

enum status probe_sweep_next(struct probe *probe, size_t index, struct product_figure *ret_figure)
{
    return probe->class_->sweep_next(probe, index, ret_figure);
}
