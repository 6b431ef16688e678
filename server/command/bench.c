#include "proto/number.h"
#include "proto/read/graph_builder.h"
#include "server/command/command.h"
#include "server/command/generator.h"
#include "server/solver/host_memory.h"
#include "server/solver/plan/planner.h"
#include "server/solver/solver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES, KINDS, DIRECTED, RUNS, JSON };

static const struct command_flag flags[] = {
    [SIZES] = {"sizes", "LIST",
               "Numbers of vertices, such as 256,1024,10000. Default: on a GPU, 25000,\n"
               "      40000 and powers of two up to 32768; on a CPU, powers of two up to 4096.\n"
               "      A size that does not fit in memory is skipped."},
    [KINDS] = {"kinds", "LIST",
               "Kinds to measure: i4, u2 (i4 computed in 16 bits), f4, f8. Default: all."},
    [DIRECTED] = {"directed", NULL, "Measure directed graphs. Default: directed and undirected."},
    [RUNS] = {"runs", "R",
              "Report the median of up to R solves after a warm-up. Long solves are\n"
              "      repeated only three times. Default: 5."},
    [JSON] = {"json", NULL,
              "Print one JSON object as the last line; the table goes to standard error."},
    {NULL, NULL, NULL},
};

#define SIZES_GPU "256,512,1024,2048,4096,8192,16384,25000,32768,40000"
#define SIZES_CPU "256,512,1024,2048,4096"
#define SIZE_COUNT_MAX 32
#define VERTICES_MAX 1000000
#define RUNS_MAX 64
/* Fewest timings of which a median is taken; after RUNS_SECONDS, no more than these are made. */
#define RUNS_LEAST 3
#define RUNS_SECONDS 4.0
/* Largest fraction of the host's memory that a matrix may occupy. */
#define HOST_SHARE 0.75

static const struct {
    const char *name; /* name of the arithmetic in --kinds */
    const char *label;
    enum kind kind; /* kind of the matrix */
} arithmetics[ARITHMETIC_COUNT] = {
    [ARITHMETIC_I4] = {"i4", "i4", KIND_I4},
    [ARITHMETIC_NARROW] = {"u2", "i4 (16-bit)", KIND_I4},
    [ARITHMETIC_F4] = {"f4", "f4", KIND_F4},
    [ARITHMETIC_F8] = {"f8", "f8", KIND_F8},
};

struct bench {
    uint32_t sizes[SIZE_COUNT_MAX];
    size_t size_count;
    bool kinds[ARITHMETIC_COUNT];
    uint32_t runs;
    struct solver *solver;
    struct solver_device device;
    double unit; /* divisor of printed rates: 1e12 per second on a GPU, 1e9 on a CPU */
    FILE *stream;
    json_t *rows;
    struct problem *reterr;
};

struct subject {
    enum arithmetic arithmetic;
    struct solve_options options;
    struct graph *graph;
    struct plan *plan;
    struct matrix matrix;
};

/* Largest weight and average degree of the graphs, so that all distances are far below 2^16. */
#define WEIGHT_MAX 1000
#define DEGREE 16

static enum status add_edge(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    return graph_builder_add(context, source, target, (double)weight, NULL);
}

/* Generates a random sparse graph, identical on every machine. The time of the dense plan does not
 * depend on the edges, and a complete graph would take too much memory. */
static enum status make_graph(uint32_t n, bool directed, struct graph **ret_graph,
                              struct problem *reterr)
{
    const struct graph_options options = {.has_vertex_count = true, .vertex_count = n};
    const struct generator_request request = {
        .shape = GENERATOR_GNP,
        .directed = directed,
        .vertex_count = n,
        .degree = DEGREE,
        .max_weight = WEIGHT_MAX,
        .seed = 1,
    };
    struct graph_builder builder = graph_builder_init(&options);
    struct vertex_names *names = NULL;
    const struct generator_sink sink = {&builder, add_edge};
    enum status status = generator_run(&request, &sink);
    STATUS_THEN(status, vertex_names_create_range(n, 0, &names));
    STATUS_THEN(status, graph_builder_finish(&builder, &names, NULL, directed, ret_graph, reterr));
    vertex_names_destroy(names);
    graph_builder_clear(&builder);
    return status;
}

