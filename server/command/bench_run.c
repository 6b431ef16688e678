#include "server/command/bench_run.h"

#include "proto/check.h"
#include "server/clock.h"
#include "server/command/bench_batch.h"
#include "server/command/bench_graph.h"
#include "server/command/bench_table.h"
#include "server/command/interruption.h"
#include "server/solver/host_memory.h"
#include "server/solver/planner.h"
#include "server/solver/probe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX 64
/* A long solve is not repeated beyond the least that has a median once this time is spent. */
#define RUNS_LEAST 3
#define RUNS_SECONDS 4.0
/* Vertices of each graph of a batch. */
#define BATCH_VERTICES 128
#define SEED 1
/* The part of the host's memory that a matrix may take. */
#define HOST_SHARE 0.75

struct bench {
    struct solver *solver;
    struct probe *probe;
    const struct bench_options *options;
    FILE *stream;
    struct bench_report *report;
    struct problem *reterr;
};

static enum status refuse(const struct bench *bench, enum status status, const char *what)
{
    return problem_set(bench->reterr, status, "%s failed: %s", what, status_info(status)->title);
}

/* Of the kinds that are asked for, and of i4, on which the sweep runs. */
static enum status measure_limits(struct bench *bench)
{
    struct bench_report *report = bench->report;
    enum status status = probe_facts(bench->probe, &report->facts);
    if (status == STATUS_OK) {
        bench_table_print_device(report, bench->stream);
    }
    for (int i = 0; i < ARITHMETIC_COUNT && status == STATUS_OK; ++i) {
        if (i != ARITHMETIC_I4 && !bench->options->kinds[i]) {
            continue;
        }
        status = probe_limit(bench->probe, (enum arithmetic)i, &report->limits[i]);
        if (status == STATUS_OK) {
            bench_table_print_limit(report, (enum arithmetic)i, bench->stream);
        }
    }
    if (status == STATUS_OK) {
        status = probe_memory(bench->probe, &report->memory);
    }
    if (status != STATUS_OK) {
        return refuse(bench, status, "probing the device");
    }
    bench_table_print_memory(report, bench->stream);
    return STATUS_OK;
}

/* One solve: what is asked, and what it works on. */
struct bench_case {
    uint32_t vertex_count;
    enum arithmetic arithmetic;
    bool directed;
    struct graph *graph;
    struct plan *plan;
    struct matrix matrix;
    struct bench_batch *batch; /* NULL: one graph */
    uint32_t graph_count;
    uint64_t edge_count; /* of one graph */
};

static enum kind matrix_kind(enum arithmetic arithmetic)
{
    switch (arithmetic) {
    case ARITHMETIC_F4:
        return KIND_F4;
    case ARITHMETIC_F8:
        return KIND_F8;
    case ARITHMETIC_I4:
    case ARITHMETIC_NARROW:
    case ARITHMETIC_COUNT:
        break;
    }
    return KIND_I4;
}

static struct solve_options options_of(const struct bench_case *asked)
{
    return (struct solve_options){
        .narrow = asked->arithmetic == ARITHMETIC_NARROW,
        .symmetric = !asked->directed,
    };
}

static void skip(struct bench *bench, const struct bench_case *asked, const char *what,
                 double needed_bytes, double had_bytes)
{
    struct bench_report *report = bench->report;
    struct bench_skip *noted = &report->skips[report->skip_count++];
    *noted = (struct bench_skip){asked->vertex_count, asked->arithmetic, asked->directed, ""};
    snprintf(noted->reason, sizeof(noted->reason), "needs %.2f GB of %s memory, %.2f GB are free",
             needed_bytes * 1e-9, what, had_bytes * 1e-9);
    bench_table_print_skip(noted, bench->stream);
}

static bool fits(struct bench *bench, const struct bench_case *asked, size_t matrix_bytes)
{
    struct solver_estimate estimate;
    struct solver_device device;
    const uint64_t edges = (uint64_t)asked->vertex_count * 16;
    solver_describe(bench->solver, &device);
    const struct solve_options options = options_of(asked);
    solver_estimate(bench->solver, asked->vertex_count, edges, asked->matrix.kind, &options,
                    &estimate);
    if (estimate.device_bytes > device.memory_free_bytes) {
        skip(bench, asked, "device", (double)estimate.device_bytes,
             (double)device.memory_free_bytes);
        return false;
    }
    const double host_bytes = (double)matrix_bytes + (double)estimate.host_bytes;
    const double most = HOST_SHARE * (double)host_memory_total();
    if (host_bytes > most) {
        skip(bench, asked, "host", host_bytes, most);
        return false;
    }
    return true;
}

