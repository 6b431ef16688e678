#include "server/command/graph_input.h"

#include "proto/decoder.h"
#include "proto/reader.h"
#include "proto/text.h"
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
    const struct graph_options *options;
    struct reader *reader;
    struct decoder *decoder; /* of a compressed file, else NULL */
    struct text head;        /* until there is enough of it to choose the reader by */
    char *chunk;             /* CHUNK_SIZE */
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

/* The reader gets what has been held back for the choice. */
static enum status choose_reader(struct input *input, struct problem *reterr)
{
    const struct text *head = &input->head;
    if (input->format == FORMAT_NONE && head->size > 0) {
        input->format = format_sniff(
            head->bytes, head->size < FORMAT_SNIFF_SIZE ? head->size : FORMAT_SNIFF_SIZE);
    }
    if (head->size == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "there is nothing in it");
    }
    if (input->format == FORMAT_NONE) {
        problem_set(reterr, STATUS_BAD_GRAPH, "this is not text, and its ending names no format");
        problem_hint(reterr, "name the format: --from nthu");
        return STATUS_BAD_GRAPH;
    }
    enum status status = reader_create(input->format, input->options, &input->reader);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "%s", status_info(status)->title);
    }
    status = reader_feed(input->reader, head->bytes, head->size, reterr);
    text_finish(&input->head);
    return status;
}

/* The bytes of the graph itself. */
static enum status take_bytes(void *context, const char *bytes, size_t size, struct problem *reterr)
{
    struct input *input = context;
    if (input->reader != NULL) {
        return reader_feed(input->reader, bytes, size, reterr);
    }
    text_append(&input->head, bytes, size);
    if (text_status(&input->head) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "no memory");
    }
    return input->head.size < FORMAT_SNIFF_SIZE ? STATUS_OK : choose_reader(input, reterr);
}

static enum status read_all(struct input *input, struct graph **ret_graph, struct problem *reterr)
{
    size_t size;
    enum status status;
    do {
        status = read_chunk(input, &size, reterr);
        if (status == STATUS_OK && input->decoder != NULL) {
            status = decoder_feed(input->decoder, input->chunk, size, reterr);
        } else if (status == STATUS_OK) {
            status = take_bytes(input, input->chunk, size, reterr);
        }
    } while (size == CHUNK_SIZE && status == STATUS_OK);
    if (status == STATUS_OK && input->decoder != NULL) {
        status = decoder_end(input->decoder, reterr);
    }
    if (status == STATUS_OK && input->reader == NULL) {
        status = choose_reader(input, reterr);
    }
    return status == STATUS_OK ? reader_finish(input->reader, ret_graph, reterr) : status;
}

/* A local file is trusted to be as large as it is. */
static enum status open_decoder(struct input *input, enum coding coding, struct problem *reterr)
{
    const struct decoder_rules rules = {.coding = coding, .take = take_bytes, .context = input};
    if (coding == CODING_IDENTITY || decoder_create(&rules, &input->decoder) == STATUS_OK) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_NO_MEMORY, "no memory");
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
    decoder_destroy(input->decoder);
    text_finish(&input->head);
    free(input->chunk);
    if (input->file > STDERR_FILENO) {
        close(input->file);
    }
}

/* The ending before .gz or .zst names the format. */
static enum status find_format(const struct command_call *call, enum coding *ret_coding,
                               enum format *ret_format, struct problem *reterr)
{
    size_t size;
    *ret_coding = decoder_coding_from_path(call->operands[0], &size);
    char *path = strndup(call->operands[0], size);
    if (path == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "no memory");
    }
    enum status status =
        arguments_format("from", call->values[GRAPH_INPUT_FROM], path, false, ret_format, reterr);
    free(path);
    return status;
}

enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                             double *ret_seconds, struct problem *reterr)
{
    const char *path = call->operands[0];
    struct graph_options options = {0};
    struct input input = {.file = -1, .options = &options};
    enum coding coding = CODING_IDENTITY;
    double began_s = clock_monotonic_s();
    enum status status = parse_options(call, &options, reterr);
    if (status == STATUS_OK) {
        status = find_format(call, &coding, &input.format, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    call->problem_path = strcmp(path, "-") == 0 ? "standard input" : path;
    status = open_input(path, &input, reterr);
    if (status == STATUS_OK) {
        status = open_decoder(&input, coding, reterr);
    }
    if (status == STATUS_OK) {
        status = read_all(&input, ret_graph, reterr);
    }
    close_input(&input);
    if (status == STATUS_OK) {
        call->problem_path = NULL;
        *ret_seconds = clock_monotonic_s() - began_s;
    }
    return status;
}
