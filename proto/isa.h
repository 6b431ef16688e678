/* The instruction sets that inner loops are compiled for beside the portable one. */
#pragma once

enum isa { ISA_PORTABLE, ISA_AVX2, ISA_AVX512, ISA_COUNT };

/* The best one that this processor has. */
enum isa isa_best(void);
