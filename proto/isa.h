/* The instruction sets that inner loops are compiled for, in addition to the portable one. */
#pragma once

/* Size of the widest vectors of the instruction set for which the including file is compiled. */
#ifdef __AVX512F__
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512, ISA_COUNT };

/* Returns the instruction set with the widest vectors that this processor supports. */
static inline enum isa isa_best(void)
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
