/* What a device can do at most, as measured on it: the yardsticks that a benchmark holds solves
 * against. Plain values without owner. A figure that was not measured is 0. */
#pragma once

#include <stdint.h>

/* The arithmetic of a relaxation, add and minimum, by the type that it runs on. */
enum arithmetic {
    ARITHMETIC_I4 = 0, /* 32-bit integers */
    ARITHMETIC_NARROW, /* pairs of 16-bit integers */
    ARITHMETIC_F4,
    ARITHMETIC_F8,
    ARITHMETIC_COUNT
};

/* Relaxations out of registers, with no memory in the way: the best of several runs. */
struct arithmetic_limit {
    double relaxations_per_s;      /* of the whole device */
    double relaxations_per_s_unit; /* of one multiprocessor, or of one thread alone */
    double clock_hz;               /* of the units during that run */
};

/* Bytes per second. A copy within a memory counts what it reads and what it writes. */
struct memory_limit {
    double copy;
    double upload;   /* pinned host memory to device */
    double download; /* device to pinned host memory */
};

/* One form of the min-plus product C = min(C, A x B) of n x depth and depth x n operands. */
struct product_form {
    uint32_t tile_rows; /* elements of C per block of threads */
    uint32_t tile_columns;
    uint32_t thread_rows; /* elements of C per thread, in registers */
    uint32_t thread_columns;
    uint32_t slab;  /* pivots that shared memory takes at once */
    uint32_t depth; /* pivots in all */
};

struct product_figure {
    struct product_form form;
    double seconds;
    double relaxations; /* n * n * depth */
    double bytes;       /* the least that device memory moves: C read and written, A and B read */
};

struct device_facts {
    uint32_t driver;  /* the newest CUDA that the driver speaks: 1000 major + 10 minor */
    uint32_t runtime; /* the CUDA of this build, likewise */
    double clock_hz;  /* the highest, by specification */
    uint64_t cache_bytes;
    uint32_t units; /* multiprocessors, or threads */
};
