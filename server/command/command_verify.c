#include "server/command/arguments.h"
#include "server/command/graph_input.h"
#include "server/command/interruption.h"
#include "server/command/matrix_input.h"
#include "server/solver/certificate.h"
#include "server/solver/solver.h"

enum { TO = GRAPH_INPUT_COUNT, KIND, ROWS };

static const struct command_argument arguments[] = {
    GRAPH_INPUT_ARGUMENTS,
    [TO] = {"to", "FORMAT", "Format of the matrix: npy, raw, nthu. Else its ending decides."},
    [KIND] = {"kind", "KIND", "Numbers of a raw matrix: i4, u2, f4, f8."},
    [ROWS] = {"rows", "K", "Check K rows, spread evenly; else all."},
    {NULL, NULL, NULL},
};

static enum status parse_flags(const struct command_call *call, enum format *ret_format,
                               enum kind *ret_kind, uint64_t *ret_rows, struct problem *reterr)
{
    *ret_rows = UINT32_MAX;
    *ret_kind = KIND_AUTO;
    enum status status =
        arguments_format("to", call->values[TO], call->operands[1], true, ret_format, reterr);
    if (status == STATUS_OK) {
        status = arguments_kind("kind", call->values[KIND], ret_kind, reterr);
    }
    if (status == STATUS_OK) {
        status = arguments_number("rows", call->values[ROWS], 1, UINT32_MAX, ret_rows, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (*ret_format == FORMAT_NONE || *ret_format == FORMAT_JSON) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "%.200s is not known to be npy, raw or nthu",
                    call->operands[1]);
        problem_hint(reterr, "name the format: --to npy");
        return STATUS_BAD_PARAMETER;
    }
    if (*ret_format == FORMAT_NTHU) {
        *ret_kind = KIND_I4;
    }
    if (*ret_format == FORMAT_RAW && *ret_kind == KIND_AUTO) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "a raw matrix needs --kind");
    }
    return STATUS_OK;
}

/* Only a GPU that was asked for is worth the start of its driver. */
static enum status certify(const struct command_call *call, const struct graph *graph,
                           const struct matrix *matrix, uint32_t rows,
                           struct verification *ret_verification, struct problem *reterr)
{
    const struct observer observer = {.cancelled = interruption_cancels};
    struct solver *solver = NULL;
    if (call->config->solver.choice != SOLVER_GPU) {
        return certificate_check(graph, matrix, rows, &observer, ret_verification, reterr);
    }
    enum status status = solver_open(&call->config->solver, &solver, reterr);
    if (status == STATUS_OK) {
        status = solver_certify(solver, graph, matrix, rows, &observer, ret_verification, reterr);
    }
    solver_close(solver);
    return status;
}

static enum status check(struct command_call *call, const struct graph *graph, enum format format,
                         enum kind kind, uint64_t rows, struct problem *reterr)
{
    struct verification verification = {0};
    struct matrix_input input = {0};
    call->problem_path = call->operands[1];
    enum status status =
        matrix_input_open(&input, call->operands[1], format, kind, graph->vertex_count, reterr);
    if (status == STATUS_OK) {
        call->matrix_is_input = true;
        status = certify(call, graph, &input.matrix, (uint32_t)rows, &verification, reterr);
    }
    matrix_input_close(&input);
    if (status == STATUS_OK) {
        printf("verified: %llu rows%s\n", (unsigned long long)verification.rows,
               verification.on_device ? " on the device" : "");
    }
    return status;
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    enum format format;
    enum kind kind;
    uint64_t rows;
    double parse_s;
    struct graph *graph;
    enum status status = parse_flags(call, &format, &kind, &rows, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    interruption_watch();
    status = graph_input_read(call, &graph, &parse_s, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    status = check(call, graph, format, kind, rows, reterr);
    graph_destroy(graph);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .operand_names = {"GRAPH", "MATRIX"},
    .summary = "Proves that MATRIX holds the shortest distances of GRAPH, or names the first wrong "
               "pair. With --solver gpu the device checks.",
    .arguments = arguments,
    .run = run,
};