static void print_head(const struct bench *bench)
{
    fprintf(bench->stream,
            "%s: %s, %s, %u units, %.1f GB\n\n"
            "| n | kind | edges | ms | %s/s | fill ms | h2d ms | d2h ms |\n"
            "|---:|---|---|---:|---:|---:|---:|---:|\n",
            bench->device.solver, bench->device.name, bench->device.detail, bench->device.units,
            (double)bench->device.memory_bytes * 1e-9, bench->unit > 1e9 ? "T" : "G");
}

static void print_subject(const struct bench *bench, const struct subject *subject)
{
    fprintf(bench->stream, "| %u | %s | %s | ", subject->matrix.vertex_count,
            arithmetics[subject->arithmetic].label,
            subject->options.symmetric ? "undirected" : "directed");
}

static int compare_compute(const void *a, const void *b)
{
    const double left = ((const struct timings *)a)->compute_s;
    const double right = ((const struct timings *)b)->compute_s;
    return (left > right) - (left < right);
}

/* Adds a row with the median time to the table. The rate counts n^3 relaxations for undirected
 * graphs too, although half of them suffice. */
static void add_row(struct bench *bench, const struct subject *subject, struct timings *runs,
                    uint32_t count)
{
    qsort(runs, count, sizeof(runs[0]), compare_compute);
    const struct timings *median = &runs[count / 2];
    const double n = subject->matrix.vertex_count;
    const double rate = median->compute_s > 0 ? n * n * n / median->compute_s : 0;
    print_subject(bench, subject);
    fprintf(bench->stream, "%.3f | %.2f | %.2f | %.2f | %.2f |\n", median->compute_s * 1e3,
            rate / bench->unit, median->fill_s * 1e3, median->h2d_s * 1e3, median->d2h_s * 1e3);
    json_array_append_new(bench->rows,
                          json_pack("{s:I,s:s,s:b,s:I,s:f,s:f,s:f,s:f,s:f,s:f}", "n",
                                    (json_int_t)subject->matrix.vertex_count, "kind",
                                    arithmetics[subject->arithmetic].name, "directed",
                                    !subject->options.symmetric, "runs", (json_int_t)count,
                                    "compute_s", median->compute_s, "fastest_s", runs[0].compute_s,
                                    "fill_s", median->fill_s, "h2d_s", median->h2d_s, "d2h_s",
                                    median->d2h_s, "relaxations_per_s", rate));
}

static enum status solve_subject(const struct bench *bench, struct subject *subject,
                                 struct solve_account *ret_account)
{
    const struct observer observer = {.cancelled = command_cancelled};
    memset(ret_account, 0, sizeof(*ret_account));
    const enum status status =
        bench->solver->class_->solve(bench->solver, subject->graph, subject->plan,
                                     &subject->options, &observer, &subject->matrix, ret_account);
    return command_interrupted() ? STATUS_CANCELLED : status;
}

/* Solves repeatedly. The first run is a warm-up: it faults in the pages of the matrix and raises
 * the clock rates. */
static enum status time_solves(struct bench *bench, struct subject *subject)
{
    struct timings runs[1 + RUNS_MAX];
    uint32_t count = 0;
    double spent_s = 0;
    struct solve_account account;
    while (count <= bench->runs && (count <= RUNS_LEAST || spent_s < RUNS_SECONDS)) {
        STATUS_TRY(solve_subject(bench, subject, &account));
        spent_s += count > 0 ? account.timings.compute_s : 0;
        runs[count++] = account.timings;
    }
    add_row(bench, subject, runs + 1, count - 1);
    return STATUS_OK;
}

