/* apsp plan: prints the plan of a solve, and the memory and time that it needs. */
#include "server/command/graph_input.h"
#include "server/solver/solve.h"

#include <inttypes.h>

enum { KIND = GRAPH_INPUT_COUNT, JSON };

static const struct command_flag flags[] = {
    GRAPH_INPUT_FLAGS,
    [KIND] = {"kind", "KIND", "Kind of the distances, as for solve: auto, i4, u2, f4, f8."},
    [JSON] = {"json", NULL, "Print one JSON object instead of the summary."},
    {NULL, NULL, NULL},
};

struct planning {
    struct command_call *call;
    struct graph *graph;
    struct solver *solver;
    enum kind kind;
    struct solver_estimate estimate;
    struct plan_summary plan;
};

static void print_summary(const struct planning *planning)
{
    const struct graph *graph = planning->graph;
    const struct plan_summary *plan = &planning->plan;
    const struct solver_estimate *estimate = &planning->estimate;
    printf("%u vertices, %" PRIu64 " edges, %s, kind %s, for the %s solver\n", graph->vertex_count,
           graph->edge_count, graph->directed ? "directed" : "undirected",
           kind_name(planning->kind), planning->solver->class_->name);
    printf("plan: %s, %u parts, largest separator %u vertices, %.4g %% of the dense plan's work\n",
           plan_kind_name(plan->kind), plan->parts, plan->largest_separator,
           100 * plan->work_fraction);
    printf("expected: %.4g s, including %.4f s of planning; %.4g GB on the device, %.4g GB on the "
           "host\n",
           estimate->seconds, plan->planning_s, (double)estimate->device_bytes * 1e-9,
           (double)estimate->host_bytes * 1e-9);
}

/* Prints JSON whose members have the same names as in the service's estimate. */
static enum status print_json(const struct planning *planning, struct problem *reterr)
{
    const struct graph *graph = planning->graph;
    const struct solver_estimate *estimate = &planning->estimate;
    return command_print_json(
        json_pack("{s:I,s:I,s:b,s:s,s:s,s:I,s:I,s:f,s:o}", "n", (json_int_t)graph->vertex_count,
                  "m", (json_int_t)graph->edge_count, "directed", graph->directed, "kind",
                  kind_name(planning->kind), "solver", planning->solver->class_->name,
                  "device_bytes", (json_int_t)estimate->device_bytes, "host_bytes",
                  (json_int_t)estimate->host_bytes, "seconds", estimate->seconds, "plan",
                  plan_summary_json(&planning->plan)),
        stdout, reterr);
}

static enum status plan_graph(struct planning *planning, struct problem *reterr)
{
    struct command_call *call = planning->call;
    const enum kind kind = command_kind(call, KIND);
    STATUS_TRY(call->status);
    STATUS_TRY(graph_input_read(call, &planning->graph, reterr));
    STATUS_TRY(graph_choose_kind(planning->graph, kind, &planning->kind, reterr));
    STATUS_TRY(solver_open(&call->config->solver, NULL, &planning->solver, reterr));
    STATUS_TRY(solve_estimate_planned(planning->solver, planning->graph, planning->kind,
                                      &planning->estimate, &planning->plan));
    if (call->values[JSON] != NULL) {
        return print_json(planning, reterr);
    }
    print_summary(planning);
    return STATUS_OK;
}

static enum status run_plan(struct command_call *call, struct problem *reterr)
{
    struct planning planning = {.call = call};
    command_watch_signals();
    const enum status status = plan_graph(&planning, reterr);
    solver_close(planning.solver);
    graph_destroy(planning.graph);
    return status;
}

const struct command command_plan = {
    .name = "plan",
    .operand_names = {"GRAPH"},
    .summary = "Prints the plan for solving GRAPH: its parts and separators, the fraction of the\n"
               "n^3 relaxations that the plan performs, and the expected memory and time.",
    .flags = flags,
    .run = run_plan,
};
