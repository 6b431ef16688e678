#include "server/solver/solve.h"
#include "proto/job_document.h"
#include "server/clock.h"
#include "server/command/graph_input.h"
#include "server/command/output.h"
#include "server/solver/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TO = GRAPH_INPUT_COUNT, KIND, VERIFY, JSON, QUIET };

static const struct command_flag flags[] = {
    GRAPH_INPUT_FLAGS,
    [TO] = {"to", "FORMAT",
            "Format of the matrix: " COMMAND_MATRIX_FORMATS ".\n"
            "      Default: by OUT's extension, else npy."},
    [KIND] = {"kind", "KIND",
              "Kind of the distances: auto, i4, u2, f4, f8. auto selects i4 for integer\n"
              "      weights and f8 for decimals."},
    [VERIFY] = {"verify", NULL,
                "Verify the matrix against the graph: all rows up to 1024 vertices, else\n"
                "      1024 evenly spaced rows."},
    [JSON] = {"json", NULL, "Print one JSON object as the last line instead of the summary."},
    [QUIET] = {"quiet", NULL, "Print no progress bar and no summary."},
    {NULL, NULL, NULL},
};

#define REDRAW_S 0.1

struct progress_bar {
    bool shown; /* standard error is a terminal, and --quiet is not set */
    double drawn_s;
    struct progress progress;
};

struct solving {
    struct command_call *call;
    enum format format;
    struct graph *graph; /* NULL until the graph is read */
    struct solve_request request;
    struct solver *solver;
    struct solve_outcome outcome;
    struct output_matrix output;
    struct progress_bar bar;
    double parse_s;
    double write_s;
};

/* Starts a phase: shows its name until there is progress to show. */
static void show_phase(const struct progress_bar *bar, const char *phase)
{
    if (bar->shown) {
        fprintf(stderr, WIPE_LINE "%s", phase);
        fflush(stderr);
    }
}

static void expect_phases(void *context, const double seconds[PHASE_COUNT])
{
    struct solving *solving = context;
    progress_expect(&solving->bar.progress, seconds, clock_monotonic_s());
}

/* Redraws the bar at most every REDRAW_S seconds: the terminal may be slower than the solver. */
static void show_progress(void *context, enum solve_phase phase, double share)
{
    struct solving *solving = context;
    struct progress_bar *bar = &solving->bar;
    const double now_s = clock_monotonic_s();
    progress_tell(&bar->progress, phase, share, now_s);
    if (!bar->shown || now_s - bar->drawn_s < REDRAW_S) {
        return;
    }
    bar->drawn_s = now_s;
    command_draw_progress(job_phase_name(phase), progress_share(&bar->progress, now_s),
                          progress_left_s(&bar->progress, now_s));
}

static enum status parse_flags(struct solving *solving, struct problem *reterr)
{
    struct command_call *call = solving->call;
    const enum kind kind = command_kind(call, KIND);
    STATUS_TRY(command_output_format(call, TO, call->operands[1], &solving->format, reterr));
    if (solving->format == FORMAT_NTHU && kind != KIND_AUTO && kind != KIND_I4) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "nthu holds 32-bit integers, so the kind must be i4");
    }
    solving->request.kind = solving->format == FORMAT_NTHU ? KIND_I4 : kind;
    solving->request.verify = call->values[VERIFY] != NULL;
    solving->bar.shown = call->values[QUIET] == NULL && command_shows_progress();
    return STATUS_OK;
}

/* Reads the graph and chooses the kind, which may depend on its weights. */
static enum status read_graph(struct solving *solving, struct problem *reterr)
{
    struct command_call *call = solving->call;
    struct solve_request *request = &solving->request;
    const struct ranks *ranks = call->ranks;
    enum status status = STATUS_OK;
    show_phase(&solving->bar, "reading");
    if (ranks_is_first(ranks)) {
        const double began_s = clock_monotonic_s();
        status = graph_input_read(call, &solving->graph, reterr);
        solving->parse_s = clock_monotonic_s() - began_s;
    }
    if (ranks != NULL) {
        status = ranks_share_graph(ranks, status, &solving->graph);
    }
    STATUS_TRY(status);
    status = graph_choose_kind(solving->graph, request->kind, &request->kind, reterr);
    if (status == STATUS_WEIGHT_RANGE && solving->format == FORMAT_NTHU) {
        problem_hint(reterr, "nthu holds 32-bit integers; choose npy, raw or json");
    }
    call->problem_path = status != STATUS_OK ? call->operands[0] : NULL;
    return status;
}

static enum status open_solver(struct solving *solving, struct problem *reterr)
{
    struct solver_config config = solving->call->config->solver;
    const struct ranks *ranks = solving->call->ranks;
    if (ranks != NULL && config.cpu_threads == 0) {
        config.cpu_threads = ranks->threads;
    }
    return solver_open(&config, ranks, &solving->solver, reterr);
}

/* Opens the output before the solve, which then writes into the mapped file. So an unwritable path
 * or a full disk is reported at once, not after hours. */
