/* What apsp bench is asked to measure. A plain value. */
#pragma once

#include "proto/device_figures.h"
#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_SIZE_LIMIT 32
#define BENCH_VERTICES_MAX 1000000

struct bench_options {
    uint32_t sizes[BENCH_SIZE_LIMIT]; /* vertices, as asked */
    size_t size_count;
    bool kinds[ARITHMETIC_COUNT];
    bool kinds_given; /* else all */
    bool directed;
    bool undirected;
    uint32_t runs;       /* at most, of each solve, beside the warm-up */
    uint32_t sweep_size; /* vertices of the sweep's matrix; 0: no sweep */
    uint32_t batch;      /* small graphs that are solved at once; 0: none */
    bool batch_given;    /* else the solver's default */
};

/* A list of numbers and of ranges A..B: A, 2 A, 4 A and so on below B, then B. At most
 * BENCH_SIZE_LIMIT sizes of 1 to BENCH_VERTICES_MAX. STATUS_BAD_PARAMETER. */
MUST_CHECK enum status bench_options_sizes(const char *text, struct bench_options *options,
                                           struct problem *reterr);
/* A list of i4, u2 (i4 computed in 16 bits), f4 and f8. STATUS_BAD_PARAMETER. */
MUST_CHECK enum status bench_options_kinds(const char *text, struct bench_options *options,
                                           struct problem *reterr);

/* As in a list of kinds: "i4", "u2", "f4", "f8". */
const char *bench_options_kind_name(enum arithmetic arithmetic);
/* As in a table: "i4 (16-bit)" for u2. */
const char *bench_options_kind_label(enum arithmetic arithmetic);
