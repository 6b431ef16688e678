/* What apsp bench has measured, and the figures that follow from it. Filled by bench_run.c on one
 * thread; read by what prints, writes and draws. */
#pragma once

#include "proto/observer.h"
#include "server/command/bench_options.h"
#include "server/solver/solver.h"

/* Single solves in both directions, and a batch of each kind. */
#define BENCH_ROW_LIMIT ((BENCH_SIZE_LIMIT * 2 + 1) * ARITHMETIC_COUNT)
#define BENCH_REASON_SIZE 128

/* One solve, the median of its runs. */
struct bench_row {
    uint32_t vertex_count;
    enum arithmetic arithmetic;
    bool directed;
    uint32_t graph_count; /* solved at once; of vertex_count vertices each */
    uint64_t edge_count;  /* of one graph */
    uint32_t runs;
    struct timings timings; /* of the run whose compute time is the median */
    double fastest_s;       /* compute time */
    double slowest_s;
};

/* A solve that was asked for and does not fit. */
struct bench_skip {
    uint32_t vertex_count;
    enum arithmetic arithmetic;
    bool directed;
    char reason[BENCH_REASON_SIZE];
};

struct bench_report {
    double started_s; /* wall clock */
    struct solver_device device;
    struct device_facts facts;
    uint32_t tile;  /* width of the solver's pivot blocks */
    uint32_t depth; /* pivots that a pass over a large matrix applies */
    struct arithmetic_limit limits[ARITHMETIC_COUNT];
    struct memory_limit memory;
    struct bench_row rows[BENCH_ROW_LIMIT];
    size_t row_count;
    struct bench_skip skips[BENCH_ROW_LIMIT];
    size_t skip_count;
    struct product_figure *products; /* owned */
    size_t product_count;
};

void bench_report_finish(struct bench_report *report);

/* "T", 1e12, for a GPU; "G", 1e9, for a processor: what rates are told in. */
double bench_report_unit(const struct bench_report *report);
const char *bench_report_unit_name(const struct bench_report *report);

/* Relaxations per second: n^3 per graph. An undirected graph counts as n^3 too, though half of them
 * are enough: its rate is the effective one. 0 without a time. */
double bench_report_rate(const struct bench_row *row);
/* Of the limit of its arithmetic; 0 where that was not measured. */
double bench_report_percent(const struct bench_report *report, const struct bench_row *row);
double bench_report_product_rate(const struct product_figure *product);
double bench_report_product_percent(const struct bench_report *report,
                                    const struct product_figure *product);
/* Relaxations per byte of memory traffic of a large solve, of which every pass reads and writes the
 * whole matrix once: the depth over twice the size of an element. */
double bench_report_intensity(const struct bench_report *report, enum arithmetic arithmetic);
double bench_report_product_intensity(const struct product_figure *product);
