#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/api/pairs.h"
#include "server/http/request/headers.h"
#include "server/http/transport/stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BINARY_TYPE "application/octet-stream"

/* By form; what is asked in one is answered in it, unless Accept says otherwise. */
static const char *const media_types[] = {
    [PAIRS_JSON] = "application/json",
    [PAIRS_CSV] = "text/csv",
    [PAIRS_P2P] = "text/x-dimacs-p2p",
    [PAIRS_BINARY] = BINARY_TYPE,
};

#define FORMS (sizeof(media_types) / sizeof(media_types[0]))

/* Looked up for one piece of an answer: few, because names may be long. */
#define PAIRS_AT_ONCE 32
/* The same where no name is printed and the pairs lie in the body as they are looked up. */
#define BINARY_PAIRS_AT_ONCE 8192

/* ---- The forms of question and answer ---- */

/* False when the type says nothing. */
static bool find_form(const char *media_type, enum pairs_form *ret_form)
{
    const size_t size = media_type == NULL ? 0 : strcspn(media_type, "; \t");

    for (size_t i = 0; i < FORMS; i++) {
        if (strlen(media_types[i]) == size && strncasecmp(media_type, media_types[i], size) == 0) {
            *ret_form = (enum pairs_form)i;
            return true;
        }
    }
    return false;
}

static enum status refuse_types(enum status status, const char *what, struct problem *reterr)
{
    problem_set(reterr, status, "%s", what);
    problem_hint(reterr,
                 "Pairs are %s as {\"pairs\":[[source,target],...]}, %s as lines of source,target, "
                 "%s, or %s as u32 row and column.",
                 media_types[PAIRS_JSON], media_types[PAIRS_CSV], media_types[PAIRS_P2P],
                 media_types[PAIRS_BINARY]);
    return status;
}

enum status serve_pairs_prepare(struct request *request, struct problem *reterr)
{
    const char *media_type = request_header(request, "Content-Type");
    enum pairs_form form;

    if (!find_form(media_type, &form) && !format_media_type_is_vague(media_type)) {
        return refuse_types(STATUS_UNSUPPORTED_MEDIA_TYPE, "No pairs are read from such a body.",
                            reterr);
    }
    return request_expect_document(request, request->http_context->config->pairs_limit_bytes,
                                   reterr);
}

static enum pairs_form form_of_body(const struct request *request)
{
    enum pairs_form form;

    if (find_form(request_header(request, "Content-Type"), &form)) {
        return form;
    }
    return pairs_sniff(request->document.bytes, request->document.size);
}

static enum status choose_answer(const struct request *request, enum pairs_form asked,
                                 enum pairs_form *ret_form, struct problem *reterr)
{
    const char *offers[FORMS + 2] = {media_types[asked]};
    size_t chosen;

    memcpy(offers + 1, media_types, sizeof(media_types));
    if (!header_choose_type(request_header(request, "Accept"), offers, &chosen)) {
        return refuse_types(STATUS_NOT_ACCEPTABLE, "Distances are not answered in such a form.",
                            reterr);
    }
    *ret_form = chosen == 0 ? asked : (enum pairs_form)(chosen - 1);
    return STATUS_OK;
}

/* ---- The answer ---- */

/* The body is gone through twice: once to check it, and again while the answer is sent. It stays
 * the request's, which outlives the answer. */
struct answer {
    const struct result *result; /* the request's */
    enum pairs_form form;
    bool has_header;
    uint64_t count; /* of pairs */
    struct pairs_reader reader;
};

static void destroy_answer(void *context)
{
    struct answer *answer = context;

    pairs_close(&answer->reader);
    free(answer);
}

/* A word of a p2p line ends at a blank, the line at its end. */
static bool is_word(const struct answer *answer, uint32_t row)
{
    char buffer[VERTEX_NAME_BUFFER];
    size_t size;
    const char *name = vertex_names_get(result_names(answer->result), row, buffer, &size);
    bool is_word = size > 0;

    for (size_t i = 0; i < size; i++) {
        is_word = is_word && (unsigned char)name[i] > ' ' && name[i] != 0x7F;
    }
    return is_word;
}

