#include "proto/writer.h"
#include "server/command/arguments.h"
#include "server/command/graph_input.h"
#include "server/command/interruption.h"
#include "server/solver/certificate.h"
#include "server/solver/solver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TO = GRAPH_INPUT_COUNT, KIND, ROWS };

static const struct command_argument arguments[] = {
    GRAPH_INPUT_ARGUMENTS,
    [TO] = {"to", "FORMAT", "Format of the matrix: npy, raw, nthu. Else its ending decides."},
    [KIND] = {"kind", "KIND", "Numbers of a raw matrix: i4, u2, f4, f8."},
    [ROWS] = {"rows", "K", "Check K rows, spread evenly; else all."},
    {NULL, NULL, NULL},
};

/* A matrix file, mapped. */
struct mapped_matrix {
    unsigned char *bytes;
    size_t size;
    struct matrix matrix;
};

static enum status map_matrix(const char *path, struct mapped_matrix *mapped,
                              struct problem *reterr)
{
    struct stat about;
    void *bytes = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool known = file >= 0 && fstat(file, &about) == 0;
    if (known && about.st_size > 0) {
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    bool failed = !known || (about.st_size > 0 && bytes == MAP_FAILED);
    int error = errno;
    if (file >= 0) {
        close(file);
    }
    if (failed) {
        return problem_set(reterr, STATUS_IO, "%s", strerror(error));
    }
    if (bytes != MAP_FAILED) {
        mapped->bytes = bytes;
        mapped->size = (size_t)about.st_size;
    }
    return STATUS_OK;
}

/* Where the elements start, and for npy what the header says about them. */
static enum status read_header(const struct mapped_matrix *mapped, enum format format,
                               uint32_t vertex_count, enum kind *kind, size_t *ret_offset,
                               struct problem *reterr)
{
    uint64_t rows;
    uint64_t columns;
    *ret_offset = 0;
    if (format != FORMAT_NPY) {
        return STATUS_OK;
    }
    enum status status =
        npy_header_read(mapped->bytes, mapped->size, kind, &rows, &columns, ret_offset, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (rows != vertex_count || columns != vertex_count) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "a matrix of %llu by %llu; the graph has %u vertices",
                           (unsigned long long)rows, (unsigned long long)columns, vertex_count);
    }
    return STATUS_OK;
}

static enum status open_matrix(struct mapped_matrix *mapped, const char *path, enum format format,
                               enum kind kind, uint32_t vertex_count, struct problem *reterr)
{
    size_t offset;
    size_t size;
    enum status status = map_matrix(path, mapped, reterr);
    if (status == STATUS_OK) {
        status = read_header(mapped, format, vertex_count, &kind, &offset, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (matrix_size(vertex_count, kind, &size) != STATUS_OK || mapped->size - offset != size ||
        offset % kind_size(kind) != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "%zu bytes are no %s matrix of %u by %u in this format", mapped->size,
                           kind_name(kind), vertex_count, vertex_count);
    }
    mapped->matrix = (struct matrix){vertex_count, kind, mapped->bytes + offset};
    return STATUS_OK;
}

static void close_matrix(struct mapped_matrix *mapped)
{
    if (mapped->bytes != NULL) {
        munmap(mapped->bytes, mapped->size);
    }
}

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
    struct mapped_matrix mapped = {0};
    call->problem_path = call->operands[1];
    enum status status =
        open_matrix(&mapped, call->operands[1], format, kind, graph->vertex_count, reterr);
    if (status == STATUS_OK) {
        call->matrix_is_input = true;
        status = certify(call, graph, &mapped.matrix, (uint32_t)rows, &verification, reterr);
    }
    close_matrix(&mapped);
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
