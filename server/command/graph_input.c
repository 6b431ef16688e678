#include "server/command/graph_input.h"
#include "proto/input_report.h"
#include "proto/read/decoder.h"
#include "proto/read/graph_builder.h"
#include "proto/read/reader.h"
#include "proto/read/sniff.h"
#include "proto/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE ((size_t)64 << 10)

struct input {
    int file;
    enum format format; /* FORMAT_NONE: detect the format from the first bytes */
    bool is_table;      /* detect only whether the input is a list of edges or a matrix */
    struct graph_options options;
    struct reader *reader;
    struct decoder *decoder;
    struct text head; /* first bytes, buffered until the reader is chosen */
};

/* Reads the flags that control the reader, and the limits of the configuration. */
static void parse_options(struct command_call *call, struct graph_options *options)
{
    static const enum graph_input_flag by_name[] = {GRAPH_INPUT_WEIGHT, GRAPH_INPUT_SOURCE_COLUMN,
                                                    GRAPH_INPUT_TARGET_COLUMN, GRAPH_INPUT_DECIMAL,
                                                    GRAPH_INPUT_NO_EDGE};
    const char *directed = call->values[GRAPH_INPUT_DIRECTED];
    options->vertex_limit = call->config->vertex_limit;
    options->edge_limit = call->config->edge_limit;
    options->has_vertex_count = call->values[GRAPH_INPUT_N] != NULL;
    options->vertex_count = (uint32_t)command_number(call, GRAPH_INPUT_N, 0, UINT32_MAX - 1, 0);
    options->has_directed = directed != NULL;
    options->directed = directed != NULL && strcmp(directed, "true") == 0;
    if (directed != NULL && !options->directed && strcmp(directed, "false") != 0) {
        command_refuse_value(call, GRAPH_INPUT_DIRECTED, "true or false");
    }
    const char *charset = call->values[GRAPH_INPUT_CHARSET];
    if (charset != NULL && call->status == STATUS_OK) {
        call->status = charset_choose(charset, options->charset, call->problem);
    }
    for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++) {
        const char *value = call->values[by_name[i]];
        if (value != NULL && call->status == STATUS_OK) {
            const char *name = call->command->flags[by_name[i]].name;
            call->status = reader_set_option(options, name, value, call->problem);
        }
    }
}

static enum status choose_reader(struct input *input, struct problem *reterr)
{
    const struct text *head = &input->head;
    if (head->size == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "the input is empty");
    }
    if (input->format == FORMAT_NONE) {
        STATUS_TRY(sniff_refuse(head->bytes, head->size, reterr));
        input->format = sniff_format(
            head->bytes, head->size < READER_SNIFF_SIZE ? head->size : READER_SNIFF_SIZE);
        input->format =
            input->is_table && input->format != FORMAT_MATRIX ? FORMAT_EDGES : input->format;
    }
    if (input->format == FORMAT_NONE) {
        return problem_refuse(
            reterr, STATUS_BAD_GRAPH, "specify the format, for example with --from nthu",
            "the input is not text, and its extension does not belong to a known format");
    }
    if (decoder_is_utf8(input->decoder)) {
        memcpy(input->options.charset, "utf-8", sizeof("utf-8"));
    }
    STATUS_TRY(reader_create(input->format, &input->options, &input->reader));
    const enum status status = reader_feed(input->reader, head->bytes, head->size, reterr);
    text_finish(&input->head);
    return status;
}

/* Feeds decoded bytes to the reader, or buffers them until the reader is chosen. */
static enum status feed_bytes(void *context, const char *bytes, size_t size, struct problem *reterr)
{
    struct input *input = context;
    if (input->reader != NULL) {
        return reader_feed(input->reader, bytes, size, reterr);
    }
    text_append(&input->head, bytes, size);
    STATUS_TRY(text_status(&input->head));
    return input->head.size < READER_SNIFF_SIZE ? STATUS_OK : choose_reader(input, reterr);
}

