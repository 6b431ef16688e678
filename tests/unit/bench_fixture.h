/* A made-up report: round figures of no device. */
#pragma once

#include "server/command/bench_report.h"

#include <stdio.h>
#include <stdlib.h>

#define BENCH_FIXTURE_PRODUCTS 12

static inline void bench_fixture_rows(struct bench_report *report)
{
    for (uint32_t i = 0; i < 6; ++i) {
        struct bench_row *row = &report->rows[report->row_count++];
        const double n = 1024u << (i / 2);
        const double percent = 20.0 * (i + 1) / 2;
        *row = (struct bench_row){
            .vertex_count = (uint32_t)n,
            .arithmetic = ARITHMETIC_I4,
            .directed = i % 2 == 0,
            .graph_count = 1,
            .edge_count = 16 * (uint64_t)n,
            .runs = 5,
            .timings = {.compute_s = n * n * n / (percent * 1e11)},
        };
        row->fastest_s = row->timings.compute_s / 2;
        row->slowest_s = row->timings.compute_s * 2;
    }
}

static inline void bench_fixture_products(struct bench_report *report)
{
    report->products = calloc(BENCH_FIXTURE_PRODUCTS, sizeof *report->products);
    report->product_count = report->products != NULL ? BENCH_FIXTURE_PRODUCTS : 0;
    for (uint32_t i = 0; i < report->product_count; ++i) {
        const uint32_t depth = 16u << (i % 6);
        struct product_figure *product = &report->products[i];
        product->form = (struct product_form){64, 64 + 64 * (i / 6), 8, 8, 16, depth};
        product->relaxations = 1e6 * depth;
        product->seconds = product->relaxations / (1e12 * (i + 1) / 2);
        product->bytes = 8e6;
    }
}

/* A GPU whose limit is 10 T for i4 and nothing for the others; the caller's to finish. */
static inline struct bench_report *bench_fixture_create(void)
{
    struct bench_report *report = calloc(1, sizeof *report);
    if (report == NULL) {
        return NULL;
    }
    snprintf(report->device.solver, sizeof report->device.solver, "gpu");
    snprintf(report->device.name, sizeof report->device.name, "Card <A&B>");
    report->tile = 64;
    report->depth = 128;
    report->facts = (struct device_facts){.driver = 13010, .runtime = 13000, .units = 100};
    report->limits[ARITHMETIC_I4] = (struct arithmetic_limit){1e13, 1e11, 1.5e9};
    report->memory = (struct memory_limit){2e12, 5e10, 4e10};
    bench_fixture_rows(report);
    bench_fixture_products(report);
    report->skips[report->skip_count++] =
        (struct bench_skip){40000, ARITHMETIC_F8, false, "needs more"};
    return report;
}

static inline void bench_fixture_destroy(struct bench_report *report)
{
    bench_report_finish(report);
    free(report);
}
