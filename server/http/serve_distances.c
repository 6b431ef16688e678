#include "server/http/serve.h"

#include "proto/writer.h"
#include "server/http/intake.h"
#include "server/http/pairs.h"
#include "server/http/preference.h"
#include "server/http/range.h"

#include <string.h>
#include <strings.h>

static const char *const offers[] = {"application/json", "text/plain", NULL};

static enum status find_row(const struct result *result, const char *name, size_t size,
                            uint32_t *ret_row, struct problem *reterr)
{
    if (vertex_names_find(result_names(result), name, size, ret_row)) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_NO_SUCH_VERTEX, "The graph has no vertex \"%.*s\".",
                       size < 128 ? (int)size : 128, name);
}

/* ---- One pair ---- */

static void print_plain(const struct result *result, uint32_t source, uint32_t target,
                        struct text *text)
{
    result_append_distance(result, source, target, text);
    if (text->size == 4 && memcmp(text->bytes, "null", 4) == 0) {
        text_clear(text);
        text_append_string(text, "unreachable");
    }
    text_append_char(text, '\n');
}

static void print_object(const struct result *result, uint32_t source, uint32_t target,
                         struct text *text)
{
    text_append_string(text, "{\"source\":");
    writer_append_vertex(text, result_names(result), source);
    text_append_string(text, ",\"target\":");
    writer_append_vertex(text, result_names(result), target);
    text_append_string(text, ",\"distance\":");
    result_append_distance(result, source, target, text);
    text_append_string(text, "}\n");
}

static bool wants_plain(const struct exchange *exchange)
{
    size_t offer = 0;

    (void)preference_choose(exchange_request_header(exchange, "Accept"), offers, &offer);
    return offer == 1;
}

/* The answer holds for as long as the name means the same result: it is to be asked again, by tag.
 */
static bool answer_not_modified(struct exchange *exchange, const char *representation)
{
    const char *known = exchange_request_header(exchange, "If-None-Match");
    char tag[TAG_SIZE];

    snprintf(tag, sizeof tag, "\"%s-%s\"", result_etag(exchange->result), representation);
    exchange_set_header(exchange, "ETag", "%s", tag);
    exchange_set_header(exchange, "Vary", "Accept");
    exchange_set_header(exchange, "Cache-Control", "no-cache");
    if (known == NULL || !range_list_has_tag(known, tag)) {
        return false;
    }
    exchange_answer(exchange, MHD_HTTP_NOT_MODIFIED,
                    MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    return true;
}

static void serve_one(struct exchange *exchange)
{
    const char *source_name = query_value(&exchange->query, "source");
    const char *target_name = query_value(&exchange->query, "target");
    bool plain = wants_plain(exchange);
    struct problem problem;
    struct text text = {0};
    uint32_t source;
    uint32_t target;

    if (find_row(exchange->result, source_name, strlen(source_name), &source, &problem) !=
            STATUS_OK ||
        find_row(exchange->result, target_name, strlen(target_name), &target, &problem) !=
            STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    if (answer_not_modified(exchange, plain ? "text" : "json")) {
        return;
    }
    if (plain) {
        print_plain(exchange->result, source, target, &text);
    } else {
        print_object(exchange->result, source, target, &text);
    }
    exchange_answer_text(exchange, MHD_HTTP_OK, plain ? "text/plain" : "application/json", &text);
}

void serve_distances_one(struct exchange *exchange)
{
    const char *accept = exchange_request_header(exchange, "Accept");
    struct problem problem = {0};
    size_t offer;

    if (query_value(&exchange->query, "source") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter source is missing.");
    } else if (query_value(&exchange->query, "target") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter target is missing.");
    } else if (!preference_choose(accept, offers, &offer)) {
        problem_set(&problem, STATUS_NOT_ACCEPTABLE, "A distance is not answered in such a form.");
        problem_hint(&problem, "Answered: %s, %s.", offers[0], offers[1]);
    }
    if (problem.status != STATUS_OK) {
        exchange_refuse(exchange, &problem);
    } else {
        exchange_find_result(exchange, serve_one);
    }
}

/* ---- Many pairs ---- */

enum status serve_distances_prepare(struct exchange *exchange, struct problem *reterr)
{
    const char *media_type = exchange_request_header(exchange, "Content-Type");

    exchange->document_limit = SERVE_PAIRS_LIMIT;
    if (!format_media_type_is_vague(media_type) &&
        format_from_media_type(media_type) != FORMAT_JSON) {
        problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE, "No pairs are read from \"%s\".",
                    media_type);
        problem_hint(reterr, "Read here: application/json, as {\"pairs\":[[source,target],...]}.");
        return STATUS_UNSUPPORTED_MEDIA_TYPE;
    }
    return intake_check_body(exchange, SERVE_PAIRS_LIMIT, reterr);
}

struct answer {
    const struct result *result;
    struct text text;
    uint64_t count;
};

static enum status answer_pair(void *context, const char *source, size_t source_size,
                               const char *target, size_t target_size, struct problem *reterr)
{
    struct answer *answer = context;
    uint32_t row;
    uint32_t column;
    enum status status = find_row(answer->result, source, source_size, &row, reterr);

    if (status == STATUS_OK) {
        status = find_row(answer->result, target, target_size, &column, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (answer->count++ > 0) {
        text_append_char(&answer->text, ',');
    }
    result_append_distance(answer->result, row, column, &answer->text);
    return STATUS_OK;
}

static void serve_many(struct exchange *exchange)
{
    struct answer answer = {.result = exchange->result};
    struct pairs_visitor visitor = {&answer, answer_pair};
    struct problem problem;

    text_append_string(&answer.text, "{\"distances\":[");
    if (pairs_walk(exchange->document.bytes, exchange->document.size, &visitor, &problem) !=
        STATUS_OK) {
        text_finish(&answer.text);
        exchange_refuse(exchange, &problem);
        return;
    }
    text_append_string(&answer.text, "]}\n");
    exchange_answer_text(exchange, MHD_HTTP_OK, "application/json", &answer.text);
}

void serve_distances_many(struct exchange *exchange)
{
    struct problem problem = {0};

    if (text_status(&exchange->document) != STATUS_OK) {
        problem_set(&problem, STATUS_NO_MEMORY, "There is no memory for the pairs.");
    } else if (exchange->document.size == 0) {
        problem_set(&problem, STATUS_EMPTY_BODY, "There is nothing in the body.");
    }
    if (problem.status != STATUS_OK) {
        exchange_refuse(exchange, &problem);
    } else {
        exchange_find_result(exchange, serve_many);
    }
}
