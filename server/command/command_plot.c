#include "server/command/arguments.h"
#include "server/command/graph_input.h"
#include "server/command/interruption.h"
#include "server/command/matrix_input.h"
#include "server/command/matrix_picture.h"
#include "server/command/output_file.h"
#include "server/command/progress_bar.h"
#include "server/solver/cpu_pool.h"
#include "server/solver/row_statistics.h"
#include "server/solver/solve.h"

#include <stdlib.h>
#include <string.h>

enum { KIND = GRAPH_INPUT_COUNT, QUIET };

static const struct command_argument arguments[] = {
    GRAPH_INPUT_ARGUMENTS,
    [KIND] = {"kind", "KIND", "Numbers that a graph is solved in: auto, i4, u2, f4, f8."},
    [QUIET] = {"quiet", NULL, "No progress bar."},
    {NULL, NULL, NULL},
};

struct plotting {
    struct command_call *call;
    struct matrix_input input; /* a result that was there, */
    void *elements;            /* or the distances of a graph */
    struct matrix matrix;
    void *storage; /* of the statistics */
    struct statistics statistics;
    struct progress_bar bar;
    double vertex_count;
};

/* ---- A graph, solved here ---- */

static void show_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct plotting *plotting = context;
    const double n = plotting->vertex_count;
    const double fraction = rounds_total > 0 ? (double)rounds_done / rounds_total : 0;
    progress_bar_update(&plotting->bar, fraction, n * n * n, "relaxations");
}

static enum status take_memory(struct plotting *plotting, uint32_t vertex_count, enum kind kind,
                               struct problem *reterr)
{
    size_t size;
    plotting->vertex_count = vertex_count;
    if (matrix_size(vertex_count, kind, &size) == STATUS_OK) {
        plotting->elements = aligned_alloc(64, (size / 64 + 1) * 64);
    }
    if (plotting->elements == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "no memory for the distances of %u vertices",
                           vertex_count);
    }
    plotting->matrix = (struct matrix){vertex_count, kind, plotting->elements};
    return STATUS_OK;
}

/* The CPU solver stands in for kinds that a device does not compute. */
static enum status solve(struct plotting *plotting, const struct graph *graph,
                         struct problem *reterr)
{
    const struct solver_config *config = &plotting->call->config->solver;
    const struct observer observer = {plotting, show_progress, interruption_cancels};
    const struct solve_request request = {.kind = plotting->matrix.kind};
    struct solve_outcome outcome = {0};
    struct solver *solver = NULL;
    struct solver *fallback = NULL;
    enum status status = solver_open(config, &solver, reterr);
    if (status == STATUS_OK && !solver_supports(solver, request.kind)) {
        status = solver_cpu_open(config, &fallback, reterr);
    }
    if (status == STATUS_OK) {
        progress_bar_begin(&plotting->bar, "solving");
        status = solve_graph(solver, fallback, graph, &request, &observer, &plotting->matrix,
                             &outcome, reterr);
    }
    solve_outcome_finish(&outcome);
    solver_close(fallback);
    solver_close(solver);
    return status;
}

static enum status solve_input(struct plotting *plotting, struct problem *reterr)
{
    struct command_call *call = plotting->call;
    struct graph *graph = NULL;
    enum kind kind = KIND_AUTO;
    double parse_s;
    enum status status = arguments_kind("kind", call->values[KIND], &kind, reterr);
    if (status == STATUS_OK) {
        progress_bar_begin(&plotting->bar, "reading");
        status = graph_input_read(call, &graph, &parse_s, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    call->problem_path = call->operands[0];
    status = graph_choose_kind(graph, kind, &kind, reterr);
    call->problem_path = NULL;
    if (status == STATUS_OK) {
        status = take_memory(plotting, graph->vertex_count, kind, reterr);
    }
    if (status == STATUS_OK) {
        status = solve(plotting, graph, reterr);
    }
    graph_destroy(graph);
    return status;
}

/* ---- A result ---- */

/* An npy is the matrix of distances, unless it is said to be a graph. */
static enum status read_input(struct plotting *plotting, struct problem *reterr)
{
    struct command_call *call = plotting->call;
    enum format format = FORMAT_NONE;
    enum status status = arguments_format("from", NULL, call->operands[0], false, &format, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (format != FORMAT_NPY || call->values[GRAPH_INPUT_FROM] != NULL) {
        return solve_input(plotting, reterr);
    }
    call->problem_path = call->operands[0];
    status = matrix_input_open(&plotting->input, call->operands[0], format, KIND_AUTO,
                               MATRIX_INPUT_ANY, reterr);
    plotting->matrix = plotting->input.matrix;
    return status;
}

/* ---- The picture ---- */

static enum status reduce(struct plotting *plotting, struct problem *reterr)
{
    const struct matrix *matrix = &plotting->matrix;
    const uint32_t threads = plotting->call->config->solver.cpu_threads;
    struct cpu_pool *pool = NULL;
    plotting->storage = malloc(statistics_size(matrix->vertex_count));
    if (plotting->storage == NULL ||
        cpu_pool_create(threads > 0 ? threads : cpu_pool_cores(), &pool) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "no memory for the statistics");
    }
    plotting->statistics = statistics_init(plotting->storage, matrix->vertex_count, matrix->kind);
    row_statistics_run(pool, matrix, &plotting->statistics);
    cpu_pool_destroy(pool);
    return STATUS_OK;
}

static enum status write_picture(const struct plotting *plotting, struct problem *reterr)
{
    const char *operand = plotting->call->operands[0];
    const char *path = plotting->call->operands[1];
    const char *slash = strrchr(operand, '/');
    struct svg svg = {0};
    plotting->call->problem_path = path;
    enum status status = matrix_picture_draw(&plotting->matrix, &plotting->statistics,
                                             slash != NULL ? slash + 1 : operand, &svg);
    if (status != STATUS_OK) {
        problem_set(reterr, status, "There is not enough memory for the picture.");
    } else {
        status = output_file_save(path, svg.text.bytes, svg.text.size, reterr);
    }
    svg_finish(&svg);
    return status;
}

static enum status check_ending(const struct command_call *call, struct problem *reterr)
{
    const char *path = call->operands[1];
    const char *dot = strrchr(path, '.');
    if (strcmp(path, "-") == 0 || (dot != NULL && strcmp(dot, ".svg") == 0)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_PARAMETER, "\"%.200s\" does not end in .svg", path);
    problem_hint(reterr, "the picture is an SVG, which browsers show and print in any size");
    return STATUS_BAD_PARAMETER;
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    struct plotting plotting = {.call = call};
    enum status status = check_ending(call, reterr);
    progress_bar_init(&plotting.bar, call->values[QUIET] != NULL);
    interruption_watch();
    if (status == STATUS_OK) {
        status = read_input(&plotting, reterr);
    }
    progress_bar_end(&plotting.bar);
    if (status == STATUS_OK) {
        call->problem_path = NULL;
        status = reduce(&plotting, reterr);
    }
    if (status == STATUS_OK) {
        status = write_picture(&plotting, reterr);
    }
    free(plotting.storage);
    free(plotting.elements);
    matrix_input_close(&plotting.input);
    return status;
}

const struct command command_plot = {
    .name = "plot",
    .operand_names = {"IN", "OUT.svg"},
    .summary = "Draws the distances of IN: a heat map of the matrix, its figures and a histogram. "
               "IN is a result (.npy), or a graph, which is solved first; a graph in npy is one "
               "with --from npy. - is standard input or output.",
    .arguments = arguments,
    .run = run,
};
