#include "proto/graph_fold.h"
#include "server/command/arguments.h"
#include "server/command/graph_input.h"
#include "server/command/interruption.h"
#include "server/command/output_file.h"
#include "server/command/plan_picture.h"
#include "server/command/plan_report.h"
#include "server/solver/cpu_pool.h"
#include "server/solver/planner.h"
#include "server/solver/solver.h"

#include <string.h>

enum { JSON = GRAPH_INPUT_COUNT, OUT };

static const struct command_argument arguments[] = {
    GRAPH_INPUT_ARGUMENTS,
    [JSON] = {"json", NULL, "Print one JSON object instead of the summary."},
    [OUT] = {"out", "FILE.svg",
             "Draw the tiles, by the round that first writes to them, and the tree of separators."},
    {NULL, NULL, NULL},
};

struct planning {
    struct command_call *call;
    struct graph *graph;
    struct graph *folded;       /* NULL where it cannot be */
    const struct graph *solved; /* one of the two */
    struct plan_cost cost;
    const char *solver;
    bool dense_only; /* by solver.plans */
    struct plan *plan;
};

/* Figures to begin with, for a solver that has none or whose device is not here. */
static void assume_figures(struct planning *planning)
{
    const struct solver_config *config = &planning->call->config->solver;
    const uint32_t threads = config->cpu_threads > 0 ? config->cpu_threads : cpu_pool_cores();
    planning->cost =
        strcmp(planning->solver, "gpu") == 0 ? plan_cost_of_gpu() : plan_cost_of_cpu(threads);
}

static void choose_figures(struct planning *planning)
{
    const struct graph *graph = planning->solved;
    const struct solver_config *config = &planning->call->config->solver;
    const struct solve_options options = {.symmetric = !graph->directed};
    struct problem problem = {0};
    struct solver *solver = NULL;
    enum kind kind = KIND_AUTO;
    planning->solver = config->choice == SOLVER_GPU ? "gpu" : "cpu";
    if (solver_open(config, &solver, &problem) == STATUS_OK) {
        planning->solver = solver->class_->name;
        planning->dense_only = solver->dense_only;
    }
    if (solver != NULL && solver->class_->plan_cost != NULL &&
        graph_choose_kind(graph, KIND_AUTO, &kind, &problem) == STATUS_OK &&
        solver_supports(solver, kind)) {
        solver->class_->plan_cost(solver, graph, kind, &options, &planning->cost);
    } else {
        assume_figures(planning);
    }
    solver_close(solver);
}

static enum status draw(const struct planning *planning, struct problem *reterr)
{
    const char *path = planning->call->values[OUT];
    const char *operand = planning->call->operands[0];
    const char *slash = strrchr(operand, '/');
    struct svg svg = {0};
    planning->call->problem_path = path;
    enum status status =
        plan_picture_draw(planning->plan, slash != NULL ? slash + 1 : operand, &svg);
    if (status != STATUS_OK) {
        problem_set(reterr, status, "There is not enough memory for the picture.");
    } else {
        status = output_file_save(path, svg.text.bytes, svg.text.size, reterr);
    }
    svg_finish(&svg);
    return status;
}

static enum status print(const struct planning *planning, struct problem *reterr)
{
    const struct graph *graph = planning->solved;
    const struct plan_report report = {
        .graph = planning->graph,
        .plan = planning->plan,
        .solver = planning->solver,
        .expected_s = plan_cost_plan(&planning->cost, planning->plan, !graph->directed),
        .dense_s = plan_cost_dense(&planning->cost, graph->vertex_count, !graph->directed),
    };
    if (planning->call->values[JSON] == NULL) {
        plan_report_print_text(&report, stdout);
        return STATUS_OK;
    }
    const enum status status = plan_report_print_json(&report, stdout);
    return status == STATUS_OK ? status : problem_set(reterr, status, "cannot print the plan");
}

/* As solve_graph does. */
static enum status make(struct planning *planning, struct problem *reterr)
{
    enum status status = graph_fold(planning->graph, &planning->folded);
    planning->solved = planning->folded != NULL ? planning->folded : planning->graph;
    if (status == STATUS_OK) {
        choose_figures(planning);
        status = planning->dense_only
                     ? planner_dense(planning->solved->vertex_count, planning->cost.tile,
                                     &planning->plan)
                     : planner_make(planning->solved, &planning->cost, &planning->plan);
    }
    return status == STATUS_OK
               ? STATUS_OK
               : problem_set(reterr, status, "There is not enough memory for the plan.");
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    struct planning planning = {.call = call};
    double parse_s;
    interruption_watch();
    enum status status = graph_input_read(call, &planning.graph, &parse_s, reterr);
    if (status == STATUS_OK) {
        call->problem_path = NULL;
        status = make(&planning, reterr);
    }
    if (status == STATUS_OK && call->values[OUT] != NULL) {
        status = draw(&planning, reterr);
    }
    if (status == STATUS_OK) {
        status = print(&planning, reterr);
    }
    plan_destroy(planning.plan);
    graph_fold_destroy(planning.folded);
    graph_destroy(planning.graph);
    return status;
}

const struct command command_plan = {
    .name = "plan",
    .operand_names = {"GRAPH"},
    .summary =
        "Prints how GRAPH would be solved: its parts and separators, the work that is left of "
        "n^3, and the seconds expected, for the solver that is chosen. --solver gpu plans without "
        "a device too, by the figures of a large one.",
    .arguments = arguments,
    .run = run,
};
