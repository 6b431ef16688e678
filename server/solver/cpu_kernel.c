#include "server/solver/cpu_kernel.h"

#include <string.h>

const struct cpu_kernel *cpu_kernel_find(const char *isa)
{
    if (strcmp(isa, "auto") == 0) {
        return cpu_kernel_usable(0);
    }
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        if (strcmp(isa, cpu_kernel_usable(index)->isa) == 0) {
            return cpu_kernel_usable(index);
        }
    }
    return NULL;
}

const struct cpu_operations *cpu_kernel_operations(const struct cpu_kernel *kernel, enum kind kind)
{
    switch (kind) {
    case KIND_I4:
        return &kernel->operations_i4;
    case KIND_F4:
        return &kernel->operations_f4;
    case KIND_F8:
        return &kernel->operations_f8;
    case KIND_AUTO:
    case KIND_U2:
    case KIND_COUNT:
        break;
    }
    return NULL;
}
