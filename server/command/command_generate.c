#include "server/command/arguments.h"
#include "server/command/edge_output.h"
#include "server/command/generate.h"
#include "server/command/interruption.h"

#include <inttypes.h>
#include <string.h>

enum { SHAPE, N, SEED, KIND, DEGREE, MAX_WEIGHT, DIRECTED, TO };

static const struct command_argument arguments[] = {
    [SHAPE] = {"shape", "SHAPE",
               "gnp: random pairs; dense: every pair; grid: squared paper; road: a grid with "
               "displaced crossings, missing streets and diagonals."},
    [N] = {"n", "N", "Vertices."},
    [SEED] = {"seed", "S", "The same seed gives the same graph on every machine. Default 1."},
    [KIND] = {"kind", "KIND", "i4: integer weights (default); f4: decimals with three places."},
    [DEGREE] = {"degree", "D", "gnp: edges that leave a vertex, on average. Default 8."},
    [MAX_WEIGHT] = {"max-weight", "W", "Weights are above 0 and at most W. Default 1000."},
    [DIRECTED] = {"directed", NULL, "Edges lead one way. Else each comes with its reverse."},
    [TO] = {"to", "FORMAT", "dimacs, edges, json or nthu. Else OUT's ending decides, else dimacs."},
    {NULL, NULL, NULL},
};

#define WEIGHT_LIMIT 1000000
#define THOUSANDTHS 1000

static enum status parse_shape(const char *text, enum generate_shape *ret_shape,
                               struct problem *reterr)
{
    static const char *const names[] = {"gnp", "dense", "grid", "road"};
    if (text == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "--shape is missing");
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(names[i], text) == 0) {
            *ret_shape = (enum generate_shape)i;
            return STATUS_OK;
        }
    }
    return problem_set(reterr, STATUS_BAD_PARAMETER,
                       "--shape is \"%.60s\"; it must be one of gnp, dense, grid, road", text);
}

static enum status parse_numbers(const struct command_call *call, struct generate_request *request,
                                 struct problem *reterr)
{
    uint64_t n = 0;
    uint64_t degree = 8;
    request->seed = 1;
    request->max_weight = 1000;
    if (call->values[N] == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "--n is missing");
    }
    enum status status = arguments_number("n", call->values[N], 0, UINT32_MAX - 1, &n, reterr);
    if (status == STATUS_OK) {
        status = arguments_number("seed", call->values[SEED], 0, INT64_MAX, &request->seed, reterr);
    }
    if (status == STATUS_OK) {
        status = arguments_number("degree", call->values[DEGREE], 0, UINT32_MAX, &degree, reterr);
    }
    if (status == STATUS_OK) {
        status = arguments_number("max-weight", call->values[MAX_WEIGHT], 1, WEIGHT_LIMIT,
                                  &request->max_weight, reterr);
    }
    request->vertex_count = (uint32_t)n;
    request->degree = (uint32_t)degree;
    return status;
}

static enum status parse_output(const struct command_call *call, struct edge_output *output,
                                struct problem *reterr)
{
    enum kind kind = KIND_I4;
    enum status status =
        arguments_format("to", call->values[TO], call->operands[0], false, &output->format, reterr);
    if (status == STATUS_OK) {
        status = arguments_kind("kind", call->values[KIND], &kind, reterr);
    }
    if (status == STATUS_OK && kind != KIND_I4 && kind != KIND_F4) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER, "--kind must be i4 or f4");
    }
    if (output->format == FORMAT_NONE) {
        output->format = FORMAT_DIMACS;
    }
    if (status == STATUS_OK && !edge_output_writes(output->format)) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER,
                             "graphs are not written as %s; write dimacs, edges, json or nthu",
                             format_info(output->format)->name);
    }
    output->thousandths = kind == KIND_F4;
    return status;
}

static enum status count_edge(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    uint64_t *count = context;
    (void)source;
    (void)target;
    (void)weight;
    ++*count;
    return interruption_seen() ? STATUS_CANCELLED : STATUS_OK;
}

/* The count of edges stands in front of them, so the graph is made twice and never kept. */
static enum status write_graph(const struct generate_request *request, struct edge_output *output,
                               const char *path, struct problem *reterr)
{
    uint64_t count = 0;
    const struct generate_sink counter = {&count, count_edge};
    const struct generate_sink writer = {output, edge_output_take};
    enum status status = generate_edges(request, &counter);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "interrupted");
    }
    status = edge_output_open(output, path, request->vertex_count, count, reterr);
    if (status == STATUS_OK) {
        status = generate_edges(request, &writer);
    }
    if (status == STATUS_OK) {
        status = edge_output_commit(output, reterr);
    }
    if (status == STATUS_OK) {
        fprintf(strcmp(path, "-") == 0 ? stderr : stdout, "%u vertices, %" PRIu64 " edges\n",
                request->vertex_count, count);
    }
    return status;
}

static enum status run(struct command_call *call, struct problem *reterr)
{
    struct generate_request request = {.directed = call->values[DIRECTED] != NULL};
    struct edge_output output = {0};
    enum status status = parse_shape(call->values[SHAPE], &request.shape, reterr);
    if (status == STATUS_OK) {
        status = parse_numbers(call, &request, reterr);
    }
    if (status == STATUS_OK) {
        status = parse_output(call, &output, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    request.max_weight *= output.thousandths ? THOUSANDTHS : 1;
    interruption_watch();
    status = write_graph(&request, &output, call->operands[0], reterr);
    edge_output_finish(&output);
    return status;
}

const struct command command_generate = {
    .name = "generate",
    .operand_names = {"OUT"},
    .summary = "Makes a graph up and writes it to OUT.",
    .arguments = arguments,
    .run = run,
};
