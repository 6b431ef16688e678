#include "proto/isa.h"

enum isa isa_best(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
        return ISA_AVX512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return ISA_AVX2;
    }
#endif
    return ISA_PORTABLE;
}
