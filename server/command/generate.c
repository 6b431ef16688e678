#include "proto/number.h"
#include "server/command/generator.h"
#include "server/command/output.h"

#include <inttypes.h>
#include <string.h>

enum { SHAPE, N, SEED, KIND, DEGREE, MAX_WEIGHT, DIRECTED, TO };

static const struct command_flag flags[] = {
    [SHAPE] = {"shape", "SHAPE",
               "gnp: random edges; dense: all pairs of vertices; grid: a square grid;\n"
               "      road: a grid with displaced crossings, missing streets and diagonals."},
    [N] = {"n", "N", "Number of vertices."},
    [SEED] = {"seed", "S", "The same seed gives the same graph on all machines. Default: 1."},
    [KIND] = {"kind", "KIND", "i4: integer weights (default); f4: weights with three decimals."},
    [DEGREE] = {"degree", "D", "Average number of edges that leave a vertex in gnp. Default: 8."},
    [MAX_WEIGHT] = {"max-weight", "W", "Largest weight; all weights are above 0. Default: 1000."},
    [DIRECTED] = {"directed", NULL, "Generate directed edges. Default: undirected edges."},
    [TO] = {"to", "FORMAT",
            "dimacs, edges, json or nthu. Default: by OUT's extension, else dimacs."},
    {NULL, NULL, NULL},
};

#define WEIGHT_LIMIT 1000000
#define THOUSANDTHS 1000
#define PIECE_SIZE ((size_t)1 << 20)

/* Sink of the generator that writes edges through a buffer. */
struct edge_writer {
    bool counting; /* first pass: edges are counted, not written */
    struct output_file file;
    enum format format;
    bool thousandths; /* weights are in thousandths, printed as decimals */
    uint64_t written;
    struct text text;
    struct problem *reterr;
};

static void append_integer(struct text *text, uint64_t value)
{
    char digits[NUMBER_PRINT_SIZE];
    text_append(text, digits, number_print_integer((int64_t)value, digits));
}

static void append_int32(struct text *text, uint64_t value)
{
    const uint32_t bytes = (uint32_t)value; /* only little-endian machines are supported */
    text_append(text, &bytes, sizeof(bytes));
}

/* Appends the text or bytes before the edges; in nthu these are the counts as 32-bit integers. */
static void append_header(struct edge_writer *writer, uint32_t vertex_count, uint64_t edge_count)
{
    struct text *text = &writer->text;
    if (writer->format == FORMAT_DIMACS) {
        text_printf(text, "p sp %u %" PRIu64 "\n", vertex_count, edge_count);
    } else if (writer->format == FORMAT_EDGES) {
        text_append_string(text, "source,target,weight\n");
    } else if (writer->format == FORMAT_JSON) {
        text_printf(text, "{\"n\":%u,\"edges\":[", vertex_count);
    } else {
        append_int32(text, vertex_count);
        append_int32(text, edge_count);
    }
}

/* Writes or counts an edge; called by the generator. DIMACS counts vertices from 1. */
static enum status write_edge(void *context, uint32_t source, uint32_t target, uint64_t weight)
{
    struct edge_writer *writer = context;
    struct text *text = &writer->text;
    const bool is_first = writer->written++ == 0;
    if (writer->counting) {
        return command_interrupted() ? STATUS_CANCELLED : STATUS_OK;
    }
    if (writer->format == FORMAT_NTHU) {
        append_int32(text, source);
        append_int32(text, target);
        append_int32(text, weight);
        return output_file_flush(&writer->file, text, PIECE_SIZE, writer->reterr);
    }
    const bool is_dimacs = writer->format == FORMAT_DIMACS;
    const bool is_json = writer->format == FORMAT_JSON;
    const char between = is_dimacs ? ' ' : ',';
    if (is_json) {
        text_append_string(text, is_first ? "\n[" : ",\n[");
    } else if (is_dimacs) {
        text_append_string(text, "a ");
    }
    append_integer(text, (uint64_t)source + is_dimacs);
    text_append_char(text, between);
    append_integer(text, (uint64_t)target + is_dimacs);
    text_append_char(text, between);
    append_integer(text, writer->thousandths ? weight / THOUSANDTHS : weight);
    if (writer->thousandths) {
        const char fraction[4] = {'.', (char)('0' + weight / 100 % 10),
                                  (char)('0' + weight / 10 % 10), (char)('0' + weight % 10)};
        text_append(text, fraction, sizeof(fraction));
    }
    text_append_char(text, is_json ? ']' : '\n');
    return output_file_flush(&writer->file, text, PIECE_SIZE, writer->reterr);
}

