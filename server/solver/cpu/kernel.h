/* The arithmetic of the CPU solver: one operations table per instruction set and arithmetic.
 *
 * All operations work on blocks of at most CPU_TILE x CPU_TILE elements of a row-major matrix. The
 * min-plus product reads packed copies of its operands, in the order of its inner loop and padded
 * with unreachable, so that the loop needs no special case at the borders. One source,
 * kernel_body.h, is compiled for each instruction set, and the kernel is chosen at run time. Any
 * thread.
 */
#pragma once

#include "proto/solve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Vertices per tile edge of the plans that the CPU solver executes. */
#define CPU_TILE 128
/* Alignment of packed operands and of scratch, in bytes: the widest vector. */
#define CPU_ALIGNMENT 64
/* Largest element of a packed operand in bytes: f8. 16-bit left elements are stored twice. */
#define CPU_PACKED_ELEMENT 8

/* A rectangle of a matrix, in place. */
struct cpu_block {
    void *elements; /* first element of the block */
    size_t stride;  /* elements from one row to the next */
    uint32_t rows;
    uint32_t columns;
};

struct cpu_operations {
    uint32_t element_bytes; /* bytes of an element of the matrix and of a packed right operand */
    uint32_t left_bytes;    /* bytes of an element of a packed left operand */
    /* Copies the block into packed (CPU_TILE * CPU_TILE elements, aligned), as the left operand of
     * multiply: its columns are the pivots. */
    void (*pack_left)(struct cpu_block block, void *packed);
    /* Packs the block as the right operand: its rows are the pivots. */
    void (*pack_right)(struct cpu_block block, void *packed);
    /* Packs the transposed block as the left operand: the block's rows are the pivots. */
    void (*pack_left_transposed)(struct cpu_block block, void *packed);
    /* Packs the transposed block as the right operand: the block's columns are the pivots. */
    void (*pack_right_transposed)(struct cpu_block block, void *packed);
    /* block = min(block, left (x) right) over depth >= 1 pivots. The entries of a fresh block are
     * not read: they count as unreachable. */
    void (*multiply)(const void *left, const void *right, uint32_t depth, struct cpu_block block,
                     bool fresh);
    /* Floyd-Warshall within a square block. Returns false, with the block undefined, if a diagonal
     * element is below 0 when its vertex becomes the pivot. left, right: scratch operands. */
    bool (*close)(struct cpu_block block, void *left, void *right);
};

struct cpu_kernel {
    const char *isa;          /* "portable", "avx2", "avx512" */
    double relaxations_per_s; /* rate of one thread on i4, assumed until the first measurement */
    /* Indexed by arithmetic; the integer operations require non-negative numbers. */
    const struct cpu_operations *of[ARITHMETIC_COUNT];
    const struct cpu_operations *i4_signed;
};

extern const struct cpu_kernel cpu_kernel_portable;
extern const struct cpu_kernel cpu_kernel_avx2;
extern const struct cpu_kernel cpu_kernel_avx512;

/* Returns the kernels that this processor can run, fastest first; NULL after the last kernel. */
const struct cpu_kernel *cpu_kernel_usable(uint32_t index);

/* Finds a kernel by the name of its instruction set; "auto" selects the fastest. Returns NULL if
 * the name is unknown or this machine cannot run the kernel. */
const struct cpu_kernel *cpu_kernel_find(const char *isa);

/* Returns a kernel's operations. negative: numbers may be below 0, which 16 bits do not support. */
const struct cpu_operations *cpu_kernel_operations(const struct cpu_kernel *kernel,
                                                   enum arithmetic arithmetic, bool negative);
