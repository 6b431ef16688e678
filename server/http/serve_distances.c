#include "server/http/serve.h"

#include "proto/writer.h"
#include "server/http/preference.h"

#include <string.h>
#include <strings.h>

static const char *const offers[] = {"application/json", "text/plain", NULL};

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

static void serve_one(struct exchange *exchange)
{
    const char *source_name = query_value(&exchange->query, "source");
    const char *target_name = query_value(&exchange->query, "target");
    const bool plain = exchange->offer == 1;
    struct problem problem;
    struct text *text = &exchange->line;
    uint32_t source;
    uint32_t target;

    if (result_find_row(exchange->result, source_name, strlen(source_name), &source, &problem) !=
            STATUS_OK ||
        result_find_row(exchange->result, target_name, strlen(target_name), &target, &problem) !=
            STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    result_expect_distance(exchange->result, source, target);
    text_clear(text);
    if (plain) {
        print_plain(exchange->result, source, target, text);
        exchange_answer_small(exchange, "text", "text/plain", text);
    } else {
        print_object(exchange->result, source, target, text);
        exchange_answer_small(exchange, "json", "application/json", text);
    }
}

void serve_distances_one(struct exchange *exchange)
{
    const char *accept = exchange_request_header(exchange, "Accept");
    struct problem problem;

    if (query_value(&exchange->query, "source") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter source is missing.");
    } else if (query_value(&exchange->query, "target") == NULL) {
        problem_set(&problem, STATUS_BAD_PARAMETER, "The parameter target is missing.");
    } else if (!preference_choose(accept, offers, &exchange->offer)) {
        problem_set(&problem, STATUS_NOT_ACCEPTABLE, "A distance is not answered in such a form.");
        problem_hint(&problem, "Answered: %s, %s.", offers[0], offers[1]);
    } else {
        exchange_find_result(exchange, serve_one);
        return;
    }
    exchange_refuse(exchange, &problem);
}
