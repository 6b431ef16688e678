#include "server/command/arguments.h"
#include "server/command/bench_output.h"
#include "server/command/bench_run.h"
#include "server/command/bench_table.h"
#include "server/command/interruption.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES, KINDS, DIRECTED, UNDIRECTED, RUNS, BATCH, SWEEP, NO_SWEEP, OUT, JSON };

static const struct command_argument arguments[] = {
    [SIZES] = {"sizes", "LIST",
               "Numbers of vertices and ranges that double, such as 256..8192,10000. Default: "
               "256..16384,25000,32768,40000 on a GPU and 256..4096 on a processor. What does not "
               "fit is left out."},
    [KINDS] = {"kinds", "LIST", "Of i4, u2 (i4 computed in 16 bits), f4, f8. Default: all."},
    [DIRECTED] = {"directed", NULL, "Directed graphs only. Default: directed and undirected."},
    [UNDIRECTED] = {"undirected", NULL, "Undirected graphs only."},
    [RUNS] = {"runs", "R",
              "The median of up to R solves, after one that does not count. Long solves are "
              "repeated three times only. Default 5."},
    [BATCH] = {"batch", "COUNT",
               "Small graphs that are solved at once, beside the single solves; 0 is none. Default "
               "10000 on a GPU and 0 on a processor."},
    [SWEEP] = {"sweep-size", "N",
               "Vertices of the matrix that the sweep of tiles and depths runs on. Default 16384."},
    [NO_SWEEP] = {"no-sweep", NULL, "Limits and solves only."},
    [OUT] = {"out", "DIR",
             "Write bench.json, speed.svg, roofline.svg and, after a sweep, heat_map.svg there."},
    [JSON] = {"json", "FILE",
              "Write the JSON document there; - is standard output, and the figures then go to "
              "standard error."},
    {NULL, NULL, NULL},
};

#define SIZES_GPU "256..16384,25000,32768,40000"
#define SIZES_CPU "256..4096"
#define RUNS_DEFAULT 5
#define BATCH_GPU 10000
#define BATCH_LIMIT 1000000
#define RUNS_LIMIT 64
#define SWEEP_DEFAULT 16384
#define SWEEP_LIMIT 65536

static enum status parse_numbers(const struct command_call *call, struct bench_options *options,
                                 struct problem *reterr)
{
    uint64_t runs = RUNS_DEFAULT;
    uint64_t sweep_size = SWEEP_DEFAULT;
    uint64_t batch = 0;
    enum status status = arguments_number("runs", call->values[RUNS], 1, RUNS_LIMIT, &runs, reterr);
    if (status == STATUS_OK) {
        status = arguments_number("sweep-size", call->values[SWEEP], 1, SWEEP_LIMIT, &sweep_size,
                                  reterr);
    }
    if (status == STATUS_OK) {
        status = arguments_number("batch", call->values[BATCH], 0, BATCH_LIMIT, &batch, reterr);
    }
    options->runs = (uint32_t)runs;
    options->batch = (uint32_t)batch;
    options->batch_given = call->values[BATCH] != NULL;
    options->sweep_size = call->values[NO_SWEEP] == NULL ? (uint32_t)sweep_size : 0;
    return status;
}

static enum status parse(const struct command_call *call, struct bench_options *options,
                         struct problem *reterr)
{
    const bool one = (call->values[DIRECTED] == NULL) != (call->values[UNDIRECTED] == NULL);
    options->directed = !one || call->values[DIRECTED] != NULL;
    options->undirected = !one || call->values[UNDIRECTED] != NULL;
    enum status status = parse_numbers(call, options, reterr);
    if (status == STATUS_OK && call->values[SIZES] != NULL) {
        status = bench_options_sizes(call->values[SIZES], options, reterr);
    }
    if (status == STATUS_OK && call->values[KINDS] != NULL) {
        status = bench_options_kinds(call->values[KINDS], options, reterr);
    }
    return status;
}

static bool is_gpu(const struct solver *solver)
{
    return strcmp(solver->class_->name, "gpu") == 0;
}

/* What was not asked takes the defaults of the solver. */
static enum status complete(const struct solver *solver, struct bench_options *options,
                            struct problem *reterr)
{
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        options->kinds[i] = options->kinds[i] || !options->kinds_given;
    }
    if (!options->batch_given) {
        options->batch = is_gpu(solver) ? BATCH_GPU : 0;
    }
    return options->size_count > 0
               ? STATUS_OK
               : bench_options_sizes(is_gpu(solver) ? SIZES_GPU : SIZES_CPU, options, reterr);
}

static enum status write_outputs(const struct command_call *call, const struct bench_report *report,
                                 struct problem *reterr)
{
    enum status status = STATUS_OK;
    if (call->values[OUT] != NULL) {
        status = bench_output_folder(report, call->values[OUT], reterr);
    }
    if (status == STATUS_OK && call->values[JSON] != NULL) {
        status = bench_output_json(report, call->values[JSON], reterr);
    }
    return status;
}

/* What was measured before a failure is written all the same. */
static enum status measure(const struct command_call *call, struct solver *solver,
                           const struct bench_options *options, struct problem *reterr)
{
    const char *json = call->values[JSON];
    FILE *stream = json != NULL && strcmp(json, "-") == 0 ? stderr : stdout;
    struct bench_report *report = calloc(1, sizeof *report);
    if (report == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = bench_run(solver, options, stream, report, reterr);
    struct problem unwritten = {0};
    bench_table_print(report, stream);
    enum status written = STATUS_OK;
    if (status == STATUS_OK || report->row_count > 0 || report->product_count > 0) {
        written = write_outputs(call, report, &unwritten);
    }
    if (status == STATUS_OK && written != STATUS_OK) {
        *reterr = unwritten;
    }
    bench_report_finish(report);
    free(report);
    return status == STATUS_OK ? written : status;
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    struct bench_options options = {0};
    struct solver *solver = NULL;
    enum status status = parse(call, &options, reterr);
    if (status == STATUS_OK && call->values[OUT] != NULL) {
        status = bench_output_prepare(call->values[OUT], reterr);
    }
    if (status == STATUS_OK) {
        status = solver_open(&call->config->solver, &solver, reterr);
    }
    if (status == STATUS_OK) {
        status = complete(solver, &options, reterr);
    }
    if (status == STATUS_OK) {
        interruption_watch();
        status = measure(call, solver, &options, reterr);
    }
    solver_close(solver);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .operand_names = {NULL},
    .summary =
        "Measures this device: its limit out of registers, its memory, forms of the inner product "
        "on a GPU, and whole solves by size and kind; prints every figure and a table.",
    .arguments = arguments,
    .run = run,
};