static enum status prepare(struct bench *bench, struct bench_case *asked, size_t matrix_bytes)
{
    /* As a result file is mapped: from a page on, not where malloc's own words leave off. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    asked->matrix.elements = aligned_alloc(page, (matrix_bytes + page) / page * page);
    if (asked->matrix.elements == NULL) {
        return refuse(bench, STATUS_NO_MEMORY, "taking memory for the matrix");
    }
    const enum status status =
        bench_graph_make(asked->vertex_count, asked->directed, kind_is_float(asked->matrix.kind),
                         SEED, &asked->graph, bench->reterr);
    if (status != STATUS_OK) {
        return status;
    }
    asked->edge_count = asked->graph->edge_count;
    return planner_dense(asked->vertex_count, bench->report->tile, &asked->plan);
}

static void ignore_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static enum status solve_once(struct bench *bench, struct bench_case *asked,
                              struct timings *ret_timings)
{
    const struct solve_options options = options_of(asked);
    const struct observer observer = {NULL, ignore_progress, interruption_cancels};
    struct solve_account account = {0};
    const enum status status =
        asked->batch != NULL
            ? bench_batch_solve(asked->batch, bench->solver, &observer, &account.timings)
            : bench->solver->class_->solve(bench->solver, asked->graph, asked->plan, &options,
                                           &observer, &asked->matrix, &account);
    if (status == STATUS_CANCELLED || interruption_seen()) {
        return problem_set(bench->reterr, STATUS_CANCELLED, "interrupted");
    }
    if (status != STATUS_OK) {
        return refuse(bench, status, "a solve");
    }
    *ret_timings = account.timings;
    return STATUS_OK;
}

static int compare_compute(const void *a, const void *b)
{
    const double left = ((const struct timings *)a)->compute_s;
    const double right = ((const struct timings *)b)->compute_s;
    return (left > right) - (left < right);
}

static void add_row(struct bench *bench, const struct bench_case *asked, struct timings *runs,
                    uint32_t count)
{
    struct bench_report *report = bench->report;
    CHECK(report->row_count < BENCH_ROW_LIMIT);
    struct bench_row *row = &report->rows[report->row_count++];
    qsort(runs, count, sizeof(runs[0]), compare_compute);
    *row = (struct bench_row){
        .vertex_count = asked->vertex_count,
        .arithmetic = asked->arithmetic,
        .directed = asked->directed,
        .graph_count = asked->graph_count,
        .edge_count = asked->edge_count,
        .runs = count,
        .timings = runs[count / 2],
        .fastest_s = runs[0].compute_s,
        .slowest_s = runs[count - 1].compute_s,
    };
    bench_table_print_row(report, row, bench->stream);
}

/* The first run, which faults the pages of the matrix in and sets the clocks, does not count. */
static enum status time_case(struct bench *bench, struct bench_case *asked)
{
    struct timings runs[RUNS_MAX];
    uint32_t count = 0;
    double spent_s = 0;
    enum status status = solve_once(bench, asked, &runs[0]);
    while (status == STATUS_OK && count < bench->options->runs && count < RUNS_MAX &&
           (count < RUNS_LEAST || spent_s < RUNS_SECONDS)) {
        status = solve_once(bench, asked, &runs[count]);
        if (status == STATUS_OK) {
            spent_s += runs[count++].compute_s;
        }
    }
    if (status == STATUS_OK) {
        add_row(bench, asked, runs, count);
    }
    return status;
}

static enum status measure_case(struct bench *bench, struct bench_case *asked)
{
    size_t bytes = 0;
    enum status status = matrix_size(asked->vertex_count, asked->matrix.kind, &bytes);
    if (status != STATUS_OK) {
        return refuse(bench, status, "the size of the matrix");
    }
    if (!fits(bench, asked, bytes)) {
        return STATUS_OK;
    }
    status = prepare(bench, asked, bytes);
    if (status == STATUS_OK) {
        status = time_case(bench, asked);
    }
    plan_destroy(asked->plan);
    graph_destroy(asked->graph);
    free(asked->matrix.elements);
    return status;
}

static enum status measure_sizes(struct bench *bench, enum arithmetic arithmetic, bool directed)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < bench->options->size_count && status == STATUS_OK; ++i) {
        const uint32_t n = bench->options->sizes[i];
        struct bench_case asked = {
            .vertex_count = n,
            .arithmetic = arithmetic,
            .directed = directed,
            .graph_count = 1,
            .matrix = {.vertex_count = n, .kind = matrix_kind(arithmetic)},
        };
        status = measure_case(bench, &asked);
    }
    return status;
}

