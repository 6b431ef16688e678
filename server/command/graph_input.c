#include "server/command/graph_input.h"

#include "proto/reader.h"
#include "server/clock.h"
#include "server/command/arguments.h"
#include "server/command/interruption.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE ((size_t)1 << 20)

struct input {
    int file;
    enum format format; /* FORMAT_NONE: by the first bytes */
    struct reader *reader;
    char *chunk; /* CHUNK_SIZE */
};

static enum status parse_options(const struct command_call *call, struct graph_options *options,
                                 struct problem *reterr)
{
    const char *weight = call->values[GRAPH_INPUT_WEIGHT];
    const char *directed = call->values[GRAPH_INPUT_DIRECTED];
    const char *count_text = call->values[GRAPH_INPUT_N];
    uint64_t count = 0;
    options->vertex_limit = call->config->vertex_limit;
    options->edge_limit = call->config->edge_limit;
    options->has_directed = directed != NULL;
    options->has_vertex_count = count_text != NULL;
    if (weight != NULL) {
        if (weight[0] == '\0' || strlen(weight) >= sizeof options->weight) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "--weight takes 1 to %zu bytes",
                               sizeof options->weight - 1);
        }
        memcpy(options->weight, weight, strlen(weight) + 1);
    }
    enum status status = arguments_bool("directed", directed, &options->directed, reterr);
    if (status == STATUS_OK) {
        status = arguments_number("n", count_text, 0, UINT32_MAX - 1, &count, reterr);
    }
    options->vertex_count = (uint32_t)count;
    return status;
}

/* Fills the chunk as far as the file goes. */
static enum status read_chunk(struct input *input, size_t *ret_size, struct problem *reterr)
{
    size_t size = 0;
    while (size < CHUNK_SIZE) {
        if (interruption_seen()) {
            return problem_set(reterr, STATUS_CANCELLED, "interrupted");
        }
        ssize_t got = read(input->file, input->chunk + size, CHUNK_SIZE - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return problem_set(reterr, STATUS_IO, "%s", strerror(errno));
        }
        if (got == 0) {
            break;
        }
        size += (size_t)got;
    }
    *ret_size = size;
    return STATUS_OK;
}

static enum status choose_reader(struct input *input, size_t size,
                                 const struct graph_options *options, struct problem *reterr)
{
    if (input->format == FORMAT_NONE) {
        input->format =
            format_sniff(input->chunk, size < FORMAT_SNIFF_SIZE ? size : FORMAT_SNIFF_SIZE);
    }
    if (input->format == FORMAT_NONE) {
        problem_set(reterr, STATUS_BAD_GRAPH, "this is not text, and its ending names no format");
        problem_hint(reterr, "name the format: --from nthu");
        return STATUS_BAD_GRAPH;
    }
    enum status status = reader_create(input->format, options, &input->reader);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "%s", status_info(status)->title);
    }
    return STATUS_OK;
}

static enum status read_all(struct input *input, const struct graph_options *options,
                            struct graph **ret_graph, struct problem *reterr)
{
    size_t size;
    do {
        enum status status = read_chunk(input, &size, reterr);
        if (status == STATUS_OK && input->reader == NULL) {
            status = choose_reader(input, size, options, reterr);
        }
        if (status == STATUS_OK && size > 0) {
            status = reader_feed(input->reader, input->chunk, size, reterr);
        }
        if (status != STATUS_OK) {
            return status;
        }
    } while (size == CHUNK_SIZE);
    return reader_finish(input->reader, ret_graph, reterr);
}

static enum status open_input(const char *path, struct input *input, struct problem *reterr)
{
    bool standard = strcmp(path, "-") == 0;
    input->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0) {
        return problem_set(reterr, STATUS_IO, "%s", strerror(errno));
    }
    input->chunk = malloc(CHUNK_SIZE);
    return input->chunk != NULL ? STATUS_OK : problem_set(reterr, STATUS_NO_MEMORY, "no memory");
}

static void close_input(struct input *input)
{
    reader_destroy(input->reader);
    free(input->chunk);
    if (input->file > STDERR_FILENO) {
        close(input->file);
    }
}

enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                             double *ret_seconds, struct problem *reterr)
{
    const char *path = call->operands[0];
    struct input input = {.file = -1};
    struct graph_options options = {0};
    double began_s = clock_monotonic_s();
    enum status status = parse_options(call, &options, reterr);
    if (status == STATUS_OK) {
        status = arguments_format("from", call->values[GRAPH_INPUT_FROM], path, false,
                                  &input.format, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    call->problem_path = strcmp(path, "-") == 0 ? "standard input" : path;
    status = open_input(path, &input, reterr);
    if (status == STATUS_OK) {
        status = read_all(&input, &options, ret_graph, reterr);
    }
    close_input(&input);
    if (status == STATUS_OK) {
        call->problem_path = NULL;
        *ret_seconds = clock_monotonic_s() - began_s;
    }
    return status;
}
