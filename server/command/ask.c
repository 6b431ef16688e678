/* apsp ask: prints one distance, from a running service or a matrix file. */
#include "proto/npy_header.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/command/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct command_flag flags[] = {CLIENT_FLAGS, {NULL, NULL, NULL}};

static bool is_matrix_file(const char *path)
{
    const size_t size = strlen(path);
    return size > 4 && strcmp(path + size - 4, ".npy") == 0 && access(path, F_OK) == 0;
}

/* Parses a row or column number, counted from 0, because the file contains no names. */
static enum status parse_place(const char *text, uint64_t count, int64_t *ret_place,
                               struct problem *reterr)
{
    if (number_parse_integer(text, strlen(text), ret_place) && *ret_place >= 0 &&
        (uint64_t)*ret_place < count) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_GRAPH,
                       "\"%.60s\" is not a vertex: vertices are numbered from 0 to %llu", text,
                       (unsigned long long)(count - (count > 0)));
}

static enum status read_element(const struct command_call *call, FILE *file, struct problem *reterr)
{
    unsigned char head[NPY_HEADER_LIMIT];
    struct npy_header header;
    int64_t row;
    int64_t column;
    size_t offset;
    double element = 0;
    STATUS_TRY(npy_header_read(head, fread(head, 1, sizeof(head), file), &header, &offset, reterr));
    STATUS_TRY(parse_place(call->operands[1], header.rows, &row, reterr));
    STATUS_TRY(parse_place(call->operands[2], header.columns, &column, reterr));
    const enum kind kind = npy_header_kind(header.type);
    const uint64_t at = header.fortran ? (uint64_t)column * header.rows + (uint64_t)row
                                       : (uint64_t)row * header.columns + (uint64_t)column;
    if (kind == KIND_AUTO) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The elements of the .npy file are not of type <i4, <u2, <f4 or <f8.");
    }
    if (fseek(file, (long)(offset + at * kind_size(kind)), SEEK_SET) != 0 ||
        fread(&element, kind_size(kind), 1, file) != 1) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "The file ends before its last element.");
    }
    char line[CELL_SIZE];
    const struct cell_style style = {'\n', "unreachable"};
    const char *end = writer_print_cells(kind, &element, NULL, 0, 1, &style, line);
    printf("%.*s\n", (int)(end - line), line);
    return STATUS_OK;
}

static enum status ask_file(struct command_call *call, struct problem *reterr)
{
    FILE *file = fopen(call->operands[0], "re");
    call->problem_path = call->operands[0];
    if (file == NULL) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "%s", strerror(errno));
    }
    const enum status status = read_element(call, file, reterr);
    fclose(file);
    return status;
}

/* Prints the distance alone, or the JSON response with --json. */
static enum status ask_service(struct client *client, struct problem *reterr)
{
    const struct command_call *call = client->call;
    const struct text *body = &client->answer.body;
    struct text path = client_path(client, "graphs", call->operands[0], "/distance");
    client_append_parameter(client, &path, "source", call->operands[1]);
    client_append_parameter(client, &path, "target", call->operands[2]);
    client_add_header(client, "Accept: %s",
                      call->values[CLIENT_JSON] != NULL ? "application/json" : "text/plain");
    client_add_header(client, "Prefer: wait=%d", CLIENT_HOLD_S);
    STATUS_TRY(client_ask(client, "GET", &path, NULL, reterr));
    const bool ends_line = body->size > 0 && body->bytes[body->size - 1] == '\n';
    command_print_text(body->bytes, body->size - (ends_line ? 1 : 0), stdout);
    putchar('\n');
    return ferror(stdout) == 0 ? STATUS_OK
                               : problem_set(reterr, STATUS_IO, "cannot write to standard output");
}

static enum status run_ask(struct command_call *call, struct problem *reterr)
{
    return is_matrix_file(call->operands[0]) ? ask_file(call, reterr) : client_run(call, reterr);
}

const struct command command_ask = {
    .name = "ask",
    .operand_names = {"GRAPH", "SOURCE", "TARGET"},
    .summary = "Prints the distance from SOURCE to TARGET, or \"unreachable\". GRAPH is the ID or\n"
               "name of a graph of the service, the ID of a job, or a matrix file MATRIX.npy,\n"
               "in which vertices are numbered from 0.",
    .flags = flags,
    .run = run_ask,
    .ask = ask_service,
};