static enum status measure_solves(struct bench *bench)
{
    const struct bench_options *options = bench->options;
    enum status status = STATUS_OK;
    for (int i = 0; i < ARITHMETIC_COUNT && status == STATUS_OK; ++i) {
        const enum arithmetic arithmetic = (enum arithmetic)i;
        if (!options->kinds[arithmetic]) {
            continue;
        }
        if (options->directed) {
            status = measure_sizes(bench, arithmetic, true);
        }
        if (status == STATUS_OK && options->undirected) {
            status = measure_sizes(bench, arithmetic, false);
        }
    }
    return status;
}

static enum status measure_batch(struct bench *bench, enum arithmetic arithmetic)
{
    const struct bench_batch_shape shape = {
        .graph_count = bench->options->batch,
        .vertex_count = BATCH_VERTICES,
        .kind = matrix_kind(arithmetic),
        .directed = bench->options->directed,
    };
    struct bench_case asked = {
        .vertex_count = shape.vertex_count,
        .arithmetic = arithmetic,
        .directed = shape.directed,
        .matrix = {.vertex_count = shape.vertex_count, .kind = shape.kind},
        .graph_count = shape.graph_count,
    };
    if (!fits(bench, &asked, bench_batch_bytes(&shape))) {
        return STATUS_OK;
    }
    enum status status = bench_batch_create(&shape, &asked.batch, bench->reterr);
    if (status == STATUS_OK) {
        asked.edge_count = bench_batch_edges(asked.batch);
        status = time_case(bench, &asked);
    }
    bench_batch_destroy(asked.batch);
    return status;
}

/* In 16 bits nothing is solved in a batch. */
static enum status measure_batches(struct bench *bench)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < ARITHMETIC_COUNT && status == STATUS_OK; ++i) {
        const bool asked = bench->options->batch > 0 && bench->options->kinds[i];
        if (asked && i != ARITHMETIC_NARROW) {
            status = measure_batch(bench, (enum arithmetic)i);
        }
    }
    return status;
}

static enum status measure_products(struct bench *bench)
{
    struct bench_report *report = bench->report;
    size_t count = 0;
    enum status status = probe_sweep_begin(bench->probe, bench->options->sweep_size, &count);
    if (status != STATUS_OK) {
        return refuse(bench, status, "the sweep");
    }
    report->products = calloc(count + 1, sizeof(*report->products));
    if (report->products == NULL) {
        return refuse(bench, STATUS_NO_MEMORY, "the sweep");
    }
    for (size_t i = 0; i < count; ++i) {
        if (interruption_seen()) {
            return problem_set(bench->reterr, STATUS_CANCELLED, "interrupted");
        }
        status = probe_sweep_next(bench->probe, i, &report->products[i]);
        if (status != STATUS_OK) {
            return refuse(bench, status, "the sweep");
        }
        ++report->product_count;
        bench_table_print_product(report, &report->products[i], bench->stream);
    }
    return STATUS_OK;
}

/* The probe, and with it the sweep's memory, is given back before the solves need it. */
static enum status measure_device(struct bench *bench)
{
    enum status status = probe_open(bench->solver, &bench->probe);
    if (status != STATUS_OK) {
        return refuse(bench, status, "opening the device for probes");
    }
    status = measure_limits(bench);
    if (status == STATUS_OK && bench->options->sweep_size > 0) {
        status = measure_products(bench);
    }
    probe_close(bench->probe);
    return status;
}

enum status bench_run(struct solver *solver, const struct bench_options *options, FILE *stream,
                      struct bench_report *report, struct problem *reterr)
{
    struct bench bench = {
        .solver = solver,
        .options = options,
        .stream = stream,
        .report = report,
        .reterr = reterr,
    };
    report->started_s = clock_wall_s();
    report->tile = solver->class_->tile;
    report->depth = solver->class_->depth;
    solver_describe(solver, &report->device);
    enum status status = measure_device(&bench);
    if (status == STATUS_OK) {
        status = measure_solves(&bench);
    }
    return status == STATUS_OK ? measure_batches(&bench) : status;
}
