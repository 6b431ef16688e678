#include "server/http/serve.h"

#include "proto/writer.h"
#include "server/http/preference.h"

#include <string.h>
#include <strings.h>

static const char *const offers[] = {"application/json", "text/plain", NULL};

/* Of the way. */
struct end {
    const char *name;
    size_t name_size;
    uint32_t row;
};

static enum status find(const struct exchange *exchange, const char *parameter, struct end *ret_end,
                        struct problem *reterr)
{
    struct end end = {.name = query_value(&exchange->query, parameter)};

    end.name_size = strlen(end.name);
    enum status status =
        result_find_row(exchange->result, end.name, end.name_size, &end.row, reterr);
    if (status == STATUS_OK) {
        *ret_end = end;
    }
    return status;
}

/* A vertex is found by its name to the letter, which is then as good as the one that is stored. */
static void append_name(const struct result *result, const struct end *end, struct text *text)
{
    if (vertex_names_numeric(result_names(result))) {
        text_append(text, end->name, end->name_size);
    } else {
        text_append_json_string(text, end->name, end->name_size);
    }
}

static void print_plain(const struct result *result, const struct end *source,
                        const struct end *target, struct text *text)
{
    result_append_distance(result, source->row, target->row, text);
    if (text->size == 4 && memcmp(text->bytes, "null", 4) == 0) {
        text_clear(text);
        text_append_string(text, "unreachable");
    }
    text_append_char(text, '\n');
}

static void print_object(const struct result *result, const struct end *source,
                         const struct end *target, struct text *text)
{
    text_append_string(text, "{\"source\":");
    append_name(result, source, text);
    text_append_string(text, ",\"target\":");
    append_name(result, target, text);
    text_append_string(text, ",\"distance\":");
    result_append_distance(result, source->row, target->row, text);
    text_append_string(text, "}\n");
}

static void serve_one(struct exchange *exchange)
{
    const struct result *result = exchange->result;
    const bool plain = exchange->offer == 1;
    struct text *text = &exchange->line;
    struct problem problem;
    struct end source;
    struct end target;

    if (find(exchange, "source", &source, &problem) != STATUS_OK ||
        find(exchange, "target", &target, &problem) != STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    result_expect_distance(result, source.row, target.row);
    text_clear(text);
    if (plain) {
        print_plain(result, &source, &target, text);
        exchange_answer_small(exchange, "text", "text/plain", text);
    } else {
        print_object(result, &source, &target, text);
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
