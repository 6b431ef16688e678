#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/api/pairs.h"

#include <string.h>

/* Maximum number of pairs read per step. */
#define PAIRS_AT_ONCE 1024
/* Maximum number of pairs printed with names per step: fewer, because names may be long. */
#define NAMED_AT_ONCE 32

/* Chooses the form of the answer: the form of the body, unless Accept prefers another. */
static enum status choose_form(const struct request *request, enum pairs_form asked,
                               enum pairs_form *ret_form, struct problem *reterr)
{
    const char *const *types = request->match.route->reads;
    const char *offers[PAIRS_BINARY + 3] = {types[asked]};
    size_t chosen;
    memcpy(offers + 1, types, (PAIRS_BINARY + 1) * sizeof(*types));
    STATUS_TRY(request_choose_type(request, offers, &chosen, reterr));
    *ret_form = chosen == 0 ? asked : (enum pairs_form)(chosen - 1);
    return STATUS_OK;
}

/* State of an answer. The body is read twice: once to check it, and again while the answer is sent.
 * The body belongs to the request, which outlives the answer. */
struct answer {
    const struct result *result; /* borrowed from the stream */
    enum pairs_form form;
    struct pairs_reader reader;
    bool is_checked; /* the body is checked and being read a second time */
    bool has_header;
    uint32_t rows[PAIRS_AT_ONCE][2]; /* pairs read in this step */
    size_t read;
    size_t done; /* number of these pairs already processed */
};

static void close_answer(void *context)
{
    pairs_close(&((struct answer *)context)->reader);
}

/* Reads the next pairs if all previous pairs have been processed. */
static enum status read_pairs(struct answer *answer, struct problem *reterr)
{
    if (answer->done < answer->read || answer->reader.ended) {
        return STATUS_OK;
    }
    answer->done = answer->read = 0;
    return pairs_read_rows(&answer->reader, result_names(answer->result), PAIRS_AT_ONCE,
                           answer->rows, &answer->read, reterr);
}

/* Checks the next pairs. All are checked before the answer begins, while it can be refused. */
static enum status check_pairs(struct answer *answer, struct problem *reterr)
{
    size_t count = 0;
    STATUS_TRY(read_pairs(answer, reterr));
    STATUS_TRY(result_check_pairs(answer->result, answer->rows[answer->done],
                                  answer->read - answer->done, &count));
    answer->done += count;
    return STATUS_OK;
}

static void append_line(const struct answer *answer, const uint32_t rows[2], const void *element,
                        struct text *text)
{
    const struct cell_style style = {'\n', ""};
    for (int i = 0; i < 2; i++) {
        writer_append_field(text, result_names(answer->result), rows[i]);
        text_append_char(text, ',');
    }
    writer_append_cells(text, result_kind(answer->result), element, NULL, 0, 1, &style);
    text_append_char(text, '\n');
}

/* Appends the distances of `count` pairs, which are contiguous in `elements`. */
static void append_pairs(const struct answer *answer, uint32_t rows[][2], const char *elements,
                         uint32_t count, struct text *text)
{
    const enum kind kind = result_kind(answer->result);
    const struct cell_style style = {',', "null"};
    switch (answer->form) {
    case PAIRS_JSON:
        writer_append_cells(text, kind, elements, NULL, 0, count, &style);
        break;
    case PAIRS_CSV:
        for (uint32_t i = 0; i < count; i++) {
            append_line(answer, rows[i], elements + i * kind_size(kind), text);
        }
        break;
    case PAIRS_BINARY:
        text_append(text, elements, count * kind_size(kind));
        break;
    }
}

static void append_begin(const struct answer *answer, struct text *text)
{
    if (answer->form == PAIRS_JSON) {
        text_append_string(text, "{\"distances\":[");
    } else if (answer->form == PAIRS_CSV && answer->has_header) {
        text_append_string(text, "source,target,distance\n");
    }
}

/* Appends the distances of the next pairs; stream->position is the number of the first. */
static enum status answer_pairs(struct answer *answer, struct stream *stream, struct text *text)
{
    char elements[PAIRS_AT_ONCE * sizeof(double)];
    STATUS_TRY(read_pairs(answer, &stream->problem));
    const size_t left = answer->read - answer->done;
    size_t count = answer->form == PAIRS_CSV && left > NAMED_AT_ONCE ? NAMED_AT_ONCE : left;
    STATUS_TRY(result_pairs(answer->result, answer->rows[answer->done], count, elements, &count));
    text_append(text, ",", answer->form == PAIRS_JSON && stream->position > 0 && count > 0);
    append_pairs(answer, answer->rows + answer->done, elements, (uint32_t)count, text);
    answer->done += count;
    stream->position += count;
    return STATUS_OK;
}

static bool make_pairs(struct stream *stream, struct text *text)
{
    struct answer *answer = (void *)stream->context;
    struct pairs_reader *reader = &answer->reader;
    const bool is_checked = answer->is_checked;
    if (!stream_check(stream, is_checked ? answer_pairs(answer, stream, text)
                                         : check_pairs(answer, &stream->problem))) {
        return false;
    }
    if (!reader->ended || answer->done < answer->read) {
        return true;
    }
    if (is_checked) {
        text_append_string(text, answer->form == PAIRS_JSON ? "]}\n" : "");
        return false;
    }
    answer->is_checked = true;
    answer->has_header = reader->has_header;
    if (answer->form == PAIRS_BINARY) {
        stream->size = reader->count * kind_size(result_kind(answer->result));
    }
    append_begin(answer, text);
    pairs_rewind(reader);
    answer->read = answer->done = 0;
    return true;
}

static enum status open_answer(struct stream *stream, struct problem *reterr)
{
    const struct request *request = stream->request;
    const enum pairs_form asked =
        pairs_find_form(request_header(request, "Content-Type"), request->match.route->reads,
                        request->document.bytes, request->document.size);
    struct answer *answer = (void *)stream->context;
    answer->result = stream->result;
    STATUS_TRY(choose_form(request, asked, &answer->form, reterr));
    pairs_open(&answer->reader, asked, request->document.bytes, request->document.size);
    stream->media_type = request->match.route->reads[answer->form];
    if (answer->form == PAIRS_BINARY) {
        stream->codings = 1u << CODING_ZSTD;
    }
    return STATUS_OK;
}

const struct stream_kind serve_pairs = {.keeps_question = true,
                                        .context_size = sizeof(struct answer),
                                        .open = open_answer,
                                        .close = close_answer,
                                        .make = make_pairs};
