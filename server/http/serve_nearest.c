#include "server/http/serve.h"

#include "proto/nearest.h"
#include "proto/number.h"
#include "proto/writer.h"
#include "server/http/preference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const offers[] = {"application/json", NULL};

static void append_answer(struct text *text, const struct result *result, uint32_t source,
                          const struct neighbour *neighbours, size_t count)
{
    text_append_string(text, "{\"source\":");
    writer_append_vertex(text, result_names(result), source);
    text_append_string(text, ",\"vertices\":[");
    for (size_t i = 0; i < count; i++) {
        text_append(text, ",", i > 0);
        writer_append_vertex(text, result_names(result), neighbours[i].row);
    }
    text_append_string(text, "],\"distances\":[");
    for (size_t i = 0; i < count; i++) {
        text_append(text, ",", i > 0);
        result_append_distance(result, source, neighbours[i].row, text);
    }
    text_append_string(text, "]}\n");
}

/* count and within are those of the query. */
static void answer(struct exchange *exchange, uint32_t count, double within)
{
    const struct result *result = exchange->result;
    const char *source = query_value(&exchange->query, "source");
    struct nearest_query query = {
        .kind = result_kind(result),
        .vertex_count = result_vertex_count(result),
        .count = count,
        /* As near as it is written: 0.3 is to reach a float that reads 0.3. */
        .within = result_kind(result) == KIND_F4 ? (double)(float)within : within,
    };
    struct neighbour *neighbours = NULL;
    struct text text = {0};
    struct problem problem;
    size_t found = 0;

    if (result_find_row(result, source, strlen(source), &query.source, &problem) != STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    if (exchange_not_modified(exchange, "near")) {
        return;
    }
    query.distances = result_distances(result, query.source);
    if (query.distances == NULL) {
        problem_set(&problem, STATUS_CORRUPT, "The stored result is damaged.");
        exchange_refuse(exchange, &problem);
        return;
    }
    if (nearest_find(&query, &neighbours, &found) == STATUS_OK) {
        append_answer(&text, result, query.source, neighbours, found);
    } else {
        text.failed = true;
    }
    free(neighbours);
    exchange_answer_text(exchange, MHD_HTTP_OK, offers[0], &text);
}

static enum status check(const struct exchange *exchange, struct problem *reterr)
{
    size_t offer;

    if (query_value(&exchange->query, "source") == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter source is missing.");
    }
    if (preference_choose(exchange_request_header(exchange, "Accept"), offers, &offer)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE, "Vertices are not answered in such a form.");
    problem_hint(reterr, "Answered: %s.", offers[0]);
    return STATUS_NOT_ACCEPTABLE;
}

/* ---- The k nearest ---- */

static enum status take_count(const struct exchange *exchange, uint32_t *ret_count,
                              struct problem *reterr)
{
    int64_t count = 1;
    enum status status = query_integer(&exchange->query, "k", 1, UINT32_MAX, &count, reterr);

    *ret_count = (uint32_t)count;
    return status;
}

static void serve_count(struct exchange *exchange)
{
    struct problem problem;
    uint32_t count;

    if (take_count(exchange, &count, &problem) == STATUS_OK) {
        answer(exchange, count, INFINITY);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

void serve_nearest(struct exchange *exchange)
{
    struct problem problem;
    uint32_t count;

    if (check(exchange, &problem) == STATUS_OK &&
        take_count(exchange, &count, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve_count);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

/* ---- All within a distance ---- */

static enum status take_distance(const struct exchange *exchange, double *ret_distance,
                                 struct problem *reterr)
{
    const char *text = query_value(&exchange->query, "max");

    if (text == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter max is missing.");
    }
    if (!number_parse_real(text, strlen(text), ret_distance)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "max is a distance, not \"%s\".", text);
    }
    return STATUS_OK;
}

static void serve_distance(struct exchange *exchange)
{
    struct problem problem;
    double within;

    if (take_distance(exchange, &within, &problem) == STATUS_OK) {
        answer(exchange, UINT32_MAX, within);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

void serve_nearest_within(struct exchange *exchange)
{
    struct problem problem;
    double within;

    if (check(exchange, &problem) == STATUS_OK &&
        take_distance(exchange, &within, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve_distance);
    } else {
        exchange_refuse(exchange, &problem);
    }
}
