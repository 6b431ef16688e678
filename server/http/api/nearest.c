#include "server/http/api/serve.h"

#include "proto/nearest.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/api/rectangle.h"
#include "server/http/transport/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The stages of an answer. */
enum stage { STAGE_ROW, STAGE_SEARCH, STAGE_PRINT };

struct found {
    enum stage stage;
    struct nearest_query query; /* its distances lie in held, in column, or in the file */
    struct result_rows held;
    bool is_target;             /* the distances lead to the vertex of the query: */
    struct rectangle rectangle; /* its column, */
    char *column;               /* and what is read of it, */
    uint32_t filled;            /* so many rows */
    struct nearest nearest;
    struct geo geo; /* in GeoJSON */
};

static void destroy_found(void *context)
{
    struct found *found = context;

    search_pool_finish_rows(&found->held);
    rectangle_close(&found->rectangle);
    free(found->column);
    geo_give_back(&found->geo);
    nearest_finish(&found->nearest);
    free(found);
}

/* Rows of the column that are read in one step. */
#define ROWS_PER_STEP 1024

static enum status open_column(struct found *found, const struct result *result)
{
    const struct axis rows = {NULL, 0, found->query.vertex_count};
    const struct axis column = {NULL, found->query.source, 1};

    found->column = malloc((size_t)rows.count * kind_size(found->query.kind));
    return found->column == NULL ? STATUS_NO_MEMORY
                                 : rectangle_open(&found->rectangle, result, &rows, &column);
}

/* Reads the next rows of the column; the distances are there with the last one. */
static enum status read_column(struct found *found)
{
    const size_t size = kind_size(found->query.kind);

    for (int i = 0; i < ROWS_PER_STEP && found->filled < found->query.vertex_count; i++) {
        const void *row;

        STATUS_TRY(rectangle_row(&found->rectangle, found->filled, &row));
        if (row == NULL) {
            return STATUS_OK;
        }
        memcpy(found->column + found->filled++ * size,
               (const char *)row + axis_at(&found->rectangle.cells, 0) * size, size);
    }
    if (found->filled == found->query.vertex_count) {
        found->query.distances = found->column;
    }
    return STATUS_OK;
}

/* Takes the search a step further. */
static enum status advance_search(struct found *found, const struct result *result)
{
    if (found->stage == STAGE_ROW) {
        STATUS_TRY(found->is_target
                       ? read_column(found)
                       : result_distances(result, 0, &found->held, &found->query.distances));
        if (found->query.distances != NULL) {
            STATUS_TRY(nearest_begin(&found->nearest, &found->query));
            found->stage = STAGE_SEARCH;
        }
    } else if (nearest_step(&found->nearest)) {
        found->stage = STAGE_PRINT;
    }
    return STATUS_OK;
}

/* Appends the distance to a vertex found. */
static void append_distance(const struct found *found, uint32_t row, struct text *text)
{
    const enum kind kind = found->query.kind;

    writer_append_distance(text, kind,
                           (const char *)found->query.distances + row * kind_size(kind));
}

/* position counts vertices, then distances. */
static bool append_neighbour(struct stream *stream, const struct found *found, struct text *text)
{
    const struct vertex_names *names = result_names(stream->result);
    const uint32_t *rows = found->nearest.rows;
    const size_t count = found->nearest.count;
    const uint64_t at = stream->position;

    if (at == 0) {
        text_append_string(text, found->is_target ? "{\"target\":" : "{\"source\":");
        writer_append_vertex(text, names, found->query.source);
        text_append_string(text, ",\"vertices\":[");
    }
    text_append(text, ",", at % (count + (count == 0)) > 0);
    if (at < count) {
        writer_append_vertex(text, names, rows[at]);
    } else if (at < 2 * count) {
        append_distance(found, rows[at - count], text);
    }
    stream->position += count > 0;
    if (stream->position == count) {
        text_append_string(text, "],\"distances\":[");
    }
    if (stream->position < 2 * count) {
        return true;
    }
    text_append_string(text, "]}\n");
    return false;
}

/* The same in GeoJSON, each vertex a feature. */
static bool append_feature(struct stream *stream, const struct found *found, struct text *text)
{
    if (stream->position == 0) {
        text_append_string(text, "{\"type\":\"FeatureCollection\",\"features\":[");
    }
    if (stream->position == found->nearest.count) {
        text_append_string(text, "]}\n");
        return false;
    }
    const uint32_t row = found->nearest.rows[stream->position];

    text_append(text, ",", stream->position > 0);
    geo_append_point(&found->geo, row, text);
    text_append_string(text, "\"distance\":");
    append_distance(found, row, text);
    text_append_string(text, "}}");
    stream->position++;
    return true;
}

static bool make_nearest(struct stream *stream, struct text *text)
{
    struct found *found = stream->plan.context;

    if (found->stage == STAGE_PRINT) {
        return found->geo.graph != NULL ? append_feature(stream, found, text)
                                        : append_neighbour(stream, found, text);
    }
    const enum status status = advance_search(found, stream->result);

    return status == STATUS_OK || stream_fail(stream, text, status);
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

void serve_within(struct request *request)
{
    const struct result *result = request->result;
    const char *source = query_value(&request->query, "source");
    const char *target = query_value(&request->query, "target");
    const char *vertex = source != NULL ? source : target;
    struct nearest_query query = {
        .kind = result_kind(result),
        .vertex_count = result_vertex_count(result),
    };
    struct problem problem;
    struct found *found;

    if ((source == NULL) == (target == NULL)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER,
                            "One of the parameters source and target is given.", NULL);
        return;
    }
    if (parse_limit(request, &query, &problem) != STATUS_OK ||
        vertex_names_require(result_names(result), vertex, strlen(vertex), &query.source,
                             &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    const bool is_geo = request->offer == GEO_OFFER;

    found = calloc(1, sizeof(*found));
    if (found == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
        return;
    }
    if (is_geo &&
        geo_borrow(request, result_graph_id(result), &found->geo, &problem) != STATUS_OK) {
        destroy_found(found);
        request_refuse(request, &problem);
        return;
    }
    if (is_geo ? geo_tag(request, &found->geo, "near") : request_tag(request, "near")) {
        destroy_found(found);
        return;
    }
    /* As near as it is written: 0.3 is to reach a float that reads 0.3. */
    query.within = query.kind == KIND_F4 ? (double)(float)query.within : query.within;
    found->query = query;
    found->held.axis = (struct axis){NULL, query.source, 1};
    found->is_target = target != NULL;
    if (found->is_target && open_column(found, result) != STATUS_OK) {
        destroy_found(found);
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
        return;
    }
    stream_answer(request,
                  &(struct stream_plan){.media_type = is_geo ? GEO_TYPE : "application/json",
                                        .context = found,
                                        .destroy = destroy_found,
                                        .make = make_nearest});
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

void serve_nearest(struct request *request)
{
    if (query_value(&request->query, "source") == NULL) {
        serve_coordinates_nearest(request);
    } else if (has_place(request)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER, "source and a place are two questions.",
                            "Leave source out, or lon and lat, or x and y.");
    } else {
        request_find_result(request, serve_within);
    }
}
