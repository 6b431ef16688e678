#include "server/http/api/serve.h"

#include "proto/path.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/api/pairs.h"
#include "server/http/transport/stream.h"

#include <stdlib.h>
#include <string.h>

/* After so many edges the answer pauses and sends what is ready: they take some tens of
 * milliseconds, in which the thread serves no other connection. */
#define EDGES_AT_ONCE (UINT64_C(1) << 21)

/* The state of one streamed answer of paths. */
struct walker {
    struct graph_cache *graph_cache;
    const struct adjacency *adjacency; /* lent by it */
    struct path_finder *finder;
    struct pairs_reader reader; /* of the body, the request's, which outlives the answer */
    uint64_t edges;             /* looked at since the last pause */
    uint32_t pair[2];           /* rows of the path at hand */
    struct result_rows rows;    /* of a hierarchy: that of the source */
    struct path path;           /* the finder's */
    uint64_t item;              /* of the path to print next: its vertices, then its weights */
    bool printing;              /* more of that path is to come */
    struct geo geo;             /* in GeoJSON */
    uint64_t placed;            /* vertices printed that have a place */
};

static void destroy_walker(void *context)
{
    struct walker *walker = context;

    if (walker == NULL) {
        return;
    }
    path_finder_destroy(walker->finder);
    result_rows_finish(&walker->rows);
    if (walker->adjacency != NULL) {
        graph_cache_give_back(walker->graph_cache, walker->adjacency);
    }
    pairs_close(&walker->reader);
    geo_give_back(&walker->geo);
    free(walker);
}

static enum status create_walker(const struct request *request, struct walker **ret_walker,
                                 struct problem *reterr)
{
    const char *graph_id = result_graph_id(request->result);
    struct walker *walker = calloc(1, sizeof(*walker));
    enum status status;

