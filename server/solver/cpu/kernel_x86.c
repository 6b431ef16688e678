/* Which kernels an x86 processor can run, asked of the processor itself. */
#include "server/solver/cpu/kernel.h"

const struct cpu_kernel *cpu_kernel_usable(uint32_t index)
{
    const struct cpu_kernel *usable[3];
    uint32_t count = 0;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
        usable[count++] = &cpu_kernel_avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        usable[count++] = &cpu_kernel_avx2;
    }
    usable[count++] = &cpu_kernel_portable;
    return index < count ? usable[index] : NULL;
}
