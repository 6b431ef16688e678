#include "server/command/bench_table.h"

#define GB 1e9
#define MHZ 1e6
#define MS 1e-3

void bench_table_print_device(const struct bench_report *report, FILE *stream)
{
    const struct device_facts *facts = &report->facts;
    fprintf(stream, "%s: %s, %s, %u units, %.1f GB", report->device.solver, report->device.name,
            report->device.detail, facts->units, (double)report->device.memory_bytes / GB);
    if (facts->clock_hz > 0) {
        fprintf(stream, ", up to %.0f MHz", facts->clock_hz / MHZ);
    }
    if (facts->driver > 0) {
        fprintf(stream, ", driver CUDA %u.%u, built with CUDA %u.%u", facts->driver / 1000,
                facts->driver % 1000 / 10, facts->runtime / 1000, facts->runtime % 1000 / 10);
    }
    fputc('\n', stream);
    fflush(stream);
}

void bench_table_print_limit(const struct bench_report *report, enum arithmetic arithmetic,
                             FILE *stream)
{
    const struct arithmetic_limit *limit = &report->limits[arithmetic];
    if (limit->relaxations_per_s == 0) {
        return;
    }
    fprintf(stream, "limit %s: %.2f %s", bench_options_kind_label(arithmetic),
            limit->relaxations_per_s / bench_report_unit(report), bench_report_unit_name(report));
    if (limit->clock_hz > 0) {
        fprintf(stream, ", %.1f per clock and multiprocessor at %.0f MHz",
                limit->relaxations_per_s_unit / limit->clock_hz, limit->clock_hz / MHZ);
    } else {
        fprintf(stream, ", %.2f on one thread alone",
                limit->relaxations_per_s_unit / bench_report_unit(report));
    }
    fputc('\n', stream);
    fflush(stream);
}

void bench_table_print_memory(const struct bench_report *report, FILE *stream)
{
    const struct memory_limit *memory = &report->memory;
    fprintf(stream, "memory: copy %.1f GB/s read and written", memory->copy / GB);
    if (memory->upload > 0) {
        fprintf(stream, ", to device %.1f GB/s, from device %.1f GB/s", memory->upload / GB,
                memory->download / GB);
    }
    fputc('\n', stream);
    fflush(stream);
}

static const char *direction_name(bool directed)
{
    return directed ? "directed" : "undirected";
}

void bench_table_print_row(const struct bench_report *report, const struct bench_row *row,
                           FILE *stream)
{
    fprintf(stream, "solve n=%u %s %s: %.3f ms, %.2f %s, %.1f %% of the limit", row->vertex_count,
            bench_options_kind_label(row->arithmetic), direction_name(row->directed),
            row->timings.compute_s / MS, bench_report_rate(row) / bench_report_unit(report),
            bench_report_unit_name(report), bench_report_percent(report, row));
    if (row->graph_count > 1) {
        fprintf(stream, ", %u graphs", row->graph_count);
    }
    fprintf(stream, ", fill %.2f ms, h2d %.2f ms, d2h %.2f ms, %u runs\n", row->timings.fill_s / MS,
            row->timings.h2d_s / MS, row->timings.d2h_s / MS, row->runs);
    fflush(stream);
}

void bench_table_print_skip(const struct bench_skip *skip, FILE *stream)
{
    fprintf(stream, "solve n=%u %s %s: left out, %s\n", skip->vertex_count,
            bench_options_kind_label(skip->arithmetic), direction_name(skip->directed),
            skip->reason);
    fflush(stream);
}

void bench_table_print_product(const struct bench_report *report,
                               const struct product_figure *product, FILE *stream)
{
    const struct product_form *form = &product->form;
    fprintf(stream,
            "product tile=%ux%u depth=%u: thread %ux%u, slab %u: %.3f ms, %.2f %s, %.1f %% of the "
            "limit\n",
            form->tile_rows, form->tile_columns, form->depth, form->thread_rows,
            form->thread_columns, form->slab, product->seconds / MS,
            bench_report_product_rate(product) / bench_report_unit(report),
            bench_report_unit_name(report), bench_report_product_percent(report, product));
    fflush(stream);
}

void bench_table_print(const struct bench_report *report, FILE *stream)
{
    if (report->row_count == 0) {
        return;
    }
    fprintf(stream, "\n| n | kind | edges | ms | %s | %% of limit | fill ms | h2d ms | d2h ms |\n",
            bench_report_unit_name(report));
    fputs("|---:|---|---|---:|---:|---:|---:|---:|---:|\n", stream);
    for (size_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        fprintf(stream, "| ");
        if (row->graph_count > 1) {
            fprintf(stream, "%u x ", row->graph_count);
        }
        fprintf(stream, "%u | %s | %s | %.3f | %.2f | %.1f | %.2f | %.2f | %.2f |\n",
                row->vertex_count, bench_options_kind_label(row->arithmetic),
                direction_name(row->directed), row->timings.compute_s / MS,
                bench_report_rate(row) / bench_report_unit(report),
                bench_report_percent(report, row), row->timings.fill_s / MS,
                row->timings.h2d_s / MS, row->timings.d2h_s / MS);
    }
    fflush(stream);
}