    if (walker == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    walker->graph_cache = request->http_context->graph_cache;
    status = graph_cache_borrow_edges(walker->graph_cache, graph_id, &walker->adjacency, reterr);
    if (status == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(request->http_context->scheduler, graph_id);
        problem_hint(reterr, "Send the graph again: that heals it.");
    } else if (status == STATUS_OK &&
               path_finder_create(walker->adjacency, &walker->finder) != STATUS_OK) {
        status = problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    if (status != STATUS_OK) {
        destroy_walker(walker);
        return status;
    }
    *ret_walker = walker;
    return STATUS_OK;
}

/* ---- The shape of a path ---- */

/* One vertex or weight more; false when that was the last. */
static bool append_item(struct text *text, const struct result *result, struct walker *walker)
{
    const struct path *path = &walker->path;
    const uint64_t items = path->count == 0 ? 0 : 2 * (uint64_t)path->count - 1;
    const uint64_t item = walker->item;

    if (item == 0) {
        text_append_string(text, "{\"distance\":");
        result_append_distance(result, walker->pair[0], walker->pair[1], text);
        text_append_string(text, ",\"vertices\":[");
    }
    text_append(text, ",", item > 0 && item != path->count);
    if (item < path->count) {
        writer_append_vertex(text, result_names(result), path->vertices[item]);
    } else if (item < items) {
        writer_append_real(text, path->weights[item - path->count], false);
    }
    walker->item += items > 0;
    if (walker->item == path->count) {
        text_append_string(text, "],\"weights\":[");
    }
    if (walker->item < items) {
        return true;
    }
    text_append_string(text, "]}");
    return false;
}

static enum status walk(struct walker *walker, const struct result *result, struct problem *reterr)
{
    const void *distances;
    enum status status = result_distances(result, walker->pair[0], &walker->rows, &distances);

    if (status == STATUS_OK) {
        status = path_find(walker->finder, result_kind(result), distances, walker->pair[0],
                           walker->pair[1], &walker->path);
    }
    if (status == STATUS_OK) {
        walker->edges += walker->path.edges;
        walker->item = 0;
        walker->printing = true;
        return STATUS_OK;
    }
    return problem_set(reterr, status,
                       status == STATUS_NO_MEMORY
                           ? "There is no memory for the path."
                           : "The path cannot be walked on the stored edges.");
}

/* ---- One pair ---- */

static bool make_item(struct stream *stream, struct text *text)
{
    if (append_item(text, stream->result, stream->context)) {
        return true;
    }
    text_append_char(text, '\n');
    return false;
}

/* The places of the vertices, then the members that JSON has, as one feature. A line has two places
 * or more. */
static bool make_line(struct stream *stream, struct text *text)
{
    struct walker *walker = stream->context;
    const struct path *path = &walker->path;
    const uint64_t at = stream->position++;

    if (at == 0) {
        for (uint32_t i = 0; i < path->count; i++) {
            walker->placed += geo_has(&walker->geo, path->vertices[i]);
        }
        text_append_string(text, "{\"type\":\"Feature\",\"geometry\":");
        text_append_string(text, walker->placed < 2 ? "null"
                                                    : "{\"type\":\"LineString\",\"coordinates\":[");
    }
    if (at < path->count && walker->placed >= 2 && geo_has(&walker->geo, path->vertices[at])) {
        text_append(text, ",", walker->item > 0);
        text_append_char(text, '[');
        geo_append_position(&walker->geo, path->vertices[at], ",", text);
        text_append_char(text, ']');
        walker->item++;
    }
    if (at < path->count) {
        return true;
    }
    if (at == path->count) {
        walker->item = 0;
        text_append_string(text, walker->placed < 2 ? ",\"properties\":" : "]},\"properties\":");
    }
    if (append_item(text, stream->result, walker)) {
        return true;
    }
    text_append_string(text, "}\n");
    return false;
}

static enum status walk_one(const struct request *request, struct walker **ret_walker,
                            struct problem *reterr)
{
    static const char *const ends[] = {"source", "target"};
    struct walker *walker = NULL;
    uint32_t pair[2];
    enum status status = STATUS_OK;

    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        const char *name = query_value(&request->query, ends[i]);

        status = result_find_row(request->result, name, strlen(name), &pair[i], reterr);
    }
    if (status == STATUS_OK) {
        status = create_walker(request, &walker, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(walker->pair, pair, sizeof(pair));
    status = walk(walker, request->result, reterr);
    if (status != STATUS_OK) {
        destroy_walker(walker);
        return status;
    }
    *ret_walker = walker;
    return STATUS_OK;
}

void serve_paths_one(struct request *request)
{
    struct walker *walker = NULL;
    struct problem problem;

    const bool is_geo = request->offer == GEO_OFFER;
    enum status status = walk_one(request, &walker, &problem);

    if (status == STATUS_OK && is_geo) {
        status = geo_borrow(request, result_graph_id(request->result), &walker->geo, &problem);
    }
    if (status != STATUS_OK) {
        destroy_walker(walker);
        request_refuse(request, &problem);
    } else if (is_geo ? geo_tag(request, &walker->geo, "path") : request_tag(request, "path")) {
        destroy_walker(walker);
    } else {
        stream_answer_context(request, is_geo ? GEO_TYPE : "application/json", walker,
                              destroy_walker, is_geo ? make_line : make_item, 0);
    }
}

/* ---- Many pairs ---- */

enum status serve_paths_prepare(struct request *request, struct problem *reterr)
{
    return request_expect_json(request, "{\"pairs\":[[source,target],...]}",
                               request->http_context->config->pairs_limit_bytes, reterr);
}

/* position counts pairs. A path that cannot be walked ends the connection, unless it is of the
 * first block: the status was sent. */
static bool make_path(struct stream *stream, struct text *text)
{
    struct walker *walker = stream->context;
    enum status status;

    if (walker->printing) {
        walker->printing = append_item(text, stream->result, walker);
        return true;
    }
    text_append_string(text, stream->position == 0 ? "{\"paths\":[" : "");
    status = pair_rows_next(&walker->reader, result_names(stream->result), walker->pair,
                            &stream->problem);
    if (status == STATUS_OK && walker->reader.ended) {
        text_append_string(text, "]}\n");
        return false;
    }
    text_append(text, ",", stream->position > 0);
    if (status == STATUS_OK) {
        status = walk(walker, stream->result, &stream->problem);
    }
    text->failed |= status != STATUS_OK;
    stream->paused = walker->edges >= EDGES_AT_ONCE;
    walker->edges = stream->paused ? 0 : walker->edges;
    stream->position++;
    return true;
}

/* All of the body, before the status is said; then from its beginning. */
static enum status open_pairs(const struct request *request, struct walker *walker,
                              struct problem *reterr)
{
    const struct text *document = &request->document;
    struct pairs_reader *reader = &walker->reader;
    enum status status = STATUS_OK;

    pairs_open(reader, PAIRS_JSON, document->bytes, document->size);
    while (status == STATUS_OK && !reader->ended) {
        status = pair_rows_next(reader, result_names(request->result), walker->pair, reterr);
    }
    pairs_close(reader);
    pairs_open(reader, PAIRS_JSON, document->bytes, document->size);
    return status;
}

static void serve_many(struct request *request)
{
    struct walker *walker = NULL;
    struct problem problem;
    enum status status = create_walker(request, &walker, &problem);

    if (status == STATUS_OK) {
        status = open_pairs(request, walker, &problem);
    }
    if (status == STATUS_OK) {
        request_negotiate(request, false);
        request_vary(request);
        stream_answer_context(request, "application/json", walker, destroy_walker, make_path, 0);
        return;
    }
    destroy_walker(walker);
    request_refuse(request, &problem);
}

void serve_paths_many(struct request *request)
{
    struct problem problem;

    if (request_check_document(request, &problem) == STATUS_OK) {
        request_find_result(request, serve_many);
    } else {
        request_refuse(request, &problem);
    }
}