static enum status check_pair(const struct answer *answer, const uint32_t rows[2],
                              struct problem *reterr)
{
    const enum status status = result_check_pairs(answer->result, rows, 1);

    if (status != STATUS_OK) {
        return problem_set(reterr, status,
                           status == STATUS_CORRUPT ? "The stored result is damaged."
                                                    : "There is no memory for the request.");
    }
    if (answer->form != PAIRS_P2P || (is_word(answer, rows[0]) && is_word(answer, rows[1]))) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE,
                "A name with blanks or control characters cannot stand in a p2p line.");
    problem_hint(reterr, "Ask for %s or %s.", media_types[PAIRS_JSON], media_types[PAIRS_CSV]);
    pairs_place(&answer->reader, reterr);
    return STATUS_NOT_ACCEPTABLE;
}

/* All of the body, before the status is said; counts the pairs. */
static enum status check_body(struct answer *answer, struct problem *reterr)
{
    struct pairs_reader *reader = &answer->reader;
    enum status status = STATUS_OK;
    uint32_t rows[2];

    while (status == STATUS_OK) {
        status = pair_rows_next(reader, result_names(answer->result), rows, reterr);
        if (reader->ended) {
            break;
        }
        if (status == STATUS_OK) {
            status = check_pair(answer, rows, reterr);
        }
    }
    answer->has_header = reader->has_header;
    answer->count = reader->count;
    return status;
}

/* Whether these are binary pairs of which no look at each would find anything: the usual case, and
 * the fastest. */
static bool is_plain_binary(struct answer *answer, const struct text *document)
{
    const uint32_t *rows = (const uint32_t *)(const void *)document->bytes;
    const uint32_t n = result_vertex_count(answer->result);
    bool inside = document->size % PAIR_SIZE == 0;

    if (answer->reader.form != PAIRS_BINARY || answer->form == PAIRS_P2P) {
        return false;
    }
    answer->count = document->size / PAIR_SIZE;
    for (size_t i = 0; i < 2 * answer->count; i++) {
        inside &= rows[i] < n;
    }
    return inside && result_check_pairs(answer->result, rows, answer->count) == STATUS_OK;
}

static void append_cells(const struct answer *answer, const void *elements, uint32_t count,
                         const struct cell_style *style, struct text *text)
{
    char *to = text_reserve(text, (size_t)count * CELL_SIZE);

    if (to != NULL) {
        const char *end =
            writer_print_cells(result_kind(answer->result), elements, NULL, 0, count, style, to);

        text_advance(text, (size_t)(end - to));
    }
}

static void append_line(const struct answer *answer, const uint32_t rows[2], const void *element,
                        struct text *text)
{
    const struct vertex_names *names = result_names(answer->result);
    const bool is_csv = answer->form == PAIRS_CSV;
    const struct cell_style style = {'\n', is_csv ? "" : "unreachable"};

    text_append_string(text, is_csv ? "" : "d ");
    for (int i = 0; i < 2; i++) {
        if (is_csv) {
            writer_append_field(text, names, rows[i]);
        } else {
            char buffer[VERTEX_NAME_BUFFER];
            size_t size;
            const char *name = vertex_names_get(names, rows[i], buffer, &size);

            text_append(text, name, size);
        }
        text_append_char(text, is_csv ? ',' : ' ');
    }
    append_cells(answer, element, 1, &style, text);
    text_append_char(text, '\n');
}

/* Appends count distances, which lie one after another in elements. */
static void append_pairs(const struct answer *answer, uint32_t rows[][2], const char *elements,
                         uint32_t count, struct text *text)
{
    const enum kind kind = result_kind(answer->result);
    const struct cell_style style = {',', "null"};

    switch (answer->form) {
    case PAIRS_JSON:
        append_cells(answer, elements, count, &style, text);
        break;
    case PAIRS_CSV:
    case PAIRS_P2P:
        for (uint32_t i = 0; i < count; i++) {
            append_line(answer, rows[i], elements + i * kind_size(kind), text);
        }
        break;
    case PAIRS_BINARY:
        text_append(text, elements, count * kind_size(kind));
        break;
    }
}

