#include "server/clock.h"
#include "server/command/arguments.h"
#include "server/command/graph_input.h"
#include "server/command/interruption.h"
#include "server/command/matrix_output.h"
#include "server/command/progress_bar.h"
#include "server/command/solve_report.h"

#include <string.h>

enum { TO = GRAPH_INPUT_COUNT, KIND, VERIFY, JSON, QUIET };

static const struct command_argument arguments[] = {
    GRAPH_INPUT_ARGUMENTS,
    [TO] = {"to", "FORMAT",
            "Format of the matrix: npy, raw, nthu, json. Else OUT's ending decides, else npy."},
    [KIND] = {"kind", "KIND",
              "Numbers of the matrix: auto, i4, u2, f4, f8. auto takes i4 for integer weights, "
              "f4 for decimals."},
    [VERIFY] =
        {"verify", NULL,
         "Check the matrix by certificate before it counts, on the device where it can. The CPU "
         "checks all rows of up to 1024 vertices, else 1024 rows, spread evenly."},
    [JSON] = {"json", NULL, "Print one JSON object as the last line instead of the summary."},
    [QUIET] = {"quiet", NULL, "No progress bar and no summary."},
    {NULL, NULL, NULL},
};

struct solving {
    struct command_call *call;
    enum format format;
    struct graph *graph;
    struct solve_request request;
    struct solver *solver;
    struct solver *fallback; /* the CPU, when the solver is another */
    struct solve_outcome outcome;
    struct matrix_output output;
    struct progress_bar bar;
    double parse_s;
    double write_s;
};

static void show_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct solving *solving = context;
    double n = solving->graph->vertex_count;
    double fraction = rounds_total > 0 ? (double)rounds_done / rounds_total : 0;
    progress_bar_update(&solving->bar, fraction, n * n * n, "relaxations");
}

static bool has_ending(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strchr(slash != NULL ? slash : path, '.') != NULL;
}

static enum status parse_flags(struct solving *solving, struct problem *reterr)
{
    const struct command_call *call = solving->call;
    enum kind kind = KIND_AUTO;
    enum status status =
        arguments_format("to", call->values[TO], call->operands[1], true, &solving->format, reterr);
    if (status == STATUS_OK) {
        status = arguments_kind("kind", call->values[KIND], &kind, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (solving->format == FORMAT_NONE && has_ending(call->operands[1])) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "the ending of \"%.200s\" names no matrix format; name one with --to: "
                           "npy, raw, nthu, json",
                           call->operands[1]);
    }
    if (solving->format == FORMAT_NONE) {
        solving->format = FORMAT_NPY;
    }
    if (solving->format == FORMAT_NTHU && kind != KIND_AUTO && kind != KIND_I4) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "nthu holds 32-bit integers: kind i4 and no other");
    }
    solving->request.kind = solving->format == FORMAT_NTHU ? KIND_I4 : kind;
    solving->request.verify = call->values[VERIFY] != NULL;
    progress_bar_init(&solving->bar, call->values[QUIET] != NULL);
    return STATUS_OK;
}

static enum status read_graph(struct solving *solving, struct problem *reterr)
{
    struct command_call *call = solving->call;
    progress_bar_begin(&solving->bar, "reading");
    enum status status = graph_input_read(call, &solving->graph, &solving->parse_s, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    call->problem_path = call->operands[0];
    status =
        graph_choose_kind(solving->graph, solving->request.kind, &solving->request.kind, reterr);
    if (status == STATUS_WEIGHT_RANGE && solving->format == FORMAT_NTHU) {
        problem_hint(reterr, "nthu holds 32-bit integers: ask for npy, raw or json");
    }
    return status;
}

/* The CPU solver stands in for kinds that a device does not compute. */
static enum status open_solver(struct solving *solving, struct problem *reterr)
{
    const struct solver_config *config = &solving->call->config->solver;
    solving->call->problem_path = NULL;
    enum status status = solver_open(config, &solving->solver, reterr);
    if (status != STATUS_OK || solver_supports(solving->solver, solving->request.kind)) {
        return status;
    }
    return solver_cpu_open(config, &solving->fallback, reterr);
}

static enum status solve(struct solving *solving, struct problem *reterr)
{
    const struct observer observer = {solving, show_progress, interruption_cancels};
    const char *path = solving->call->operands[1];
    double began_s = clock_monotonic_s();
    progress_bar_begin(&solving->bar, "solving");
    enum status status =
        matrix_output_open(&solving->output, path, solving->format, solving->request.kind,
                           solving->graph->vertex_count, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    /* Some file systems clear what they allocate. */
    solving->write_s = clock_monotonic_s() - began_s;
    status = solve_graph(solving->solver, solving->fallback, solving->graph, &solving->request,
                         &observer, &solving->output.matrix, &solving->outcome, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    began_s = clock_monotonic_s();
    progress_bar_begin(&solving->bar, "writing");
    status = matrix_output_commit(&solving->output, solving->graph, reterr);
    solving->write_s += clock_monotonic_s() - began_s;
    return status;
}

static enum status run_phases(struct solving *solving, struct problem *reterr)
{
    enum status status = parse_flags(solving, reterr);
    if (status == STATUS_OK) {
        interruption_watch();
        status = read_graph(solving, reterr);
    }
    if (status == STATUS_OK) {
        status = open_solver(solving, reterr);
    }
    if (status == STATUS_OK) {
        status = solve(solving, reterr);
    }
    progress_bar_end(&solving->bar);
    return status;
}

/* A matrix on standard output leaves standard error for the report. */
static enum status print_report(struct solving *solving, double total_s,
                                const struct problem *problem)
{
    const struct command_call *call = solving->call;
    FILE *stream = strcmp(call->operands[1], "-") == 0 ? stderr : stdout;
    struct solve_report report = {
        .graph = solving->graph,
        .kind = solving->request.kind,
        .outcome = &solving->outcome,
        .parse_s = solving->parse_s,
        .write_s = solving->write_s,
        .total_s = total_s,
        .problem = problem,
    };
    if (call->values[JSON] != NULL) {
        return solve_report_print_json(&report, stream);
    }
    if (call->values[QUIET] == NULL && problem->status == STATUS_OK) {
        solve_report_print_text(&report, stream);
    }
    return STATUS_OK;
}

static void finish(struct solving *solving)
{
    matrix_output_finish(&solving->output);
    solve_outcome_finish(&solving->outcome);
    solver_close(solving->fallback);
    solver_close(solving->solver);
    graph_destroy(solving->graph);
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    struct solving solving = {.call = call};
    double began_s = clock_monotonic_s();
    enum status status = run_phases(&solving, reterr);
    reterr->status = status;
    enum status reported = print_report(&solving, clock_monotonic_s() - began_s, reterr);
    if (status == STATUS_OK && reported != STATUS_OK) {
        status = problem_set(reterr, reported, "cannot print the report");
    }
    finish(&solving);
    return status;
}

const struct command command_solve = {
    .name = "solve",
    .operand_names = {"IN", "OUT"},
    .summary =
        "Solves the graph in IN and writes the matrix of all distances to OUT. - is standard "
        "input or output; a matrix on standard output moves the summary to standard error.",
    .arguments = arguments,
    .run = run,
};