/* Writes the graph, which is generated twice, because the file begins with the number of edges. */
static enum status write_graph(const struct generator_request *request, struct edge_writer *writer,
                               const char *path)
{
    const struct generator_sink sink = {writer, write_edge};
    writer->counting = true;
    STATUS_TRY(generator_run(request, &sink));
    const uint64_t count = writer->written;
    if (writer->format == FORMAT_NTHU &&
        (writer->thousandths || request->vertex_count > INT32_MAX || count > INT32_MAX)) {
        return problem_set(
            writer->reterr, STATUS_BAD_PARAMETER,
            "nthu holds 32-bit integers, but the graph has %u vertices and %" PRIu64 " edges%s",
            request->vertex_count, count, writer->thousandths ? " with decimal weights" : "");
    }
    STATUS_TRY(output_file_open(&writer->file, path, writer->reterr));
    writer->counting = false;
    writer->written = 0;
    append_header(writer, request->vertex_count, count);
    STATUS_TRY(generator_run(request, &sink));
    if (writer->format == FORMAT_JSON) {
        text_append_string(&writer->text, "\n]}\n");
    }
    STATUS_TRY(output_file_flush(&writer->file, &writer->text, 0, writer->reterr));
    STATUS_TRY(output_file_commit(&writer->file, writer->reterr));
    fprintf(strcmp(path, "-") == 0 ? stderr : stdout, "%u vertices, %" PRIu64 " edges\n",
            request->vertex_count, count);
    return STATUS_OK;
}

static enum status run_generate(struct command_call *call, struct problem *reterr)
{
    static const char *const shapes[GENERATOR_COUNT] = {"gnp", "dense", "grid", "road"};
    struct generator_request request = {.directed = call->values[DIRECTED] != NULL};
    struct edge_writer writer = {.file = {.file = -1}, .reterr = reterr};
    if (call->values[SHAPE] == NULL || call->values[N] == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "the flag --%s is missing",
                           call->values[SHAPE] == NULL ? "shape" : "n");
    }
    while (request.shape < GENERATOR_COUNT &&
           strcmp(shapes[request.shape], call->values[SHAPE]) != 0) {
        request.shape++;
    }
    if (request.shape == GENERATOR_COUNT) {
        command_refuse_value(call, SHAPE, "one of gnp, dense, grid, road");
    }
    request.vertex_count = (uint32_t)command_number(call, N, 0, UINT32_MAX - 1, 0);
    request.seed = command_number(call, SEED, 0, INT64_MAX, 1);
    request.degree = (uint32_t)command_number(call, DEGREE, 0, UINT32_MAX, 8);
    request.max_weight = command_number(call, MAX_WEIGHT, 1, WEIGHT_LIMIT, 1000);
    const enum kind kind = command_kind(call, KIND);
    if (kind != KIND_AUTO && kind != KIND_I4 && kind != KIND_F4) {
        command_refuse_value(call, KIND, "i4 or f4");
    }
    writer.thousandths = kind == KIND_F4;
    request.max_weight *= writer.thousandths ? THOUSANDTHS : 1;
    writer.format = command_format(call, TO, call->operands[0], false);
    STATUS_TRY(call->status);
    if (writer.format == FORMAT_NONE) {
        writer.format = FORMAT_DIMACS;
    }
    if (writer.format != FORMAT_DIMACS && writer.format != FORMAT_EDGES &&
        writer.format != FORMAT_JSON && writer.format != FORMAT_NTHU) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "graphs cannot be written as %s; choose dimacs, edges, json or nthu",
                           format_info(writer.format)->name);
    }
    command_watch_signals();
    const enum status status = write_graph(&request, &writer, call->operands[0]);
    text_finish(&writer.text);
    output_file_finish(&writer.file);
    return status;
}

const struct command command_generate = {
    .name = "generate",
    .operand_names = {"OUT"},
    .summary = "Generates a graph and writes it to OUT.",
    .flags = flags,
    .run = run_generate,
};
