#include "server/command/bench_report.h"

#include <stdlib.h>
#include <string.h>

void bench_report_finish(struct bench_report *report)
{
    free(report->products);
    report->products = NULL;
    report->product_count = 0;
}

static bool is_gpu(const struct bench_report *report)
{
    return strcmp(report->device.solver, "gpu") == 0;
}

double bench_report_unit(const struct bench_report *report)
{
    return is_gpu(report) ? 1e12 : 1e9;
}

const char *bench_report_unit_name(const struct bench_report *report)
{
    return is_gpu(report) ? "T" : "G";
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

double bench_report_rate(const struct bench_row *row)
{
    const double n = row->vertex_count;
    return ratio(n * n * n * row->graph_count, row->timings.compute_s);
}

double bench_report_percent(const struct bench_report *report, const struct bench_row *row)
{
    return 100 * ratio(bench_report_rate(row), report->limits[row->arithmetic].relaxations_per_s);
}

double bench_report_product_rate(const struct product_figure *product)
{
    return ratio(product->relaxations, product->seconds);
}

double bench_report_product_percent(const struct bench_report *report,
                                    const struct product_figure *product)
{
    return 100 * ratio(bench_report_product_rate(product),
                       report->limits[ARITHMETIC_I4].relaxations_per_s);
}

double bench_report_intensity(const struct bench_report *report, enum arithmetic arithmetic)
{
    static const double element_bytes[ARITHMETIC_COUNT] = {
        [ARITHMETIC_I4] = 4,
        [ARITHMETIC_NARROW] = 2,
        [ARITHMETIC_F4] = 4,
        [ARITHMETIC_F8] = 8,
    };
    return report->depth / (2 * element_bytes[arithmetic]);
}

double bench_report_product_intensity(const struct product_figure *product)
{
    return ratio(product->relaxations, product->bytes);
}
