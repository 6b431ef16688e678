#include "proto/npy_header.h"
#include "server/command/graph_input.h"
#include "server/solver/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TO = GRAPH_INPUT_COUNT, KIND, ROWS };

static const struct command_flag flags[] = {
    GRAPH_INPUT_FLAGS,
    [TO] = {"to", "FORMAT", "Format of the matrix: npy, raw or nthu. Default: by file extension."},
    [KIND] = {"kind", "KIND", "Kind of a raw matrix: i4, u2, f4, f8."},
    [ROWS] = {"rows", "K", "Check K evenly spaced rows. Default: all rows."},
    {NULL, NULL, NULL},
};

struct checking {
    struct command_call *call;
    enum format format;
    enum kind kind;
    uint32_t rows;
    struct graph *graph;
    unsigned char *bytes; /* the matrix file, mapped */
    size_t size;
};

static enum status parse_flags(struct checking *checking, struct problem *reterr)
{
    struct command_call *call = checking->call;
    checking->format = command_format(call, TO, call->operands[1], true);
    checking->kind = command_kind(call, KIND);
    checking->rows = (uint32_t)command_number(call, ROWS, 1, UINT32_MAX, UINT32_MAX);
    STATUS_TRY(call->status);
    if (checking->format == FORMAT_NTHU) {
        checking->kind = KIND_I4;
    }
    if (checking->format == FORMAT_RAW && checking->kind == KIND_AUTO) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "a raw matrix needs --kind");
    }
    if (!format_is_binary(checking->format)) {
        return problem_refuse(reterr, STATUS_BAD_PARAMETER, "specify the format with --to",
                              "cannot tell whether %.200s is npy, raw or nthu", call->operands[1]);
    }
    return STATUS_OK;
}

/* Maps the file; an empty file leaves bytes NULL. */
static enum status map_file(struct checking *checking, struct problem *reterr)
{
    struct stat about;
    void *bytes = NULL;
    const int file = open(checking->call->operands[1], O_RDONLY | O_CLOEXEC);
    const bool known = file >= 0 && fstat(file, &about) == 0;
    if (known && about.st_size > 0) {
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    const int error = errno;
    if (file >= 0) {
        close(file);
    }
    if (!known || bytes == MAP_FAILED) {
        return problem_set(reterr, STATUS_IO, "%s", strerror(error));
    }
    checking->bytes = bytes;
    checking->size = bytes != NULL ? (size_t)about.st_size : 0;
    return STATUS_OK;
}

/* Finds the matrix in the file; its elements lie inside the read-only mapping. */
static enum status find_matrix(struct checking *checking, struct matrix *ret_matrix,
                               struct problem *reterr)
{
    const uint32_t n = checking->graph->vertex_count;
    size_t offset = 0;
    size_t size;
    if (checking->format == FORMAT_NPY) {
        struct npy_header header;
        STATUS_TRY(npy_header_read(checking->bytes, checking->size, &header, &offset, reterr));
        if (offset > checking->size) {
            return problem_set(reterr, STATUS_BAD_GRAPH, "The .npy file ends within its header.");
        }
        if (header.fortran) {
            return problem_set(reterr, STATUS_BAD_GRAPH, "The .npy file is not in C order.");
        }
        if (header.rows != n || header.columns != n) {
            return problem_set(reterr, STATUS_BAD_GRAPH,
                               "the matrix is %" PRIu64 " by %" PRIu64
                               ", but the graph has %u vertices",
                               header.rows, header.columns, n);
        }
        checking->kind = npy_header_kind(header.type);
        if (checking->kind == KIND_AUTO) {
            return problem_set(
                reterr, STATUS_BAD_GRAPH,
                "The elements of the .npy file are not of type <i4, <u2, <f4 or <f8.");
        }
    }
    if (matrix_size(n, checking->kind, &size) != STATUS_OK || checking->size - offset != size ||
        offset % kind_size(checking->kind) != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "the file has %zu bytes, which is not the size of a %u by %u matrix of "
                           "kind %s in this format",
                           checking->size, n, n, kind_name(checking->kind));
    }
    *ret_matrix = (struct matrix){n, checking->kind, checking->bytes + offset};
    return STATUS_OK;
}

static enum status certify_matrix(const struct checking *checking, const struct matrix *matrix,
                                  struct problem *reterr)
{
    const struct observer observer = {.cancelled = command_cancelled};
    struct verification verification = {0};
    struct cpu_pool *pool = NULL;
    STATUS_TRY(problem_explain(reterr, cpu_pool_create(cpu_pool_cores(), &pool),
                               "The verification threads cannot be started."));
    const struct certificate_request request = {.graph = checking->graph,
                                                .matrix = matrix,
                                                .row_count = checking->rows,
                                                .pool = pool,
                                                .observer = &observer};
    const enum status status = certificate_check(&request, &verification, reterr);
    cpu_pool_destroy(pool);
    if (status == STATUS_OK) {
        printf("verified: %" PRIu64 " rows\n", verification.rows);
    }
    return status;
}

static enum status verify_matrix(struct checking *checking, struct problem *reterr)
{
    struct command_call *call = checking->call;
    struct matrix matrix;
    STATUS_TRY(parse_flags(checking, reterr));
    command_watch_signals();
    STATUS_TRY(graph_input_read(call, &checking->graph, reterr));
    call->problem_path = call->operands[1];
    STATUS_TRY(map_file(checking, reterr));
    STATUS_TRY(find_matrix(checking, &matrix, reterr));
    const enum status status = certify_matrix(checking, &matrix, reterr);
    /* A wrong matrix counts as bad input, not as a device failure. */
    call->exit_code = status == STATUS_NOT_VERIFIED ? EXIT_FAILURE : 0;
    return status;
}

static enum status run_verify(struct command_call *call, struct problem *reterr)
{
    struct checking checking = {.call = call};
    const enum status status = verify_matrix(&checking, reterr);
    if (checking.bytes != NULL) {
        munmap(checking.bytes, checking.size);
    }
    graph_destroy(checking.graph);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .operand_names = {"GRAPH", "MATRIX"},
    .summary = "Proves that MATRIX holds the shortest distances of GRAPH, or reports the first\n"
               "wrong pair.",
    .flags = flags,
    .run = run_verify,
};
