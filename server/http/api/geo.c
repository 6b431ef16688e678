#include "server/http/api/geo.h"

#include "proto/write/writer.h"
#include "server/store/graph_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum status geo_borrow(const struct request *request, const char *graph_id, struct geo *geo,
                       struct problem *reterr)
{
    const struct http_context *http_context = request->http_context;
    struct vertex_names *names = NULL;
    const enum status status =
        graph_cache_borrow_places(http_context->graph_cache, graph_id, &geo->graph, reterr);
    if (status == STATUS_CORRUPT &&
        graph_file_read_names(store_folder(http_context->store, STORE_GRAPHS), graph_id, &names) ==
            STATUS_CORRUPT) {
        scheduler_note_damaged_graph(http_context->scheduler, graph_id);
    }
    vertex_names_destroy(names);
    geo->cache = status == STATUS_OK ? http_context->graph_cache : NULL;
    return status;
}

void geo_give_back(void *context)
{
    struct geo *geo = context;
    if (geo->cache != NULL) {
        graph_cache_give_back(geo->cache, geo->graph);
    }
    *geo = (struct geo){0};
}

enum status geo_borrow_for_stream(struct stream *stream, struct geo *geo, struct problem *reterr)
{
    const size_t size = strlen(stream->representation);
    if (stream->request->offer != GEO_OFFER) {
        return STATUS_OK;
    }
    STATUS_TRY(geo_borrow(stream->request, result_graph_id(stream->result), geo, reterr));
    snprintf(stream->representation + size, sizeof(stream->representation) - size, "-%08" PRIx32,
             (uint32_t)geo->graph->info.tag);
    return STATUS_OK;
}

void geo_print_etag(const struct geo *geo, char ret_etag[GEO_ETAG_SIZE])
{
    snprintf(ret_etag, GEO_ETAG_SIZE, "%016" PRIx64, geo->graph->info.tag);
}

bool geo_has(const struct geo *geo, uint32_t row)
{
    return coordinates_has(geo->graph->coordinates, row);
}

void geo_append_position(const struct geo *geo, uint32_t row, const char *separator,
                         struct text *text)
{
    writer_append_real(text, geo->graph->coordinates->x[row], false);
    text_append_string(text, separator);
    writer_append_real(text, geo->graph->coordinates->y[row], false);
}

bool geo_crosses(const struct geo *geo, uint32_t from, uint32_t to)
{
    const struct coordinates *coordinates = geo->graph->coordinates;
    return !coordinates->is_plane && fabs(coordinates->x[from] - coordinates->x[to]) > 180;
}

void geo_append_crossing(const struct geo *geo, uint32_t from, uint32_t to, struct text *text)
{
    const double *x = geo->graph->coordinates->x;
    const double *y = geo->graph->coordinates->y;
    const double width = 360 - fabs(x[from] - x[to]);
    const double share = width > 0 ? (180 - fabs(x[from])) / width : 0;
    const double latitude = y[from] + share * (y[to] - y[from]);
    text_append_string(text, x[from] > 0 ? "[180," : "[-180,");
    writer_append_real(text, latitude, false);
    text_append_string(text, x[from] > 0 ? "]],[[-180," : "]],[[180,");
    writer_append_real(text, latitude, false);
    text_append_string(text, "],");
}

void geo_append_point(const struct geo *geo, uint32_t row, struct text *text)
{
    text_append_string(text, "{\"type\":\"Feature\",\"geometry\":");
    if (geo_has(geo, row)) {
        text_append_string(text, "{\"type\":\"Point\",\"coordinates\":[");
        geo_append_position(geo, row, ",", text);
        text_append_string(text, "]}");
    } else {
        text_append_string(text, "null");
    }
    text_append_string(text, ",\"properties\":{\"vertex\":");
    writer_append_vertex(text, geo->graph->names, row);
    text_append_char(text, ',');
}
