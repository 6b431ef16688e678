/* The arithmetic of the CPU solver: one operations table per instruction set and arithmetic.
 *
 * All of it works on blocks of at most CPU_TILE x CPU_TILE elements of a row-major matrix. The
 * min-plus product reads packed copies of its operands, in the order in which its inner loop wants
 * them and padded with unreachable, so that this loop knows no edges. One source,
 * kernel_body.h, is compiled for each instruction set; which one runs is decided at run time.
 */
#pragma once

#include "proto/kind.h"
#include "proto/solve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Vertices per tile edge of the plans that the CPU solver executes. */
#define CPU_TILE 128
/* Alignment of packed operands and of scratch, in bytes: the widest vector. */
#define CPU_ALIGNMENT 64
/* Bytes per element of a packed operand, at most: 16-bit left operands are stored doubled. */
#define CPU_PACKED_ELEMENT 8
/* Bytes of a packed operand of any block and arithmetic. */
#define CPU_PACKED_BYTES ((size_t)CPU_TILE * CPU_TILE * CPU_PACKED_ELEMENT)

/* A rectangle of a matrix, in place. */
struct cpu_block {
    void *elements; /* its first element */
    size_t stride;  /* elements from one row to the next */
    uint32_t rows;
    uint32_t columns;
};

struct cpu_operations {
    uint32_t element_bytes; /* of the matrix and of a packed right operand */
    uint32_t left_bytes;    /* of an element of a packed left operand */
    /* Copies the block into packed (CPU_TILE * CPU_TILE elements, aligned), as the left operand of
     * multiply: its columns are the pivots. */
    void (*pack_left)(struct cpu_block block, void *packed);
    /* Packs the block as the right operand: its rows are the pivots. */
    void (*pack_right)(struct cpu_block block, void *packed);
    /* Packs the transposed block as the left operand: the block's rows are the pivots. */
    void (*pack_left_transposed)(struct cpu_block block, void *packed);
    /* Packs the transposed block as the right operand: the block's columns are the pivots. */
    void (*pack_right_transposed)(struct cpu_block block, void *packed);
    /* block = min(block, left (x) right) over depth >= 1 pivots. The entries of a fresh block count
     * as unreachable, whatever they are. */
    void (*multiply)(const void *left, const void *right, uint32_t depth, struct cpu_block block,
                     bool fresh);
    /* Floyd-Warshall within a square block. False, with the block undefined, when a diagonal
     * element is below 0 when its turn as pivot comes. left and right:
     * scratch for an operand each. */
    bool (*close)(struct cpu_block block, void *left, void *right);
};

struct cpu_kernel {
    const char *isa;                 /* "portable", "avx2", "avx512" */
    double relaxations_per_s;        /* of one thread on i4, assumed until one was measured */
    const struct cpu_operations *i4; /* of numbers from 0 on */
    const struct cpu_operations *i4_signed;
    const struct cpu_operations *narrow; /* int16_t, of numbers from 0 to NARROW_UNREACHABLE */
    const struct cpu_operations *f4;
    const struct cpu_operations *f8;
};

extern const struct cpu_kernel cpu_kernel_portable;
extern const struct cpu_kernel cpu_kernel_avx2;
extern const struct cpu_kernel cpu_kernel_avx512;

/* The kernels that this machine can run, best first, as the processor says; NULL after the last. */
const struct cpu_kernel *cpu_kernel_usable(uint32_t index);

/* "auto" is the best one; NULL when this machine cannot run the one named, or it is unknown. */
const struct cpu_kernel *cpu_kernel_find(const char *isa);

/* negative: of numbers below 0 too. */
const struct cpu_operations *cpu_kernel_operations(const struct cpu_kernel *kernel,
                                                   enum arithmetic arithmetic, bool negative);