/* Measures one row of the table: creates graph, dense plan and matrix, and times the solves. */
static enum status measure_subject(struct bench *bench, uint32_t n, enum arithmetic arithmetic,
                                   bool directed)
{
    struct subject subject = {
        .arithmetic = arithmetic,
        .options = {.narrow = arithmetic == ARITHMETIC_NARROW, .symmetric = !directed},
        .matrix = {.vertex_count = n, .kind = arithmetics[arithmetic].kind},
    };
    /* The matrix has whole pages, like a mapped result file. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (size_t)n * n * kind_size(subject.matrix.kind);
    if ((double)bytes > HOST_SHARE * (double)host_memory_total()) {
        print_subject(bench, &subject);
        fprintf(bench->stream, "skipped: needs %.2f GB of memory |\n", (double)bytes * 1e-9);
        return STATUS_OK;
    }
    enum status status = make_graph(n, directed, &subject.graph, bench->reterr);
    STATUS_THEN(status, planner_dense(n, bench->solver->class_->tile, &subject.plan));
    subject.matrix.elements = aligned_alloc(page, (bytes + page) / page * page);
    STATUS_THEN(status,
                subject.matrix.elements != NULL ? time_solves(bench, &subject) : STATUS_NO_MEMORY);
    if (status != STATUS_OK && status != STATUS_CANCELLED) {
        problem_set(bench->reterr, status, "a solve with %u vertices failed: %s", n,
                    status_info(status)->title);
    }
    free(subject.matrix.elements);
    plan_destroy(subject.plan);
    graph_destroy(subject.graph);
    return status;
}

/* Measures by kind, then direction, then size, so that comparable rows are adjacent. */
static enum status measure_all(struct bench *bench, bool directed_only)
{
    enum status status = STATUS_OK;
    print_head(bench);
    for (int i = 0; i < 2 * ARITHMETIC_COUNT; i++) {
        const enum arithmetic arithmetic = (enum arithmetic)(i / 2);
        const bool is_directed = i % 2 == 0;
        const bool asked = bench->kinds[arithmetic] && (is_directed || !directed_only);
        for (size_t j = 0; asked && j < bench->size_count && status == STATUS_OK; j++) {
            status = measure_subject(bench, bench->sizes[j], arithmetic, is_directed);
        }
    }
    return status;
}

static void parse_lists(struct command_call *call, const char *sizes, const char *kinds,
                        struct bench *bench)
{
    for (const char *at = sizes, *end; at != NULL; at = *end == ',' ? end + 1 : NULL) {
        int64_t value = 0;
        end = at + strcspn(at, ",");
        if (bench->size_count == SIZE_COUNT_MAX ||
            !number_parse_integer(at, (size_t)(end - at), &value) || value < 1 ||
            value > VERTICES_MAX) {
            command_refuse_value(call, SIZES, "a list of up to 32 numbers from 1 to 1000000");
            return;
        }
        bench->sizes[bench->size_count++] = (uint32_t)value;
    }
    for (const char *at = kinds, *end; at != NULL; at = *end == ',' ? end + 1 : NULL) {
        size_t i = 0;
        end = at + strcspn(at, ",");
        while (i < ARITHMETIC_COUNT && (end - at != 2 || memcmp(arithmetics[i].name, at, 2) != 0)) {
            i++;
        }
        if (i == ARITHMETIC_COUNT) {
            command_refuse_value(call, KINDS, "a comma-separated list of i4, u2, f4, f8");
            return;
        }
        bench->kinds[i] = true;
    }
}

static enum status run_bench(struct command_call *call, struct problem *reterr)
{
    struct bench bench = {.stream = call->values[JSON] != NULL ? stderr : stdout, .reterr = reterr};
    bench.runs = (uint32_t)command_number(call, RUNS, 1, RUNS_MAX, 5);
    parse_lists(call, call->values[SIZES],
                call->values[KINDS] != NULL ? call->values[KINDS] : "i4,u2,f4,f8", &bench);
    STATUS_TRY(call->status);
    STATUS_TRY(solver_open(&call->config->solver, NULL, &bench.solver, reterr));
    const bool is_gpu = strcmp(bench.solver->class_->name, "gpu") == 0;
    bench.solver->class_->describe(bench.solver, &bench.device);
    bench.unit = is_gpu ? 1e12 : 1e9;
    if (call->values[SIZES] == NULL) {
        parse_lists(call, is_gpu ? SIZES_GPU : SIZES_CPU, NULL, &bench);
    }
    bench.rows = json_array();
    command_watch_signals();
    enum status status = measure_all(&bench, call->values[DIRECTED] != NULL);
    if (call->values[JSON] != NULL && status == STATUS_OK) {
        status = command_print_json(
            json_pack("{s:s,s:{s:s,s:s,s:s,s:I},s:O}", "version", APSPD_VERSION, "device", "solver",
                      bench.device.solver, "name", bench.device.name, "detail", bench.device.detail,
                      "units", (json_int_t)bench.device.units, "rows", bench.rows),
            stdout, reterr);
    }
    json_decref(bench.rows);
    solver_close(bench.solver);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .operand_names = {NULL},
    .summary = "Measures the duration of complete solves by size and kind, and prints a table.",
    .flags = flags,
    .run = run_bench,
};
