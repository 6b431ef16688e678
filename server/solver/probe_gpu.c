/* The GPU's yardsticks: gpu/gpu_probe.h behind the seam of probe.h. */
#include "gpu/gpu_probe.h"
#include "server/solver/probe.h"

#include <stdlib.h>

/* A smaller product tells of launches alone. */
#define SWEEP_N_MIN 512

struct probe_gpu {
    struct probe probe;
    struct gpu *gpu;
    struct sweep *sweep; /* the one that was begun last, or NULL */
};

static enum status facts(struct probe *probe, struct device_facts *ret_facts)
{
    return limit_probe_facts(((struct probe_gpu *)probe)->gpu, ret_facts);
}

static enum status limit(struct probe *probe, enum arithmetic arithmetic,
                         struct arithmetic_limit *ret_limit)
{
    return limit_probe_run(((struct probe_gpu *)probe)->gpu, arithmetic, ret_limit);
}

static enum status memory(struct probe *probe, struct memory_limit *ret_limit)
{
    return copy_probe_run(((struct probe_gpu *)probe)->gpu, ret_limit);
}

static enum status sweep_begin(struct probe *probe, uint32_t n, size_t *ret_count)
{
    struct probe_gpu *self = (struct probe_gpu *)probe;
    const uint32_t least = n > SWEEP_N_MIN ? n : SWEEP_N_MIN;
    const uint32_t whole = (least + SWEEP_MULTIPLE - 1) / SWEEP_MULTIPLE * SWEEP_MULTIPLE;
    struct gpu_device device;
    gpu_describe(self->gpu, &device);
    sweep_close(self->sweep);
    self->sweep = NULL;
    if (sweep_bytes(whole) > device.memory_free_bytes) {
        return STATUS_NO_DEVICE_MEMORY;
    }
    const enum status status = sweep_open(self->gpu, whole, &self->sweep);
    if (status == STATUS_OK) {
        *ret_count = sweep_form_count();
    }
    return status;
}

static enum status sweep_next(struct probe *probe, size_t index, struct product_figure *ret_figure)
{
    struct probe_gpu *self = (struct probe_gpu *)probe;
    const enum status status = sweep_check(self->sweep, index);
    return status == STATUS_OK ? sweep_measure(self->sweep, index, ret_figure) : status;
}

static void close_probe(struct probe *probe)
{
    struct probe_gpu *self = (struct probe_gpu *)probe;
    sweep_close(self->sweep);
    gpu_close(self->gpu);
    free(self);
}

static const struct probe_class probe_gpu_class = {
    .facts = facts,
    .limit = limit,
    .memory = memory,
    .sweep_begin = sweep_begin,
    .sweep_next = sweep_next,
    .close = close_probe,
};

enum status probe_gpu_open(const struct solver_device *device, struct probe **ret_probe)
{
    struct probe_gpu *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return STATUS_NO_MEMORY;
    }
    self->probe.class_ = &probe_gpu_class;
    const enum status status = gpu_open(device->index, &self->gpu);
    if (status != STATUS_OK) {
        free(self);
        return status;
    }
    *ret_probe = &self->probe;
    return STATUS_OK;
}
