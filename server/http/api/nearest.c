#include "server/http/api/serve.h"

#include "proto/matrix.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/transport/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct found {
    uint32_t source;
    const unsigned char *distances; /* from it */
    struct result_rows held;
    uint32_t *rows;
    size_t count;
    struct geo geo; /* in GeoJSON */
};

static void destroy_found(void *context)
{
    struct found *found = context;

    result_rows_finish(&found->held);
    geo_give_back(&found->geo);
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
        const enum kind kind = result_kind(stream->result);

        writer_append_distance(text, kind,
                               found->distances + found->rows[at - found->count] * kind_size(kind));
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

/* The same in GeoJSON, each vertex a feature. */
static bool make_feature(struct stream *stream, struct text *text)
{
    const struct found *found = stream->context;
    const enum kind kind = result_kind(stream->result);

    if (stream->position == 0) {
        text_append_string(text, "{\"type\":\"FeatureCollection\",\"features\":[");
    }
    if (stream->position == found->count) {
        text_append_string(text, "]}\n");
        return false;
    }
    const uint32_t row = found->rows[stream->position];

    text_append(text, ",", stream->position > 0);
    geo_append_point(&found->geo, row, text);
    text_append_string(text, "\"distance\":");
    writer_append_distance(text, kind, found->distances + row * kind_size(kind));
    text_append_string(text, "}}");
    stream->position++;
    return true;
}

/* Reads the parameter max of /within, or else k of /nearest; the other does not limit. */
static enum status parse_limit(const struct request *request, struct nearest_query *query,
                               struct problem *reterr)
{
    const char *max = query_value(&request->query, "max");
    int64_t count = 1;
    enum status status = STATUS_OK;

    if (max == NULL) {
        status = query_integer(&request->query, "k", 1, UINT32_MAX, &count, reterr);
        query->count = (uint32_t)count;
        query->within = INFINITY;
        return status;
    }
    query->count = UINT32_MAX;
    if (!number_parse_real(max, strlen(max), &query->within)) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER, "max is a distance, not \"%s\".", max);
    }
    return status;
}

static void answer_neighbours(struct request *request)
{
    const struct result *result = request->result;
    const char *source = query_value(&request->query, "source");
    struct nearest_query query = {
        .kind = result_kind(result),
        .vertex_count = result_vertex_count(result),
    };
    struct problem problem;
    struct found *found;

    if (parse_limit(request, &query, &problem) != STATUS_OK ||
        result_find_row(result, source, strlen(source), &query.source, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    struct geo geo = {0};
    const bool is_geo = request->offer == GEO_OFFER;

    if (is_geo && geo_borrow(request, result_graph_id(result), &geo, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    if (is_geo ? geo_tag(request, &geo, "near") : request_tag(request, "near")) {
        geo_give_back(&geo);
        return;
    }
    /* As near as it is written: 0.3 is to reach a float that reads 0.3. */
    query.within = query.kind == KIND_F4 ? (double)(float)query.within : query.within;
    found = calloc(1, sizeof(*found));
    enum status status =
        found == NULL ? STATUS_NO_MEMORY
                      : result_distances(result, query.source, &found->held, &query.distances);
    if (status == STATUS_OK) {
        found->geo = geo;
        geo = (struct geo){0};
        found->distances = query.distances;
        found->source = query.source;
        status = matrix_nearest(&query, &found->rows, &found->count);
    }
    if (status != STATUS_OK) {
        geo_give_back(&geo);
        if (found != NULL) {
            destroy_found(found);
        }
        request_refuse_with(request, status,
                            status == STATUS_CORRUPT ? "The stored result is damaged."
                                                     : "There is no memory for the request.",
                            NULL);
        return;
    }
    stream_answer_context(request, is_geo ? GEO_TYPE : "application/json", found, destroy_found,
                          is_geo ? make_feature : make_neighbour, 0);
}

static bool has_place(const struct request *request)
{
    static const char *const names[] = {"lon", "lat", "x", "y"};
    bool has_place = false;

    for (size_t i = 0; i < 4; i++) {
        has_place |= query_value(&request->query, names[i]) != NULL;
    }
    return has_place;
}

/* A bad limit is refused before the result is looked up. */
void serve_nearest(struct request *request)
{
    struct nearest_query query;
    struct problem problem;

    if (query_value(&request->query, "source") == NULL) {
        serve_coordinates_nearest(request);
    } else if (has_place(request)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER, "source and a place are two questions.",
                            "Leave source out, or lon and lat, or x and y.");
    } else if (parse_limit(request, &query, &problem) == STATUS_OK) {
        request_find_result(request, answer_neighbours);
    } else {
        request_refuse(request, &problem);
    }
}
