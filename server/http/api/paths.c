#include "server/http/api/serve.h"

#include "proto/path.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/api/pairs.h"

#define PAIRS_AT_ONCE 1024

struct walker {
    struct graph_cache *graph_cache;
    const struct adjacency *adjacency; /* edges, borrowed from the cache */
    struct path_finder *finder;
    struct pairs_reader reader; /* reader of the body, which outlives the answer */
    bool is_checked;            /* the body is checked and being read a second time */
    bool has_pair;              /* the path of `pair` is not found yet */
    uint32_t pair[2];           /* rows of the current source and target */
    struct result_rows rows;    /* computed row of the source, for a hierarchy */
    struct path path;           /* current path, owned by the finder */
    uint64_t item;              /* next item to print: vertices, then weights */
    bool printing;              /* the current path is being printed */
    struct geo geo;             /* coordinates of a GeoJSON answer */
    uint64_t placed;            /* number of vertices of the path that have coordinates */
    uint32_t last_placed;       /* last vertex with coordinates */
    bool is_split;              /* the line crosses the antimeridian */
};

static void close_walker(void *context)
{
    struct walker *walker = context;
    path_finder_destroy(walker->finder);
    search_pool_finish_rows(&walker->rows);
    if (walker->adjacency != NULL) {
        graph_cache_give_back(walker->graph_cache, walker->adjacency);
    }
    pairs_close(&walker->reader);
    geo_give_back(&walker->geo);
}

static enum status open_walker(struct stream *stream, struct problem *reterr)
{
    const struct http_context *http_context = stream->request->http_context;
    const char *graph_id = result_graph_id(stream->result);
    struct walker *walker = (void *)stream->context;
    walker->graph_cache = http_context->graph_cache;
    walker->rows.axis.count = 1;
    const enum status status =
        graph_cache_borrow_edges(walker->graph_cache, graph_id, &walker->adjacency, reterr);
    if (status == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(http_context->scheduler, graph_id);
        problem_hint(reterr, "Upload the graph again to repair it.");
    }
    STATUS_TRY(status);
    return path_finder_create(walker->adjacency, &walker->finder);
}

/* Appends the next vertex or weight of the path. Returns false after the last. */
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

/* Finds the path of the current pair once the distances from its source are computed. */
static enum status walk_path(struct walker *walker, const struct result *result,
                             struct problem *reterr)
{
    const void *distances;
    if (walker->rows.axis.first != walker->pair[0]) {
        walker->rows.axis.first = walker->pair[0];
        walker->rows.count = 0;
    }
    enum status status = result_distances(result, 0, &walker->rows, &distances);
    if (status == STATUS_OK && distances != NULL) {
        status = path_find(walker->finder, result_kind(result), distances, walker->pair[0],
                           walker->pair[1], &walker->path);
        walker->item = 0;
        walker->has_pair = false;
        walker->printing = true;
    }
    return problem_explain(reterr, status,
                           status == STATUS_NO_MEMORY
                               ? "There is not enough memory for the path."
                               : "The stored edges contain no path of the stored length.");
}

static void look_at_line(struct walker *walker)
{
    const struct path *path = &walker->path;
    for (uint32_t i = 0; i < path->count; i++) {
        const uint32_t row = path->vertices[i];
        if (geo_has(&walker->geo, row)) {
            walker->is_split |=
                walker->placed > 0 && geo_crosses(&walker->geo, walker->last_placed, row);
            walker->last_placed = row;
            walker->placed++;
        }
    }
}

static void append_place(struct walker *walker, uint32_t row, struct text *text)
{
    text_append(text, ",", walker->item > 0);
    if (walker->item > 0 && geo_crosses(&walker->geo, walker->last_placed, row)) {
        geo_append_crossing(&walker->geo, walker->last_placed, row, text);
    }
    text_append_char(text, '[');
    geo_append_position(&walker->geo, row, ",", text);
    text_append_char(text, ']');
    walker->last_placed = row;
    walker->item++;
}

/* Appends the next part of the path's GeoJSON feature: the positions of the vertices, then the
 * members of the JSON answer. The geometry is null if fewer than two vertices have coordinates,
 * because a line needs two. Returns false after the last part. */
