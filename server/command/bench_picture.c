#include "server/command/bench_picture.h"

#include "server/command/chart.h"

#include <math.h>
#include <stdio.h>

#define NAME_SIZE 128

static int style_of(enum arithmetic arithmetic)
{
    return SVG_SERIES + (int)arithmetic;
}

static bool is_series(const struct bench_row *row, enum arithmetic arithmetic, bool directed)
{
    return row->arithmetic == arithmetic && row->directed == directed && row->graph_count == 1;
}

static size_t count_series(const struct bench_report *report, enum arithmetic arithmetic,
                           bool directed)
{
    size_t count = 0;
    for (size_t i = 0; i < report->row_count; ++i) {
        count += is_series(&report->rows[i], arithmetic, directed);
    }
    return count;
}

static bool is_used(const struct bench_report *report, enum arithmetic arithmetic)
{
    return count_series(report, arithmetic, true) + count_series(report, arithmetic, false) > 0;
}

/* The highest rate in the picture, of rows and of the limits that they have. */
static double highest_rate(const struct bench_report *report)
{
    double highest = 0;
    for (size_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        highest = fmax(highest, bench_report_rate(row));
        highest = fmax(highest, report->limits[row->arithmetic].relaxations_per_s);
    }
    return highest > 0 ? highest : bench_report_unit(report);
}

/* An axis of sizes that begins and ends half a step beyond them. */
static void make_size_axis(const struct bench_report *report, struct chart_axis *axis)
{
    double least = 0;
    double most = 0;
    for (size_t i = 0; i < report->row_count; ++i) {
        const double n = report->rows[i].vertex_count;
        if (report->rows[i].graph_count != 1) {
            continue;
        }
        least = least == 0 || n < least ? n : least;
        most = fmax(most, n);
    }
    axis->name = "vertices";
    axis->base = 2;
    axis->low = least > 0 ? least / M_SQRT2 : 1;
    axis->high = most > 0 ? most * M_SQRT2 : 2;
}

static void draw_limits(struct chart *chart, const struct bench_report *report)
{
    char name[NAME_SIZE];
    const double unit = bench_report_unit(report);
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        const enum arithmetic arithmetic = (enum arithmetic)i;
        const double rate = report->limits[i].relaxations_per_s;
        if (rate > 0 && is_used(report, arithmetic)) {
            snprintf(name, sizeof name, "limit %s, %.1f %s", bench_options_kind_label(arithmetic),
                     rate / unit, bench_report_unit_name(report));
            chart_level(chart, rate / unit, style_of(arithmetic), name);
        }
    }
}

static void draw_speed_point(struct chart *chart, const struct bench_report *report,
                             const struct bench_row *row, double x, double y)
{
    char tip[NAME_SIZE];
    snprintf(tip, sizeof tip, "n = %u, %s, %s: %.3f ms, %.2f %s, %.1f %% of the limit",
             row->vertex_count, bench_options_kind_label(row->arithmetic),
             row->directed ? "directed" : "undirected", row->timings.compute_s * 1e3,
             bench_report_rate(row) / bench_report_unit(report), bench_report_unit_name(report),
             bench_report_percent(report, row));
    svg_marker(&chart->svg, x, y, style_of(row->arithmetic), (int)row->arithmetic, !row->directed,
               tip);
}

/* The line first and the markers upon it. */
static void draw_series(struct chart *chart, const struct bench_report *report,
                        enum arithmetic arithmetic, bool directed)
{
    char name[NAME_SIZE];
    if (count_series(report, arithmetic, directed) == 0) {
        return;
    }
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 0) {
            svg_path_begin(&chart->svg, style_of(arithmetic), !directed);
        } else {
            svg_path_end(&chart->svg);
        }
        for (size_t i = 0; i < report->row_count; ++i) {
            const struct bench_row *row = &report->rows[i];
            if (!is_series(row, arithmetic, directed)) {
                continue;
            }
            const double x = chart_x(chart, row->vertex_count);
            const double y = chart_y(chart, bench_report_rate(row) / bench_report_unit(report));
            if (pass == 0) {
                svg_path_point(&chart->svg, x, y);
            } else {
                draw_speed_point(chart, report, row, x, y);
            }
        }
    }
    snprintf(name, sizeof name, "%s %s", bench_options_kind_label(arithmetic),
             directed ? "directed" : "undirected");
    chart_legend_marker(chart, style_of(arithmetic), (int)arithmetic, !directed, name);
}

enum status bench_picture_speed(const struct bench_report *report, struct svg *svg)
{
    char title[NAME_SIZE];
    char rate_name[NAME_SIZE];
    struct chart chart = {0};
    snprintf(title, sizeof title, "All shortest paths on %s: speed over size", report->device.name);
    snprintf(rate_name, sizeof rate_name, "relaxations per second, %s (n\u00b3 / time)",
             bench_report_unit_name(report));
    make_size_axis(report, &chart.x);
    chart.y = (struct chart_axis){rate_name, 0,
                                  1.08 * highest_rate(report) / bench_report_unit(report), 0};
    chart_begin(&chart, title,
                "Lines of measured solves for each kind of number, directed and undirected, over "
                "the number of vertices; dashed levels are the limits of the device.");
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        draw_series(&chart, report, (enum arithmetic)i, true);
        draw_series(&chart, report, (enum arithmetic)i, false);
    }
    draw_limits(&chart, report);
    chart_legend_note(&chart, "undirected: n\u00b3 counted,");
    chart_legend_note(&chart, "half of it is enough");
    *svg = chart.svg;
    return svg_end(svg);
}

/* Where memory stops being the limit, in relaxations per byte. */
static double ridge(const struct bench_report *report, double rate)
{
    return report->memory.copy > 0 ? rate / report->memory.copy : 1;
}

