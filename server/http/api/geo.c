#include "server/http/api/geo.h"

#include "proto/write/writer.h"
#include "server/store/graph_file.h"

#include <inttypes.h>
#include <stdio.h>

void geo_note_damage(const struct http_context *http_context, const char *graph_id)
{
    const int folder = store_graph_folder(http_context->store);
    struct vertex_names *names = NULL;

    if (graph_file_read_names(folder, graph_id, &names) == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(http_context->scheduler, graph_id);
    } else {
        scheduler_note_damaged_coordinates(http_context->scheduler, graph_id);
    }
    vertex_names_destroy(names);
}

enum status geo_borrow(const struct request *request, struct geo *geo, struct problem *reterr)
{
    const char *graph_id = result_graph_id(request->result);
    struct coordinates_cache *cache = request->http_context->coordinates;
    const enum status status = coordinates_cache_borrow(cache, graph_id, &geo->graph, reterr);

    if (status == STATUS_CORRUPT) {
        geo_note_damage(request->http_context, graph_id);
    }
    geo->cache = status == STATUS_OK ? cache : NULL;
    return status;
}

void geo_give_back(struct geo *geo)
{
    if (geo->cache != NULL) {
        coordinates_cache_give_back(geo->cache, geo->graph);
    }
    *geo = (struct geo){0};
}

bool geo_tag(struct request *request, const struct geo *geo, const char *representation)
{
    char name[24];

    snprintf(name, sizeof(name), "%s-%08" PRIx32, representation, (uint32_t)geo->graph->info.tag);
    return request_tag(request, name);
}

bool geo_has(const struct geo *geo, uint32_t row)
{
    return coordinates_has(geo->graph->coordinates, row);
}

void geo_append_position(const struct geo *geo, uint32_t row, struct text *text)
{
    const struct coordinates *coordinates = geo->graph->coordinates;

    text_append_char(text, '[');
    writer_append_real(text, coordinates->x[row], false);
    text_append_char(text, ',');
    writer_append_real(text, coordinates->y[row], false);
    text_append_char(text, ']');
}

void geo_append_point(const struct geo *geo, uint32_t row, struct text *text)
{
    text_append_string(text, "{\"type\":\"Feature\",\"geometry\":");
    if (geo_has(geo, row)) {
        text_append_string(text, "{\"type\":\"Point\",\"coordinates\":");
        geo_append_position(geo, row, text);
        text_append_char(text, '}');
    } else {
        text_append_string(text, "null");
    }
    text_append_string(text, ",\"properties\":{\"vertex\":");
    writer_append_vertex(text, geo->graph->names, row);
    text_append_char(text, ',');
}
