#include "server/http/api/serve.h"

#include "proto/matrix.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/request/headers.h"
#include "server/http/transport/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const offers[] = {"application/json", NULL};

struct found {
    uint32_t source;
    uint32_t *rows;
    size_t count;
};

static void destroy_found(void *context)
{
    struct found *found = context;

    free(found->rows);
    free(found);
}

/* position counts vertices, then distances. */
static bool make_neighbour(struct stream *stream, struct text *text)
{
    const struct found *found = stream->context;
    const struct vertex_names *names = result_names(stream->result);
    const uint64_t at = stream->position;

    if (at == 0) {
        text_append_string(text, "{\"source\":");
        writer_append_vertex(text, names, found->source);
        text_append_string(text, ",\"vertices\":[");
    }
    text_append(text, ",", at % (found->count + (found->count == 0)) > 0);
    if (at < found->count) {
        writer_append_vertex(text, names, found->rows[at]);
    } else if (at < 2 * found->count) {
        result_append_distance(stream->result, found->source, found->rows[at - found->count], text);
    }
    stream->position += found->count > 0;
    if (stream->position == found->count) {
        text_append_string(text, "],\"distances\":[");
    }
    if (stream->position < 2 * found->count) {
        return true;
    }
    text_append_string(text, "]}\n");
    return false;
}

/* count and within are those of the query. */
static void answer(struct request *request, uint32_t count, double within)
{
    const struct result *result = request->result;
    const char *source = query_value(&request->query, "source");
    struct nearest_query query = {
        .kind = result_kind(result),
        .vertex_count = result_vertex_count(result),
        .count = count,
        /* As near as it is written: 0.3 is to reach a float that reads 0.3. */
        .within = result_kind(result) == KIND_F4 ? (double)(float)within : within,
    };
    struct problem problem;
    struct found *found;

    if (result_find_row(result, source, strlen(source), &query.source, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    if (request_not_modified(request, "near")) {
        return;
    }
    query.distances = result_distances(result, query.source);
    if (query.distances == NULL) {
        request_refuse_with(request, STATUS_CORRUPT, "The stored result is damaged.", NULL);
        return;
    }
    found = calloc(1, sizeof(*found));
    if (found == NULL || matrix_nearest(&query, &found->rows, &found->count) != STATUS_OK) {
        free(found);
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
        return;
    }
    found->source = query.source;
    stream_answer_context(request, offers[0], found, destroy_found, make_neighbour, 0);
}

static enum status check(const struct request *request, struct problem *reterr)
{
    size_t offer;

    if (query_value(&request->query, "source") == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter source is missing.");
    }
    if (header_choose_type(request_header(request, "Accept"), offers, &offer)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE, "Vertices are not answered in such a form.");
    problem_hint(reterr, "Answered: %s.", offers[0]);
    return STATUS_NOT_ACCEPTABLE;
}

/* ---- The k nearest ---- */

static enum status take_count(const struct request *request, uint32_t *ret_count,
                              struct problem *reterr)
{
    int64_t count = 1;
    enum status status = query_integer(&request->query, "k", 1, UINT32_MAX, &count, reterr);

    *ret_count = (uint32_t)count;
    return status;
}

static void serve_count(struct request *request)
{
    struct problem problem;
    uint32_t count;

    if (take_count(request, &count, &problem) == STATUS_OK) {
        answer(request, count, INFINITY);
    } else {
        request_refuse(request, &problem);
    }
}

void serve_nearest(struct request *request)
{
    struct problem problem;
    uint32_t count;

    if (check(request, &problem) == STATUS_OK &&
        take_count(request, &count, &problem) == STATUS_OK) {
        request_find_result(request, serve_count);
    } else {
        request_refuse(request, &problem);
    }
}

/* ---- All within a distance ---- */

static enum status take_distance(const struct request *request, double *ret_distance,
                                 struct problem *reterr)
{
    const char *text = query_value(&request->query, "max");

    if (text == NULL) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter max is missing.");
    }
    if (!number_parse_real(text, strlen(text), ret_distance)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "max is a distance, not \"%s\".", text);
    }
    return STATUS_OK;
}

static void serve_distance(struct request *request)
{
    struct problem problem;
    double within;

    if (take_distance(request, &within, &problem) == STATUS_OK) {
        answer(request, UINT32_MAX, within);
    } else {
        request_refuse(request, &problem);
    }
}

void serve_nearest_within(struct request *request)
{
    struct problem problem;
    double within;

    if (check(request, &problem) == STATUS_OK &&
        take_distance(request, &within, &problem) == STATUS_OK) {
        request_find_result(request, serve_distance);
    } else {
        request_refuse(request, &problem);
    }
}