static void make_roofline_axes(const struct bench_report *report, struct chart *chart)
{
    double least = 0;
    double most = 0;
    double lowest = highest_rate(report);
    double highest = lowest;
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        const double rate = report->limits[i].relaxations_per_s;
        if (rate > 0) {
            const double intensity = ridge(report, rate);
            least = least == 0 || intensity < least ? intensity : least;
            most = fmax(most, fmax(intensity, bench_report_intensity(report, (enum arithmetic)i)));
            highest = fmax(highest, rate);
        }
    }
    for (size_t i = 0; i < report->row_count; ++i) {
        const double rate = bench_report_rate(&report->rows[i]);
        lowest = rate > 0 ? fmin(lowest, rate) : lowest;
    }
    for (size_t i = 0; i < report->product_count; ++i) {
        const struct product_figure *product = &report->products[i];
        most = fmax(most, bench_report_product_intensity(product));
        lowest = fmin(lowest, bench_report_product_rate(product));
    }
    const double unit = bench_report_unit(report);
    chart->x.low = least > 0 ? least / 4 : 0.25;
    chart->x.high = fmax(most, chart->x.low) * 2;
    chart->y.low = fmin(lowest, report->memory.copy * chart->x.low) / 1.5 / unit;
    chart->y.high = highest * 1.5 / unit;
    if (chart->y.low <= 0) {
        chart->y.low = chart->y.high / 1000;
    }
}

/* Along the memory's slope up to the ridge, then level. */
static void draw_roof(struct chart *chart, const struct bench_report *report,
                      enum arithmetic arithmetic)
{
    char name[NAME_SIZE];
    const double unit = bench_report_unit(report);
    const double rate = report->limits[arithmetic].relaxations_per_s;
    const double left = chart->x.low;
    if (rate == 0) {
        return;
    }
    svg_path_begin(&chart->svg, style_of(arithmetic), false);
    if (report->memory.copy > 0) {
        const double low = fmax(left, chart->y.low * unit / report->memory.copy);
        svg_path_point(&chart->svg, chart_x(chart, low),
                       chart_y(chart, report->memory.copy * low / unit));
    }
    svg_path_point(&chart->svg, chart_x(chart, fmax(left, ridge(report, rate))),
                   chart_y(chart, rate / unit));
    svg_path_point(&chart->svg, chart_x(chart, chart->x.high), chart_y(chart, rate / unit));
    svg_path_end(&chart->svg);
    snprintf(name, sizeof name, "%s: %.1f %s", bench_options_kind_label(arithmetic), rate / unit,
             bench_report_unit_name(report));
    chart_legend_line(chart, style_of(arithmetic), false, name);
}

static void draw_products(struct chart *chart, const struct bench_report *report)
{
    char tip[NAME_SIZE];
    for (size_t i = 0; i < report->product_count; ++i) {
        const struct product_figure *product = &report->products[i];
        const double rate = bench_report_product_rate(product) / bench_report_unit(report);
        snprintf(tip, sizeof tip, "product, tile %u x %u, depth %u: %.2f %s",
                 product->form.tile_rows, product->form.tile_columns, product->form.depth, rate,
                 bench_report_unit_name(report));
        svg_marker(&chart->svg, chart_x(chart, bench_report_product_intensity(product)),
                   chart_y(chart, rate), SVG_SERIES + SVG_SERIES_COUNT - 1, 0, true, tip);
    }
    if (report->product_count > 0) {
        chart_legend_marker(chart, SVG_SERIES + SVG_SERIES_COUNT - 1, 0, true,
                            "products of the sweep");
    }
}

static void draw_solves(struct chart *chart, const struct bench_report *report)
{
    bool named[ARITHMETIC_COUNT] = {false};
    char name[NAME_SIZE];
    for (size_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        const double rate = bench_report_rate(row) / bench_report_unit(report);
        if (!is_series(row, row->arithmetic, true) || rate <= 0) {
            continue;
        }
        const double intensity = bench_report_intensity(report, row->arithmetic);
        draw_speed_point(chart, report, row, chart_x(chart, intensity), chart_y(chart, rate));
        if (!named[row->arithmetic]) {
            named[row->arithmetic] = true;
            snprintf(name, sizeof name, "solves, %s", bench_options_kind_label(row->arithmetic));
            chart_legend_marker(chart, style_of(row->arithmetic), (int)row->arithmetic, false,
                                name);
        }
    }
}

enum status bench_picture_roofline(const struct bench_report *report, struct svg *svg)
{
    char title[NAME_SIZE];
    char words[NAME_SIZE];
    char rate_name[NAME_SIZE];
    struct chart chart = {0};
    snprintf(title, sizeof title, "All shortest paths on %s: roofline", report->device.name);
    snprintf(rate_name, sizeof rate_name, "relaxations per second, %s",
             bench_report_unit_name(report));
    chart.x = (struct chart_axis){"relaxations per byte of memory traffic", 0, 0, 2};
    chart.y = (struct chart_axis){rate_name, 0, 0, 10};
    make_roofline_axes(report, &chart);
    chart_begin(&chart, title,
                "Measured solves and products by their relaxations per byte and per second, under "
                "roofs: the slope is what memory allows, the levels are what arithmetic allows.");
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        draw_roof(&chart, report, (enum arithmetic)i);
    }
    draw_products(&chart, report);
    draw_solves(&chart, report);
    snprintf(words, sizeof words, "slope: memory, %.0f GB/s", report->memory.copy * 1e-9);
    chart_legend_note(&chart, words);
    *svg = chart.svg;
    return svg_end(svg);
}
