#include "server/command/bench_document.h"

#include "proto/job_document.h"

#include <jansson.h>

#define SCHEMA "apsp-bench/1"

/* A figure; 0 is one that was not measured. */
static json_t *figure(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *device_json(const struct bench_report *report)
{
    const struct device_facts *facts = &report->facts;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I}", "solver",
                     report->device.solver, "name", report->device.name, "detail",
                     report->device.detail, "units", (json_int_t)facts->units, "memory_bytes",
                     (json_int_t)report->device.memory_bytes, "clock_hz", figure(facts->clock_hz),
                     "cache_bytes", (json_int_t)facts->cache_bytes, "cuda_driver",
                     (json_int_t)facts->driver, "cuda_runtime", (json_int_t)facts->runtime, "tile",
                     (json_int_t)report->tile, "depth", (json_int_t)report->depth);
}

static json_t *limits_json(const struct bench_report *report)
{
    json_t *limits = json_object();
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        const struct arithmetic_limit *limit = &report->limits[i];
        if (limit->relaxations_per_s > 0) {
            json_object_set_new(limits, bench_options_kind_name((enum arithmetic)i),
                                json_pack("{s:f, s:f, s:o}", "relaxations_per_s",
                                          limit->relaxations_per_s, "relaxations_per_s_unit",
                                          limit->relaxations_per_s_unit, "clock_hz",
                                          figure(limit->clock_hz)));
        }
    }
    return limits;
}

static json_t *memory_json(const struct memory_limit *memory)
{
    return json_pack("{s:o, s:o, s:o}", "copy_bytes_per_s", figure(memory->copy),
                     "upload_bytes_per_s", figure(memory->upload), "download_bytes_per_s",
                     figure(memory->download));
}

static json_t *row_json(const struct bench_report *report, const struct bench_row *row)
{
    json_t *object =
        json_pack("{s:I, s:s, s:s, s:b, s:I, s:I, s:I}", "n", (json_int_t)row->vertex_count, "kind",
                  bench_options_kind_name(row->arithmetic), "label",
                  bench_options_kind_label(row->arithmetic), "directed", row->directed, "graphs",
                  (json_int_t)row->graph_count, "edges", (json_int_t)row->edge_count, "runs",
                  (json_int_t)row->runs);
    json_t *figures = json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "compute_s", row->timings.compute_s,
        "fastest_s", row->fastest_s, "slowest_s", row->slowest_s, "fill_s", row->timings.fill_s,
        "h2d_s", row->timings.h2d_s, "d2h_s", row->timings.d2h_s, "relaxations_per_s",
        bench_report_rate(row), "limit_fraction", figure(bench_report_percent(report, row) / 100));
    json_object_update(object, figures);
    json_decref(figures);
    return object;
}

static json_t *skip_json(const struct bench_skip *skip)
{
    return json_pack("{s:I, s:s, s:b, s:s}", "n", (json_int_t)skip->vertex_count, "kind",
                     bench_options_kind_name(skip->arithmetic), "directed", skip->directed,
                     "reason", skip->reason);
}

static json_t *product_json(const struct bench_report *report, const struct product_figure *product)
{
    const struct product_form *form = &product->form;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:o}", "tile_rows",
                     (json_int_t)form->tile_rows, "tile_columns", (json_int_t)form->tile_columns,
                     "thread_rows", (json_int_t)form->thread_rows, "thread_columns",
                     (json_int_t)form->thread_columns, "slab", (json_int_t)form->slab, "depth",
                     (json_int_t)form->depth, "seconds", product->seconds, "relaxations_per_s",
                     bench_report_product_rate(product), "relaxations_per_byte",
                     bench_report_product_intensity(product), "limit_fraction",
                     figure(bench_report_product_percent(report, product) / 100));
}

/* An object with all lists; the lists stay empty when memory runs out, and the caller sees it. */
static json_t *report_json(const struct bench_report *report)
{
    char started[TIME_TEXT_SIZE];
    time_print(report->started_s, started);
    json_t *rows = json_array();
    json_t *skipped = json_array();
    json_t *products = json_array();
    int failed = 0;
    for (size_t i = 0; i < report->row_count; ++i) {
        failed |= json_array_append_new(rows, row_json(report, &report->rows[i]));
    }
    for (size_t i = 0; i < report->skip_count; ++i) {
        failed |= json_array_append_new(skipped, skip_json(&report->skips[i]));
    }
    for (size_t i = 0; i < report->product_count; ++i) {
        failed |= json_array_append_new(products, product_json(report, &report->products[i]));
    }
    json_t *document = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA, "version", APSPD_VERSION,
        "started", started, "device", device_json(report), "limits", limits_json(report), "memory",
        memory_json(&report->memory), "rows", rows, "skipped", skipped, "products", products);
    if (failed != 0) {
        json_decref(document);
        return NULL;
    }
    return document;
}

static int append(const char *bytes, size_t size, void *context)
{
    text_append(context, bytes, size);
    return 0;
}

enum status bench_document_print(const struct bench_report *report, struct text *text)
{
    json_t *document = report_json(report);
    if (document == NULL ||
        json_dump_callback(document, append, text, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0) {
        json_decref(document);
        return STATUS_NO_MEMORY;
    }
    json_decref(document);
    text_append_char(text, '\n');
    return text_status(text);
}