static enum status execute_plan(struct solving *solving, struct problem *reterr)
{
    const struct observer observer = {.context = solving,
                                      .cancelled = command_cancelled,
                                      .tell = show_progress,
                                      .expect = expect_phases};
    struct command_call *call = solving->call;
    enum status status = STATUS_OK;
    STATUS_TRY(open_solver(solving, reterr));
    double began_s = clock_monotonic_s();
    show_phase(&solving->bar, job_phase_name(PHASE_PLANNING));
    const uint32_t n = solving->graph->vertex_count;
    if (ranks_is_first(call->ranks)) {
        status = output_matrix_open(&solving->output, call->operands[1], solving->format,
                                    solving->request.kind, n, reterr);
    } else {
        solving->output.matrix = (struct matrix){n, solving->request.kind, NULL};
    }
    STATUS_TRY(ranks_agree(call->ranks, status));
    /* Opening counts as writing, because some file systems clear allocated blocks. */
    solving->write_s = clock_monotonic_s() - began_s;
    solving->request.observer = &observer;
    STATUS_TRY(solve_graph(solving->solver, solving->graph, &solving->request,
                           &solving->output.matrix, &solving->outcome, reterr));
    began_s = clock_monotonic_s();
    show_phase(&solving->bar, job_phase_name(PHASE_WRITING));
    if (ranks_is_first(call->ranks)) {
        status = output_matrix_commit(&solving->output, solving->graph, reterr);
    }
    solving->write_s += clock_monotonic_s() - began_s;
    return status;
}

/* Prints members about the solve from a job document, so that apsp and apspd print them alike. */
static enum status print_json(const struct solving *solving, const struct problem *problem,
                              FILE *stream, struct problem *reterr)
{
    static const char *const members[] = {"summary",      "plan",    "timings",
                                          "solver",       "device",  "verified",
                                          "verification", "problem", "warnings"};
    const struct solve_outcome *outcome = &solving->outcome;
    const struct graph *graph = solving->graph;
    struct job_report report = {
        .timings = outcome->account.timings,
        .plan = outcome->plan,
        .verification = outcome->account.verification,
        .problem = *problem,
        .cycle = solve_outcome_print_cycle(outcome, graph != NULL ? graph->names : NULL),
        .warnings = warning_print(&solving->call->warnings),
        .cycle_weight = outcome->cycle_weight,
    };
    struct job_document document = {
        .id = "",
        .graph_id = "",
        .state = problem->status == STATUS_OK ? JOB_DONE : JOB_FAILED,
        .eta_s = -1,
        .started_s = 1,
        .kind = solving->request.kind,
        .report = &report,
    };
    if (graph != NULL) {
        document.vertex_count = graph->vertex_count;
        document.edge_count = graph->edge_count;
        document.directed = graph->directed;
        document.summary = &graph->summary;
    }
    snprintf(report.solver, sizeof(report.solver), "%s", outcome->device.solver);
    snprintf(report.device, sizeof(report.device), "%s", outcome->device.name);
    char *text = job_document_print(&document);
    json_t *all = text != NULL ? json_loads(text, 0, NULL) : NULL;
    json_t *kept = all != NULL ? json_object() : NULL;
    job_report_finish(&report);
    free(text);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *member = json_object_get(all, members[i]);
        if (member != NULL && (!json_is_null(member) || strcmp(members[i], "problem") != 0)) {
            json_object_set(kept, members[i], member);
        }
    }
    json_decref(all);
    return command_print_json(kept, stream, reterr);
}

static void print_summary(const struct solving *solving, FILE *stream)
{
    const struct graph *graph = solving->graph;
    const struct solve_outcome *outcome = &solving->outcome;
    const struct verification *verification = &outcome->account.verification;
    const struct timings timings = outcome->account.timings;
    fprintf(stream, "%u vertices, %" PRIu64 " edges, kind %s, %s on %s (%s)\n", graph->vertex_count,
            graph->edge_count, kind_name(solving->request.kind), outcome->device.solver,
            outcome->device.name, outcome->device.detail);
    fprintf(stream, "parse %.3f s, fill %.3f s, h2d %.3f s, compute %.3f s, d2h %.3f s, ",
            timings.parse_s, timings.fill_s, timings.h2d_s, timings.compute_s, timings.d2h_s);
    fprintf(stream, "write %.3f s, total %.3f s\n", timings.write_s, timings.total_s);
    if (verification->done) {
        fprintf(stream,
                "verified: %" PRIu64 " of %" PRIu64 " rows against %" PRIu64 " edges in %.3f s\n",
                verification->rows, verification->of, verification->edges, verification->seconds);
    }
}

static enum status solve_file(struct solving *solving, struct problem *reterr)
{
    STATUS_TRY(ranks_agree(solving->call->ranks, parse_flags(solving, reterr)));
    command_watch_signals();
    STATUS_TRY(read_graph(solving, reterr));
    return execute_plan(solving, reterr);
}

static enum status run_solve(struct command_call *call, struct problem *reterr)
{
    struct solving solving = {.call = call};
    const double began_s = clock_monotonic_s();
    enum status status = solve_file(&solving, reterr);
    if (solving.bar.shown) {
        fputs(WIPE_LINE, stderr);
    }
    reterr->status = status;
    /* With a matrix on standard output, the report goes to standard error. */
    FILE *stream = strcmp(call->operands[1], "-") == 0 ? stderr : stdout;
    struct timings *timings = &solving.outcome.account.timings;
    timings->parse_s = solving.parse_s;
    timings->write_s += solving.write_s; /* write_s already includes the conversion to u2 */
    timings->total_s = clock_monotonic_s() - began_s;
    if (call->values[JSON] != NULL) {
        const enum status printed =
            print_json(&solving, reterr, stream, status == STATUS_OK ? reterr : NULL);
        status = status == STATUS_OK ? printed : status;
    } else if (call->values[QUIET] == NULL && status == STATUS_OK) {
        print_summary(&solving, stream);
    }
    output_matrix_finish(&solving.output);
    solve_outcome_finish(&solving.outcome);
    solver_close(solving.solver);
    graph_destroy(solving.graph);
    return status;
}

const struct command command_solve = {
    .name = "solve",
    .operand_names = {"IN", "OUT"},
    .summary = "Solves the graph in IN and writes all distances to OUT. - is standard input or\n"
               "output. With a matrix on standard output, the summary goes to standard error.",
    .flags = flags,
    .run = run_solve,
};
