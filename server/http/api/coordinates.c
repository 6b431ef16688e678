#include "server/http/api/serve.h"

#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/transport/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ASK_FOR "Ask for source= and k=, for lon= and lat=, or for x= and y=."

/* ---- PUT and DELETE ---- */

enum status serve_coordinates_prepare(struct request *request, struct problem *reterr)
{
    return request_expect_document(request, request->http_context->config->body_limit_bytes,
                                   reterr);
}

void serve_coordinates_put(struct request *request)
{
    struct call *call = request_create_call(request, CALL_PUT_COORDINATES);
    if (call != NULL) {
        call->coordinates.document = request->document;
        request->document = (struct text){0};
        call->coordinates.share = upload_memory_move(&request->share);
        request_call(request, request_answer_call);
    }
}

void serve_coordinates_delete(struct request *request)
{
    if (request_create_call(request, CALL_DELETE_COORDINATES) != NULL) {
        request_call(request, request_answer_call);
    }
}

/* ---- GET ---- */

/* Borrows the coordinates of the graph that the call found. False after the request is answered. */
static bool borrow_places(struct request *request, struct geo *geo)
{
    struct problem problem;
    if (request->call->status != STATUS_OK) {
        request_answer_call(request);
        return false;
    }
    if (geo_borrow(request, request->call->graph_id, geo, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return false;
    }
    return true;
}

/* The tag of an answer that depends on the coordinates alone. True after the request is answered.
 */
static bool answer_tag(struct request *request, const struct geo *geo, const char *representation)
{
    const bool is_coded = request->coding != CODING_IDENTITY;
    snprintf(request->tag, sizeof(request->tag), "\"%016" PRIx64 "-%s%s%s\"", geo->graph->info.tag,
             representation, is_coded ? "-" : "",
             is_coded ? decoder_coding_name(request->coding) : "");
    request_add_header(request, "ETag", request->tag);
    request_vary(request);
    request_add_header(request, "Cache-Control", "no-cache");
    return request_answer_condition(request);
}

/* position counts rows. */
static bool make_row(struct stream *stream, struct text *text)
{
    const struct geo *geo = stream->plan.context;
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

static void free_geo(void *context)
{
    geo_give_back(context);
    free(context);
}

static void show_csv(struct request *request)
{
    struct geo *geo = calloc(1, sizeof(*geo));
    if (geo == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
    } else if (!borrow_places(request, geo) || answer_tag(request, geo, "csv")) {
        free_geo(geo);
    } else {
        stream_answer(request, &(struct stream_plan){.media_type = "text/csv",
                                                     .context = geo,
                                                     .destroy = free_geo,
                                                     .make = make_row});
    }
}

void serve_coordinates_show(struct request *request)
{
    if (request_create_call(request, CALL_GRAPH) != NULL) {
        request_negotiate(request, false);
        request_call(request, show_csv);
    }
}

/* ---- The vertex nearest to a place ---- */

struct place {
    bool is_plane;
    double x;
    double y;
};

/* Parses lon and lat, or x and y: one pair, and neither the other one nor k. */
static enum status parse_place(const struct request *request, struct place *ret_place,
                               struct problem *reterr)
{
    static const char *const names[2][2] = {{"lon", "lat"}, {"x", "y"}};
    const bool is_plane = query_value(&request->query, "x") != NULL;
    const char *other = query_value(&request->query, "k");
    double numbers[2];
    for (size_t i = 0; i < 2; i++) {
        const char *name = names[is_plane][i];
        const char *text = query_value(&request->query, name);
        other = other != NULL ? other : query_value(&request->query, names[!is_plane][i]);
        if (text == NULL) {
            problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter source is missing, or %s.",
                        name);
            problem_hint(reterr, ASK_FOR);
            return STATUS_BAD_PARAMETER;
        }
        if (!number_parse_real(text, strlen(text), &numbers[i])) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "%s is a number, not \"%s\".", name,
                               text);
        }
    }
    if (other != NULL) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "One place is asked for, and nothing else.");
        problem_hint(reterr, ASK_FOR);
        return STATUS_BAD_PARAMETER;
    }
    if (!is_plane && !coordinates_are_degrees(numbers[0], numbers[1])) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "lon is -180 to 180 and lat is -90 to 90.");
    }
    if (fabs(numbers[0]) > COORDINATES_LIMIT || fabs(numbers[1]) > COORDINATES_LIMIT) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "x and y are -1e100 to 1e100.");
    }
    *ret_place = (struct place){is_plane, numbers[0], numbers[1]};
    return STATUS_OK;
}

static enum status find_vertex(const struct coordinates *coordinates, const struct place *place,
                               uint32_t *ret_row, double *ret_distance, struct problem *reterr)
{
    if (place->is_plane != coordinates->is_plane) {
        problem_set(reterr, STATUS_BAD_PARAMETER,
                    place->is_plane ? "The coordinates of the graph are degrees."
                                    : "The coordinates of the graph are points of a plane.");
        problem_hint(reterr, place->is_plane ? "Ask for lon= and lat=." : "Ask for x= and y=.");
        return STATUS_BAD_PARAMETER;
    }
    if (!coordinates_nearest(coordinates, place->x, place->y, ret_row, ret_distance)) {
        problem_set(reterr, STATUS_NO_COORDINATES, "No vertex of the graph has coordinates.");
        problem_hint(reterr, "PUT a file with coordinates.");
        return STATUS_NO_COORDINATES;
    }
    return STATUS_OK;
}

static void print_vertex(const struct geo *geo, uint32_t row, double distance, bool is_geo,
                         struct text *text)
{
    const bool is_plane = geo->graph->coordinates->is_plane;
    if (is_geo) {
        geo_append_point(geo, row, text);
    } else {
        text_append_string(text, "{\"vertex\":");
        writer_append_vertex(text, geo->graph->names, row);
        text_append_string(text, is_plane ? ",\"x\":" : ",\"lon\":");
        geo_append_position(geo, row, is_plane ? ",\"y\":" : ",\"lat\":", text);
        text_append_char(text, ',');
    }
    text_append_string(text, is_plane ? "\"distance\":" : "\"metres\":");
    /* A millimetre is finer than any survey. */
    writer_append_real(text, is_plane ? distance : round(distance * 1000) / 1000, false);
    text_append_string(text, is_geo ? "}}\n" : "}\n");
}

static void show_nearest(struct request *request)
{
    const bool is_geo = request->offer == GEO_OFFER;
    struct problem problem;
    struct place place;
    struct geo geo = {0};
    double distance;
    uint32_t row;
    CHECK(parse_place(request, &place, &problem) == STATUS_OK);
    if (!borrow_places(request, &geo)) {
        return;
    }
    if (find_vertex(geo.graph->coordinates, &place, &row, &distance, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
    } else if (!answer_tag(request, &geo, is_geo ? "geo" : "nearest")) {
        print_vertex(&geo, row, distance, is_geo, &request->line);
        request_answer_text(request, MHD_HTTP_OK, is_geo ? GEO_TYPE : "application/json",
                            &request->line);
    }
    geo_give_back(&geo);
}

/* Refuses a bad place before the graph is looked up. */
void serve_coordinates_nearest(struct request *request)
{
    struct problem problem;
    struct place place;
    if (parse_place(request, &place, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
    } else if (request_create_call(request, CALL_GRAPH) != NULL) {
        request_call(request, show_nearest);
    }
}
