#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/api/geo.h"

#include <math.h>
#include <string.h>

#define ASK_FOR "Send either source= (k= is optional), or lon= and lat=, or x= and y=."

enum status serve_coordinates_put(struct request *request, struct call *call,
                                  struct problem *reterr)
{
    (void)reterr;
    call->coordinates.document = request->document;
    request->document = (struct text){0};
    call->coordinates.share = upload_memory_move(&request->share);
    return STATUS_OK;
}

/* Appends a row, whose number is stream->position, if its vertex has coordinates. */
static bool make_row(struct stream *stream, struct text *text)
{
    const struct geo *geo = (void *)stream->context;
    const struct coordinates *coordinates = geo->graph->coordinates;
    const uint32_t row = (uint32_t)stream->position;
    if (row == 0) {
        text_append_string(text, coordinates->is_plane ? "vertex,x,y\n" : "vertex,lon,lat\n");
    }
    if (row == coordinates->count) {
        return false;
    }
    stream->position++;
    if (geo_has(geo, row)) {
        writer_append_field(text, geo->graph->names, row);
        text_append_char(text, ',');
        geo_append_position(geo, row, ",", text);
        text_append_char(text, '\n');
    }
    return true;
}

static enum status open_places(struct stream *stream, struct problem *reterr)
{
    struct geo *geo = (void *)stream->context;
    STATUS_TRY(geo_borrow(stream->request, stream->request->call->graph_id, geo, reterr));
    geo_print_etag(geo, stream->etag);
    return STATUS_OK;
}

const struct stream_kind serve_coordinates = {.representation = "csv",
                                              .context_size = sizeof(struct geo),
                                              .open = open_places,
                                              .close = geo_give_back,
                                              .make = make_row};

struct place {
    bool is_plane;
    double x;
    double y;
};

/* Reads the parameters lon and lat, or x and y; refuses the other pair and k. */
static enum status read_place(const struct request *request, struct place *ret_place,
                              struct problem *reterr)
{
    static const char *const names[2][2] = {{"lon", "lat"}, {"x", "y"}};
    const bool is_plane = query_value(&request->query, "x") != NULL;
    const char *other = query_value(&request->query, "k");
    double numbers[2];
    for (size_t i = 0; i < 2; i++) {
        const char *name = names[is_plane][i];
        other = other != NULL ? other : query_value(&request->query, names[!is_plane][i]);
        if (query_value(&request->query, name) == NULL) {
            return problem_refuse(reterr, STATUS_BAD_PARAMETER, ASK_FOR,
                                  "The parameter source or %s is missing.", name);
        }
        numbers[i] = query_real(&request->query, name, 0);
    }
    if (other != NULL) {
        return problem_refuse(reterr, STATUS_BAD_PARAMETER, ASK_FOR,
                              "A query by position takes only lon and lat, or only x and y.");
    }
    if (!is_plane && !coordinates_are_degrees(numbers[0], numbers[1])) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "lon must be from -180 to 180 and lat from -90 to 90.");
    }
    if (fabs(numbers[0]) > COORDINATES_LIMIT || fabs(numbers[1]) > COORDINATES_LIMIT) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "x and y must be from -1e100 to 1e100.");
    }
    *ret_place = (struct place){is_plane, numbers[0], numbers[1]};
    return STATUS_OK;
}

static enum status find_vertex(const struct coordinates *coordinates, const struct place *place,
                               uint32_t *ret_row, double *ret_distance, struct problem *reterr)
{
    if (place->is_plane != coordinates->is_plane) {
        return problem_refuse(reterr, STATUS_BAD_PARAMETER,
                              place->is_plane ? "Send lon= and lat=." : "Send x= and y=.",
                              place->is_plane
                                  ? "The graph has lon and lat coordinates, not x and y."
                                  : "The graph has x and y coordinates, not lon and lat.");
    }
    if (!coordinates_nearest(coordinates, place->x, place->y, ret_row, ret_distance)) {
        return problem_refuse(reterr, STATUS_NO_COORDINATES, "Upload coordinates with PUT.",
                              "No vertex of the graph has coordinates.");
    }
    return STATUS_OK;
}

struct nearby {
    struct geo geo; /* must be the first member, because geo_give_back takes a struct geo */
    uint32_t row;
    double distance;
};

static enum status open_nearby(struct stream *stream, struct problem *reterr)
{
    const struct request *request = stream->request;
    struct nearby *nearby = (void *)stream->context;
    struct geo *geo = &nearby->geo;
    struct place place = {0};
    STATUS_TRY(read_place(request, &place, reterr));
    STATUS_TRY(geo_borrow(request, request->call->graph_id, geo, reterr));
    geo_print_etag(geo, stream->etag);
    stream->codings = 0;
    if (request->offer == GEO_OFFER) {
        memcpy(stream->representation, "geo", sizeof("geo"));
    }
    return find_vertex(geo->graph->coordinates, &place, &nearby->row, &nearby->distance, reterr);
}

static bool make_nearby(struct stream *stream, struct text *text)
{
    const struct nearby *nearby = (void *)stream->context;
    const struct geo *geo = &nearby->geo;
    const double distance = nearby->distance;
    const bool is_geo = stream->request->offer == GEO_OFFER;
    const bool is_plane = geo->graph->coordinates->is_plane;
    if (is_geo) {
        geo_append_point(geo, nearby->row, text);
    } else {
        text_append_string(text, "{\"vertex\":");
        writer_append_vertex(text, geo->graph->names, nearby->row);
        text_append_string(text, is_plane ? ",\"x\":" : ",\"lon\":");
        geo_append_position(geo, nearby->row, is_plane ? ",\"y\":" : ",\"lat\":", text);
        text_append_char(text, ',');
    }
    text_append_string(text, is_plane ? "\"distance\":" : "\"metres\":");
    /* Round to millimetres, because no survey is more exact. */
    writer_append_real(text, is_plane ? distance : round(distance * 1000) / 1000, false);
    text_append_string(text, is_geo ? "}}\n" : "}\n");
    return false;
}

const struct stream_kind serve_coordinates_nearest = {.representation = "nearest",
                                                      .context_size = sizeof(struct nearby),
                                                      .open = open_nearby,
                                                      .close = geo_give_back,
                                                      .make = make_nearby};
