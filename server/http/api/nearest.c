#include "server/http/api/serve.h"

#include "proto/nearest.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/api/rectangle.h"
#include "server/http/api/slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum k of a query with many sources. */
#define COUNT_LIMIT 1000

/* A search for the targets nearest to each source, one source after another. */
struct search {
    struct slice sources; /* for GET: only the vertex of the query, even if it is the target */
    struct slice targets; /* for GET: all vertices */
    bool is_list;         /* the request is a POST */
    bool is_target;
    struct rectangle rectangle;
    char *cells; /* copy of the current source's distances, if they are not contiguous */
    struct nearest_query query; /* query of the current source */
    struct nearest nearest;
    enum { STAGE_ROW, STAGE_SEARCH, STAGE_PRINT } stage;
    size_t item;    /* next item to print: vertices, then distances */
    struct geo geo; /* coordinates of a GeoJSON answer */
};

static void close_search(void *context)
{
    struct search *search = context;
    rectangle_close(&search->rectangle);
    slice_finish(&search->sources);
    slice_finish(&search->targets);
    nearest_finish(&search->nearest);
    geo_give_back(&search->geo);
    free(search->cells);
}

/* Starts the search for the source at this index, once its distances are computed. */
static enum status begin_source(struct search *search, uint32_t index)
{
    struct nearest_query *query = &search->query;
    const struct axis *cells = &search->rectangle.cells;
    const size_t size = kind_size(query->kind);
    const char *row;
    STATUS_TRY(rectangle_row(&search->rectangle, index, (const void **)&row));
    if (row == NULL) {
        return STATUS_OK;
    }
    query->distances = cells->list != NULL ? search->cells : row + cells->first * size;
    for (uint32_t i = 0; cells->list != NULL && i < cells->count; i++) {
        memcpy(search->cells + i * size, row + cells->list[i] * size, size);
    }
    search->stage = STAGE_SEARCH;
    search->item = 0;
    return nearest_begin(&search->nearest, query);
}

static void append_distance(const struct search *search, uint32_t index, struct text *text)
{
    const enum kind kind = search->query.kind;
    writer_append_distance(text, kind,
                           (const char *)search->query.distances + index * kind_size(kind));
}

/* Appends the next vertex or distance of a source. Returns false after the last. */
static bool append_item(struct search *search, const struct vertex_names *names, uint32_t index,
                        struct text *text)
{
    const uint32_t *rows = search->nearest.rows;
    const size_t count = search->nearest.count;
    const size_t item = search->item;
    if (item == 0) {
        text_append_string(text, !search->is_list ? "" : index == 0 ? "{\"nearest\":[" : ",");
        text_append_string(text, search->is_target ? "{\"target\":" : "{\"source\":");
        writer_append_vertex(text, names, axis_at(&search->sources.axis, index));
        text_append_string(text, ",\"vertices\":[");
    }
    text_append(text, ",", item % (count + (count == 0)) > 0);
    if (item < count) {
        writer_append_vertex(text, names, axis_at(&search->targets.axis, rows[item]));
    } else if (item < 2 * count) {
        append_distance(search, rows[item - count], text);
    }
    search->item += count > 0;
    if (search->item == count) {
        text_append_string(text, "],\"distances\":[");
    }
    if (search->item < 2 * count) {
        return true;
    }
    text_append_string(text, search->is_list ? "]}" : "]}\n");
    return false;
}

/* Appends the next vertex as a GeoJSON feature. Returns false after the last. */
static bool append_feature(struct search *search, struct text *text)
{
    const size_t item = search->item++;
    if (item == 0) {
        text_append_string(text, "{\"type\":\"FeatureCollection\",\"features\":[");
    }
    if (item == search->nearest.count) {
        text_append_string(text, "]}\n");
        return false;
    }
    const uint32_t row = search->nearest.rows[item];
    text_append(text, ",", item > 0);
    geo_append_point(&search->geo, row, text);
    text_append_string(text, "\"distance\":");
    append_distance(search, row, text);
    text_append_string(text, "}}");
    return true;
}

/* Appends the next item of an answer. stream->position is the index of the source. */
static bool make_nearest(struct stream *stream, struct text *text)
{
    struct search *search = (void *)stream->context;
    const struct vertex_names *names = result_names(stream->result);
    const uint32_t index = (uint32_t)stream->position;
    if (index == search->sources.axis.count) {
        text_append_string(text, !search->is_list ? ""
                                 : index == 0     ? "{\"nearest\":[]}\n"
                                                  : "]}\n");
        return false;
    }
    if (search->stage == STAGE_ROW) {
        return stream_check(stream, begin_source(search, index));
    }
    if (search->stage == STAGE_SEARCH) {
        search->stage = nearest_step(&search->nearest) ? STAGE_PRINT : STAGE_SEARCH;
    } else if (search->geo.graph != NULL ? !append_feature(search, text)
                                         : !append_item(search, names, index, text)) {
        nearest_finish(&search->nearest);
        search->stage = STAGE_ROW;
        stream->position++;
    }
    return true;
}

