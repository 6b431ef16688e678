#include "server/http/serve.h"

#include "proto/cells.h"
#include "proto/writer.h"
#include "server/http/intake.h"
#include "server/http/pairs.h"
#include "server/http/preference.h"
#include "server/http/stream.h"

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

#define FORMS (sizeof media_types / sizeof media_types[0])

/* The bytes of a pair in binary: two little-endian u32, row and column. */
#define PAIR_SIZE (2 * sizeof(uint32_t))

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

enum status serve_pairs_prepare(struct exchange *exchange, struct problem *reterr)
{
    const char *media_type = exchange_request_header(exchange, "Content-Type");
    enum pairs_form form;

    if (!find_form(media_type, &form) && !format_media_type_is_vague(media_type)) {
        return refuse_types(STATUS_UNSUPPORTED_MEDIA_TYPE, "No pairs are read from such a body.",
                            reterr);
    }
    return intake_open_document(exchange, exchange->house->config->pairs_limit_bytes, reterr);
}

static enum pairs_form form_of_body(const struct exchange *exchange)
{
    enum pairs_form form;

    if (find_form(exchange_request_header(exchange, "Content-Type"), &form)) {
        return form;
    }
    return pairs_sniff(exchange->document.bytes, exchange->document.size);
}

static enum status choose_answer(const struct exchange *exchange, enum pairs_form asked,
                                 enum pairs_form *ret_form, struct problem *reterr)
{
    const char *offers[FORMS + 2] = {media_types[asked]};
    size_t chosen;

    memcpy(offers + 1, media_types, sizeof media_types);
    if (!preference_choose(exchange_request_header(exchange, "Accept"), offers, &chosen)) {
        return refuse_types(STATUS_NOT_ACCEPTABLE, "Distances are not answered in such a form.",
                            reterr);
    }
    *ret_form = chosen == 0 ? asked : (enum pairs_form)(chosen - 1);
    return STATUS_OK;
}

/* ---- The answer ---- */

struct answer {
    const struct result *result;
    enum pairs_form form;
    struct text text;
    uint64_t count;
};

static void append_cell(struct answer *answer, uint32_t row, uint32_t column, char separator,
                        const char *unreachable)
{
    const struct cell_style style = {separator, unreachable};
    char *to = text_reserve(&answer->text, CELL_SIZE);

    const void *element = result_element(answer->result, row, column);

    if (element == NULL) {
        answer->text.failed = true;
    } else if (to != NULL) {
        const char *end = cells_print(result_kind(answer->result), element, NULL, 0, 1, &style, to);

        text_advance(&answer->text, (size_t)(end - to));
    }
}

static void append_names(struct answer *answer, uint32_t row, uint32_t column, char separator)
{
    const struct vertex_names *names = result_names(answer->result);
    const uint32_t rows[2] = {row, column};

    for (int i = 0; i < 2; i++) {
        if (separator == ',') {
            writer_append_field(&answer->text, names, rows[i]);
        } else {
            char buffer[VERTEX_NAME_BUFFER];
            size_t size;
            const char *name = vertex_names_get(names, rows[i], buffer, &size);

            text_append(&answer->text, name, size);
        }
        text_append_char(&answer->text, separator);
    }
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

static enum status check_words(const struct answer *answer, uint32_t row, uint32_t column,
                               struct problem *reterr)
{
    if (answer->form != PAIRS_P2P || (is_word(answer, row) && is_word(answer, column))) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE,
                "A name with blanks or control characters cannot stand in a p2p line.");
    problem_hint(reterr, "Ask for %s or %s.", media_types[PAIRS_JSON], media_types[PAIRS_CSV]);
    return STATUS_NOT_ACCEPTABLE;
}

static void append_pair(struct answer *answer, uint32_t row, uint32_t column)
{
    const uint32_t pair[2] = {row, column};
    char element[8];

    switch (answer->form) {
    case PAIRS_JSON:
        text_append(&answer->text, ",", answer->count > 0);
        append_cell(answer, row, column, ',', "null");
        break;
    case PAIRS_CSV:
        append_names(answer, row, column, ',');
        append_cell(answer, row, column, '\n', "");
        text_append_char(&answer->text, '\n');
        break;
    case PAIRS_P2P:
        text_append_string(&answer->text, "d ");
        append_names(answer, row, column, ' ');
        append_cell(answer, row, column, '\n', "unreachable");
        text_append_char(&answer->text, '\n');
        break;
    case PAIRS_BINARY:
        if (result_check_pairs(answer->result, pair, 1) != STATUS_OK) {
            answer->text.failed = true;
            break;
        }
        result_gather(answer->result, pair, 1, element);
        text_append(&answer->text, element, kind_size(result_kind(answer->result)));
        break;
    }
    answer->count++;
}