/* position counts pairs. */
static bool make_pairs(struct stream *stream, struct text *text)
{
    struct answer *answer = stream->context;
    struct pairs_reader *reader = &answer->reader;
    uint32_t rows[PAIRS_AT_ONCE][2];
    char elements[PAIRS_AT_ONCE * sizeof(double)];
    uint32_t count = 0;

    if (stream->position == 0) {
        text_append_string(text, answer->form == PAIRS_JSON ? "{\"distances\":["
                                 : answer->form == PAIRS_CSV && answer->has_header
                                     ? "source,target,distance\n"
                                     : "");
    }
    while (count < PAIRS_AT_ONCE) {
        const enum status status =
            pair_rows_next(reader, result_names(answer->result), rows[count], &stream->problem);

        if (status != STATUS_OK) {
            text->failed = true;
            return false;
        }
        if (reader->ended) {
            break;
        }
        result_expect_distance(answer->result, rows[count][0], rows[count][1]);
        count++;
    }
    if (result_gather(answer->result, rows[0], count, elements) != count) {
        text->failed = true;
        return false;
    }
    text_append(text, ",", answer->form == PAIRS_JSON && stream->position > 0 && count > 0);
    append_pairs(answer, rows, elements, count, text);
    stream->position += count;
    if (reader->ended && answer->form == PAIRS_JSON) {
        text_append_string(text, "]}\n");
    }
    return !reader->ended;
}

/* The same with pairs and elements in binary, which are gathered from one to the other. */
static bool make_binary(struct stream *stream, struct text *text)
{
    struct answer *answer = stream->context;
    struct name_scanner *body = &answer->reader.scanner;
    const size_t left = (size_t)(body->end - body->at) / PAIR_SIZE;
    const size_t count = left < BINARY_PAIRS_AT_ONCE ? left : BINARY_PAIRS_AT_ONCE;
    const size_t size = kind_size(result_kind(answer->result));
    char *to = text_reserve(text, count * size);

    if (to != NULL) {
        const uint32_t *pairs = (const uint32_t *)(const void *)body->at;

        text->failed |= result_gather(answer->result, pairs, count, to) != count;
        text_advance(text, count * size);
    }
    body->at += count * PAIR_SIZE;
    return left > count;
}

/* ---- The route ---- */

static enum status create_answer(struct request *request, struct answer **ret_answer,
                                 struct problem *reterr)
{
    const struct text *document = &request->document;
    const enum pairs_form asked = form_of_body(request);
    struct answer *answer = calloc(1, sizeof(*answer));

    if (answer == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    answer->result = request->result;
    pairs_open(&answer->reader, asked, document->bytes, document->size);
    enum status status = choose_answer(request, asked, &answer->form, reterr);

    if (status == STATUS_OK && !is_plain_binary(answer, document)) {
        status = check_body(answer, reterr);
    }
    pairs_close(&answer->reader);
    if (status != STATUS_OK) {
        free(answer);
        return status;
    }
    pairs_open(&answer->reader, asked, document->bytes, document->size);
    *ret_answer = answer;
    return STATUS_OK;
}

static void serve(struct request *request)
{
    struct answer *answer = NULL;
    struct problem problem;

    if (create_answer(request, &answer, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    const bool is_binary = answer->form == PAIRS_BINARY;
    const bool is_gathered = is_binary && answer->reader.form == PAIRS_BINARY;

    request_negotiate(request, is_binary);
    request_vary(request);
    stream_answer_context(request, media_types[answer->form], answer, destroy_answer,
                          is_gathered ? make_binary : make_pairs,
                          is_binary ? answer->count * kind_size(result_kind(answer->result)) : 0);
}

void serve_pairs(struct request *request)
{
    struct problem problem;
    enum pairs_form form;

    if (request_check_document(request, &problem) == STATUS_OK &&
        choose_answer(request, form_of_body(request), &form, &problem) == STATUS_OK) {
        request_find_result(request, serve);
    } else {
        request_refuse(request, &problem);
    }
}
