/* The instruction sets that inner loops are compiled for, in addition to the portable one. */
#pragma once

/* The widest vectors of the instruction set that a file is compiled for. */
#ifdef __AVX512F__
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512, ISA_COUNT };

/* The widest instruction set that this processor supports. */
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