static enum status open_rectangle(struct search *search, const struct result *result)
{
    const struct axis *sources = &search->sources.axis;
    const struct axis *targets = &search->targets.axis;
    const size_t size = kind_size(result_kind(result));
    STATUS_TRY(search->is_target
                   ? rectangle_open_columns(&search->rectangle, result, targets, sources)
                   : rectangle_open(&search->rectangle, result, sources, targets));
    if (search->rectangle.cells.list != NULL) {
        search->cells = malloc((targets->count + (size_t)1) * size);
    }
    search->query.kind = result_kind(result);
    search->query.vertex_count = targets->count;
    return search->rectangle.cells.list == NULL || search->cells != NULL ? STATUS_OK
                                                                         : STATUS_NO_MEMORY;
}

/* Opens the answer to /within, limited by max, or to /nearest, limited by k. */
static enum status open_vertex(struct stream *stream, struct problem *reterr)
{
    const struct query *query = &stream->request->query;
    const struct vertex_names *names = result_names(stream->result);
    const char *source = query_value(query, "source");
    const char *target = query_value(query, "target");
    const char *vertex = source != NULL ? source : target;
    const double within = query_real(query, "max", INFINITY);
    struct search *search = (void *)stream->context;
    if ((source == NULL) == (target == NULL)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "Exactly one of the parameters source and target must be given.");
    }
    STATUS_TRY(slice_add(&search->sources, names, vertex, strlen(vertex), reterr));
    slice_all(&search->targets, names);
    search->is_target = target != NULL;
    STATUS_TRY(geo_borrow_for_stream(stream, &search->geo, reterr));
    STATUS_TRY(open_rectangle(search, stream->result));
    search->query.source = search->sources.list[0];
    search->query.count =
        query_value(query, "max") != NULL ? UINT32_MAX : (uint32_t)query_integer(query, "k", 1);
    /* Round the bound to float, so that max=0.3 includes a float that prints as 0.3. */
    search->query.within = search->query.kind == KIND_F4 ? (double)(float)within : within;
    return STATUS_OK;
}

const struct stream_kind serve_within = {.representation = "near",
                                         .context_size = sizeof(struct search),
                                         .open = open_vertex,
                                         .close = close_search,
                                         .make = make_nearest};

static void answer_vertex(struct request *request)
{
    stream_answer(request, &serve_within);
}

static void answer_position(struct request *request)
{
    stream_answer(request, &serve_coordinates_nearest);
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
        request_find_graph(request, answer_position);
    } else if (has_place(request)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER,
                            "source cannot be combined with a position.",
                            "Omit source, or omit all of lon, lat, x and y.");
    } else {
        request_find_result(request, answer_vertex);
    }
}

static enum status open_lists(struct stream *stream, struct problem *reterr)
{
    static const char *const keys[] = {"sources", "targets", "k", NULL};
    const struct request *request = stream->request;
    const double limit = (double)request->http_context->config->json_cell_limit;
    struct search *search = (void *)stream->context;
    struct slice *const slices[] = {&search->sources, &search->targets};
    int64_t count = 1;
    STATUS_TRY(slice_scan_object(slices, keys, request, &count, reterr));
    if (count < 1 || count > COUNT_LIMIT) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "k must be an integer from 1 to %d.",
                           COUNT_LIMIT);
    }
    const double cells = (double)search->sources.axis.count * (double)count;
    if (cells > limit) {
        return problem_refuse_limit(
            reterr, STATUS_TOO_LARGE, limit, cells, "Send fewer sources or a smaller k.",
            "The response would have more distances than the limit for JSON allows.");
    }
    search->is_list = true;
    /* Exclude no vertex: a source that is also a target is its own nearest target. */
    search->query =
        (struct nearest_query){.source = UINT32_MAX, .count = (uint32_t)count, .within = INFINITY};
    return open_rectangle(search, stream->result);
}

const struct stream_kind serve_nearest_targets = {.context_size = sizeof(struct search),
                                                  .open = open_lists,
                                                  .close = close_search,
                                                  .make = make_nearest};
