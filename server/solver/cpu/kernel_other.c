/* Where no kernel is written for the processor's own vectors: what the compiler makes of them. */
#include "server/solver/cpu/kernel.h"

const struct cpu_kernel *cpu_kernel_usable(uint32_t index)
{
    return index == 0 ? &cpu_kernel_portable : NULL;
}