static bool append_line(struct stream *stream, struct walker *walker, struct text *text)
{
    const struct path *path = &walker->path;
    const uint64_t at = stream->position++;
    if (at == 0) {
        look_at_line(walker);
        text_append_string(text, "{\"type\":\"Feature\",\"geometry\":");
        text_append_string(text, walker->placed < 2 ? "null"
                                 : walker->is_split
                                     ? "{\"type\":\"MultiLineString\",\"coordinates\":[["
                                     : "{\"type\":\"LineString\",\"coordinates\":[");
    }
    if (at < path->count && walker->placed >= 2 && geo_has(&walker->geo, path->vertices[at])) {
        append_place(walker, path->vertices[at], text);
    }
    if (at < path->count) {
        return true;
    }
    if (at == path->count) {
        walker->item = 0;
        text_append_string(text, walker->is_split ? "]]}," : walker->placed >= 2 ? "]}," : ",");
        text_append_string(text, "\"properties\":");
    }
    return append_item(text, stream->result, walker);
}

static bool make_one(struct stream *stream, struct text *text)
{
    struct walker *walker = (void *)stream->context;
    const bool is_geo = stream->request->offer == GEO_OFFER;
    if (walker->has_pair) {
        return stream_check(stream, walk_path(walker, stream->result, &stream->problem));
    }
    if (is_geo ? append_line(stream, walker, text) : append_item(text, stream->result, walker)) {
        return true;
    }
    text_append_string(text, is_geo ? "}\n" : "\n");
    return false;
}

static enum status open_pair(struct stream *stream, struct problem *reterr)
{
    struct walker *walker = (void *)stream->context;
    STATUS_TRY(serve_distances_ends(stream->request, walker->pair, reterr));
    walker->has_pair = true;
    STATUS_TRY(open_walker(stream, reterr));
    return geo_borrow_for_stream(stream, &walker->geo, reterr);
}

const struct stream_kind serve_paths_one = {.representation = "path",
                                            .context_size = sizeof(struct walker),
                                            .open = open_pair,
                                            .close = close_walker,
                                            .make = make_one};

/* Checks the next pairs. All pairs are checked before the first path is found. */
static enum status check_pairs(struct walker *walker, struct stream *stream, struct text *text)
{
    uint32_t rows[PAIRS_AT_ONCE][2];
    size_t count;
    STATUS_TRY(pairs_read_rows(&walker->reader, result_names(stream->result), PAIRS_AT_ONCE, rows,
                               &count, &stream->problem));
    if (walker->reader.ended) {
        walker->is_checked = true;
        pairs_rewind(&walker->reader);
        text_append_string(text, "{\"paths\":[");
    }
    return STATUS_OK;
}

static enum status read_pair(struct walker *walker, struct stream *stream, struct text *text)
{
    size_t count;
    STATUS_TRY(pairs_read_rows(&walker->reader, result_names(stream->result), 1, &walker->pair,
                               &count, &stream->problem));
    walker->has_pair = count > 0;
    text_append(text, ",", stream->position > 0 && count > 0);
    stream->position++;
    return STATUS_OK;
}

/* Appends the next part of the paths; stream->position is the number of the pair. If a path cannot
 * be found after the first block was sent, the connection is closed: the status cannot change. */
static bool make_paths(struct stream *stream, struct text *text)
{
    struct walker *walker = (void *)stream->context;
    enum status status = STATUS_OK;
    if (walker->printing) {
        walker->printing = append_item(text, stream->result, walker);
    } else if (walker->has_pair) {
        status = walk_path(walker, stream->result, &stream->problem);
    } else if (!walker->is_checked) {
        status = check_pairs(walker, stream, text);
    } else if (walker->reader.ended) {
        text_append_string(text, "]}\n");
        return false;
    } else {
        status = read_pair(walker, stream, text);
    }
    return stream_check(stream, status);
}

static enum status open_pairs(struct stream *stream, struct problem *reterr)
{
    struct walker *walker = (void *)stream->context;
    const struct text *body = &stream->request->document;
    pairs_open(&walker->reader, PAIRS_JSON, body->bytes, body->size);
    return open_walker(stream, reterr);
}

const struct stream_kind serve_paths_many = {.keeps_question = true,
                                             .context_size = sizeof(struct walker),
                                             .open = open_pairs,
                                             .close = close_walker,
                                             .make = make_paths};
