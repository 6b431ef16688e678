#include "server/solver/cpu/kernel.h"

#include "proto/isa.h"
#include "proto/status.h"

#include <string.h>

const struct cpu_kernel *cpu_kernel_usable(uint32_t index)
{
    const struct cpu_kernel *usable[3];
    uint32_t count = 0;
#if defined(__x86_64__) || defined(__i386__)
    if (isa_best() >= ISA_AVX512) {
        usable[count++] = &cpu_kernel_avx512;
    }
    if (isa_best() >= ISA_AVX2) {
        usable[count++] = &cpu_kernel_avx2;
    }
#endif
    /* The portable kernel runs on every processor, with vectors that the compiler generates. */
    usable[count++] = &cpu_kernel_portable;
    return index < count ? usable[index] : NULL;
}

const struct cpu_kernel *cpu_kernel_find(const char *isa)
{
    if (strcmp(isa, "auto") == 0) {
        return cpu_kernel_usable(0);
    }
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; index++) {
        if (strcmp(isa, cpu_kernel_usable(index)->isa) == 0) {
            return cpu_kernel_usable(index);
        }
    }
    return NULL;
}

const struct cpu_operations *cpu_kernel_operations(const struct cpu_kernel *kernel,
                                                   enum arithmetic arithmetic, bool negative)
{
    CHECK(!negative || arithmetic != ARITHMETIC_NARROW);
    return negative && arithmetic == ARITHMETIC_I4 ? kernel->i4_signed : kernel->of[arithmetic];
}