/* Reads the input to the end, or until SIGINT or SIGTERM. */
static enum status read_all(struct input *input, struct graph **ret_graph, struct problem *reterr)
{
    char chunk[CHUNK_SIZE];
    for (ssize_t size = 1; size != 0;) {
        STATUS_TRY(command_wait_for_input(input->file));
        size = read(input->file, chunk, sizeof(chunk));
        if (size < 0 && errno != EINTR) {
            return problem_set(reterr, STATUS_IO, "%s", strerror(errno));
        }
        if (size > 0) {
            STATUS_TRY(decoder_feed(input->decoder, chunk, (size_t)size, reterr));
        }
    }
    STATUS_TRY(decoder_end(input->decoder, reterr));
    if (input->reader == NULL) {
        STATUS_TRY(choose_reader(input, reterr));
    }
    return reader_finish(input->reader, ret_graph, reterr);
}

static enum status open_input(const char *path, enum coding coding, struct input *input,
                              struct problem *reterr)
{
    /* A local file is trusted, so the decoder has no limits on size and ratio. */
    const struct decoder_rules rules = {.coding = coding,
                                        .is_opaque = input->format == FORMAT_NTHU,
                                        .charset = input->options.charset,
                                        .take = feed_bytes,
                                        .context = input};
    const bool is_standard = strcmp(path, "-") == 0;
    input->file = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0) {
        return problem_set(reterr, STATUS_IO, "%s", strerror(errno));
    }
    return decoder_create(&rules, &input->decoder);
}

/* Prints the warnings of the reader, then the warnings about the whole graph. */
static void print_warnings(struct command_call *call, const struct input *input,
                           const struct graph *graph)
{
    const struct reader_notes *notes = &input->reader->notes;
    struct input_report report = {.format = input->format,
                                  .direction = input->options.has_directed
                                                   ? INPUT_DIRECTION_PARAMETER
                                                   : INPUT_DIRECTION_DEFAULT};
    input_report_complete(&report, notes, graph);
    call->warnings = notes->warnings;
    input_report_warn(&report, graph, &call->warnings);
    for (size_t i = 0; i < call->warnings.count; i++) {
        const struct warning *warning = &call->warnings.list[i];
        fprintf(stderr, "%swarning: ", command_shows_progress() ? WIPE_LINE : "");
        command_print_advice(warning->detail, warning->hint);
    }
}

/* Chooses the format by --from or, without it, by the file extension before .gz or .zst. */
static enum status choose_format(struct command_call *call, size_t plain_size, struct input *input)
{
    char *path = strndup(call->operands[0], plain_size);
    if (path == NULL) {
        return STATUS_NO_MEMORY;
    }
    input->format = command_format(call, GRAPH_INPUT_FROM, path, false);
    free(path);
    /* Lists of edges and matrices have the same extensions: .csv, .tsv or .txt. */
    input->is_table = input->format == FORMAT_EDGES && call->values[GRAPH_INPUT_FROM] == NULL;
    input->format = input->is_table ? FORMAT_NONE : input->format;
    input->options.format_guessed = input->format == FORMAT_NONE;
    parse_options(call, &input->options);
    return call->status;
}

static enum status read_input(struct command_call *call, struct input *input,
                              struct graph **ret_graph, struct problem *reterr)
{
    const char *path = call->operands[0];
    size_t plain_size;
    const enum coding coding = decoder_coding_from_path(path, &plain_size);
    STATUS_TRY(choose_format(call, plain_size, input));
    call->problem_path = strcmp(path, "-") == 0 ? "standard input" : path;
    STATUS_TRY(open_input(path, coding, input, reterr));
    STATUS_TRY(read_all(input, ret_graph, reterr));
    call->problem_path = NULL;
    print_warnings(call, input, *ret_graph);
    return STATUS_OK;
}

enum status graph_input_read(struct command_call *call, struct graph **ret_graph,
                             struct problem *reterr)
{
    struct input input = {.file = -1};
    const enum status status = read_input(call, &input, ret_graph, reterr);
    reader_destroy(input.reader);
    decoder_destroy(input.decoder);
    text_finish(&input.head);
    if (input.file > STDERR_FILENO) {
        close(input.file);
    }
    return status;
}