static enum status answer_names(void *context, const char *source, size_t source_size,
                                const char *target, size_t target_size, struct problem *reterr)
{
    struct answer *answer = context;
    uint32_t row;
    uint32_t column;
    enum status status = result_find_row(answer->result, source, source_size, &row, reterr);

    if (status == STATUS_OK) {
        status = result_find_row(answer->result, target, target_size, &column, reterr);
    }
    if (status == STATUS_OK) {
        status = check_words(answer, row, column, reterr);
    }
    if (status == STATUS_OK) {
        append_pair(answer, row, column);
    }
    return status;
}

static void answer_header(void *context)
{
    struct answer *answer = context;

    if (answer->form == PAIRS_CSV) {
        text_append_string(&answer->text, "source,target,distance\n");
    }
}

/* ---- Binary questions ---- */

static enum status refuse_row(const struct answer *answer, const uint32_t pair[2], size_t index,
                              struct problem *reterr)
{
    const uint32_t n = result_vertex_count(answer->result);

    problem_set(reterr, STATUS_NO_SUCH_VERTEX,
                "Pair %zu is (%u, %u), and the matrix has %u rows, counted from 0.", index,
                (unsigned)pair[0], (unsigned)pair[1], (unsigned)n);
    return STATUS_NO_SUCH_VERTEX;
}

/* The bytes of text are aligned for any element. */
static enum status answer_rows(struct answer *answer, const struct text *document,
                               struct problem *reterr)
{
    const uint32_t *pairs = (const uint32_t *)(const void *)document->bytes;
    const size_t count = document->size / PAIR_SIZE;
    const uint32_t n = result_vertex_count(answer->result);
    size_t done = 0;

    if (document->size % PAIR_SIZE != 0) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "%zu bytes are no list of pairs, which are 8 bytes each.",
                           document->size);
    }
    if (answer->form == PAIRS_BINARY) {
        const size_t size = kind_size(result_kind(answer->result));
        char *to = text_reserve(&answer->text, count * size);

        if (result_check_pairs(answer->result, pairs, count) != STATUS_OK) {
            return problem_set(reterr, STATUS_CORRUPT, "The stored result is damaged.");
        }
        done = to == NULL ? count : result_gather(answer->result, pairs, count, to);
        text_advance(&answer->text, to == NULL ? 0 : done * size);
    } else {
        for (; done < count && pairs[2 * done] < n && pairs[2 * done + 1] < n; done++) {
            if (check_words(answer, pairs[2 * done], pairs[2 * done + 1], reterr) != STATUS_OK) {
                return STATUS_NOT_ACCEPTABLE;
            }
            append_pair(answer, pairs[2 * done], pairs[2 * done + 1]);
        }
    }
    return done == count ? STATUS_OK : refuse_row(answer, pairs + 2 * done, done, reterr);
}

/* ---- The route ---- */

static enum status make_answer(struct exchange *exchange, struct answer *answer,
                               struct problem *reterr)
{
    const struct pairs_visitor visitor = {
        .context = answer, .pair = answer_names, .header = answer_header};
    const struct text *document = &exchange->document;
    const enum pairs_form asked = form_of_body(exchange);
    enum status status = choose_answer(exchange, asked, &answer->form, reterr);

    if (status != STATUS_OK) {
        return status;
    }
    if (answer->form == PAIRS_JSON) {
        text_append_string(&answer->text, "{\"distances\":[");
    }
    status = asked == PAIRS_BINARY
                 ? answer_rows(answer, document, reterr)
                 : pairs_walk(asked, document->bytes, document->size, &visitor, reterr);
    if (answer->form == PAIRS_JSON) {
        text_append_string(&answer->text, "]}\n");
    }
    return status;
}

static void serve(struct exchange *exchange)
{
    struct answer answer = {.result = exchange->result};
    struct problem problem;

    enum status status = make_answer(exchange, &answer, &problem);

    if (status == STATUS_OK && answer.text.failed) {
        status = problem_set(&problem,
                             result_is_damaged(answer.result) ? STATUS_CORRUPT : STATUS_NO_MEMORY,
                             "The answer cannot be made.");
    }
    if (status != STATUS_OK) {
        text_finish(&answer.text);
        exchange_refuse(exchange, &problem);
        return;
    }
    text_finish(&exchange->document);
    exchange_negotiate(exchange, answer.form == PAIRS_BINARY);
    exchange_vary(exchange);
    stream_answer_text(exchange, media_types[answer.form], &answer.text);
}

void serve_pairs(struct exchange *exchange)
{
    struct problem problem;
    enum pairs_form form;

    if (intake_check_document(exchange, &problem) == STATUS_OK &&
        choose_answer(exchange, form_of_body(exchange), &form, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve);
    } else {
        exchange_refuse(exchange, &problem);
    }
}
