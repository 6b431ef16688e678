#include "server/http/api/serve.h"

#include "proto/format.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/api/geo.h"
#include "server/http/transport/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The forms of an answer, in the order of the offers of the route. */
enum answer_form { ANSWER_JSON, ANSWER_CSV, ANSWER_GEOJSON };

static const char *const answer_types[] = {"application/json", "text/csv", "application/geo+json"};
static const char *const answer_names[] = {"json", "csv", "geojson"};

#define READ_HERE "Read here: DIMACS .co, text/csv and application/geo+json; ?format= says which."

/* ---- PUT and DELETE ---- */

/* Takes format= and the Content-Type; neither may say something that is not read. */
static enum status choose_form(const struct request *request, enum coordinates_form *ret_form,
                               struct problem *reterr)
{
    static const struct {
        const char *format;
        const char *media_type;
        enum coordinates_form form;
    } forms[] = {
        {"co", "text/x-dimacs-co", COORDINATES_CO},
        {"dimacs", "text/x-dimacs", COORDINATES_CO},
        {"csv", "text/csv", COORDINATES_CSV},
        {"geojson", "application/geo+json", COORDINATES_GEOJSON},
        {"json", "application/json", COORDINATES_GEOJSON},
    };
    const char *media_type = request_header(request, "Content-Type");
    const char *format = query_value(&request->query, "format");
    const bool is_vague = format_media_type_is_vague(media_type);
    const size_t size = media_type == NULL ? 0 : strcspn(media_type, "; \t");
    *ret_form = COORDINATES_UNSAID;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (format != NULL ? strcmp(format, forms[i].format) == 0
                           : !is_vague && strlen(forms[i].media_type) == size &&
                                 strncasecmp(media_type, forms[i].media_type, size) == 0) {
            *ret_form = forms[i].form;
        }
    }
    if (*ret_form != COORDINATES_UNSAID || (format == NULL && is_vague)) {
        return STATUS_OK;
    }
    const enum status status =
        format != NULL ? STATUS_BAD_PARAMETER : STATUS_UNSUPPORTED_MEDIA_TYPE;
    problem_set(reterr, status, "No coordinates are read from \"%s\".",
                format != NULL ? format : media_type);
    problem_hint(reterr, READ_HERE);
    return status;
}

/* Takes the parameters of a body: no body is read behind bad ones. */
static enum status choose_rules(const struct request *request, struct coordinates_upload *rules,
                                struct problem *reterr)
{
    const char *system = query_value(&request->query, "system");
    if (system != NULL && strcmp(system, "degrees") != 0 && strcmp(system, "plane") != 0) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "system is degrees or plane, not \"%s\".",
                           system);
    }
    rules->system = system == NULL                   ? COORDINATES_SYSTEM_UNSAID
                    : strcmp(system, "degrees") == 0 ? COORDINATES_DEGREES
                                                     : COORDINATES_PLANE;
    return choose_form(request, &rules->form, reterr);
}

enum status serve_coordinates_prepare(struct request *request, struct problem *reterr)
{
    const uint64_t limit_bytes = request->http_context->config->body_limit_bytes;
    struct coordinates_upload rules;
    const enum status status = choose_rules(request, &rules, reterr);
    return status == STATUS_OK ? request_expect_document(request, limit_bytes, reterr) : status;
}

void serve_coordinates_put(struct request *request)
{
    struct problem problem;
    struct call *call = request_create_call(request, CALL_PUT_COORDINATES);
    if (call == NULL) {
        return;
    }
    if (request_check_document(request, &problem) != STATUS_OK ||
        choose_rules(request, &call->coordinates, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    call->coordinates.document = request->document;
    request->document = (struct text){0};
    call->coordinates.share = capacity_move_share(&request->share);
    request_call(request, request_answer_call);
}

void serve_coordinates_delete(struct request *request)
{
    if (request_create_call(request, CALL_DELETE_COORDINATES) != NULL) {
        request_call(request, request_answer_call);
    }
}

/* ---- What is lent ---- */

/* The coordinates that an answer is made of. */
struct answer {
    struct coordinates_cache *cache;
    struct located_graph *graph; /* lent by it */
    enum answer_form form;
    bool has_begun; /* a vertex has been printed */
};

static void destroy_answer(void *context)
{
    struct answer *answer = context;
    coordinates_cache_give_back(answer->cache, answer->graph);
    free(answer);
}

/* The answer about the graph that the call found; NULL, and the request is refused, where it has no
 * coordinates. */
static struct answer *create_answer(struct request *request)
{
    struct http_context *http_context = request->http_context;
    const char *graph_id = request->call->graph_id;
    struct answer *answer = calloc(1, sizeof(*answer));
    struct problem problem;
    if (request->call->status != STATUS_OK) {
        request_answer_call(request);
    } else if (answer == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
    } else if (coordinates_cache_borrow(http_context->coordinates, graph_id, &answer->graph,
                                        &problem) != STATUS_OK) {
        if (problem.status == STATUS_CORRUPT) {
            geo_note_damage(http_context, graph_id);
        }
        request_refuse(request, &problem);
    } else {
        answer->cache = http_context->coordinates;
        answer->form = (enum answer_form)request->offer;
        return answer;
    }
    free(answer);
    return NULL;
}

static void print_place(struct text *text, const struct coordinates *coordinates, uint32_t row,
                        const char *separator)
{
    writer_append_real(text, coordinates->x[row], false);
    text_append_string(text, separator);
    writer_append_real(text, coordinates->y[row], false);
}

/* "vertex":1,"lon":7.5,"lat":46.2 */
static void print_members(struct text *text, const struct located_graph *graph, uint32_t row)
{
    const bool is_plane = graph->coordinates->is_plane;
    text_append_string(text, "\"vertex\":");
    writer_append_vertex(text, graph->names, row);
    text_append_string(text, is_plane ? ",\"x\":" : ",\"lon\":");
    print_place(text, graph->coordinates, row, is_plane ? ",\"y\":" : ",\"lat\":");
}

/* True after an answer. */
static bool answer_tag(struct request *request, const struct answer *answer,
                       const char *representation)
{
    const bool is_coded = request->coding != CODING_IDENTITY;
    snprintf(request->tag, sizeof(request->tag), "\"%016" PRIx64 "-%s%s%s\"",
             answer->graph->info.tag, representation, is_coded ? "-" : "",
             is_coded ? decoder_coding_name(request->coding) : "");
    request_add_header(request, "ETag", request->tag);
    request_vary(request);
    request_add_header(request, "Cache-Control", "no-cache");
    return request_answer_condition(request);
}

/* ---- GET ---- */

static void print_begin(struct text *text, const struct answer *answer)
{
    const struct coordinates *coordinates = answer->graph->coordinates;
    if (answer->form == ANSWER_CSV) {
        text_append_string(text, coordinates->is_plane ? "vertex,x,y\n" : "vertex,lon,lat\n");
    } else if (answer->form == ANSWER_GEOJSON) {
        text_append_string(text, "{\"type\":\"FeatureCollection\",\"features\":[");
    } else {
        text_printf(text,
                    "{\"graph\":\"%s\",\"system\":\"%s\",\"vertices\":%" PRIu32
                    ",\"located\":%" PRIu32 ",\"missing\":%" PRIu32 ",\"coordinates\":[",
                    answer->graph->graph_id, coordinates->is_plane ? "plane" : "degrees",
                    coordinates->count, coordinates->located,
                    coordinates->count - coordinates->located);
    }
}

/* position counts rows. */
static bool make_place(struct stream *stream, struct text *text)
{
    struct answer *answer = stream->context;
    const struct located_graph *graph = answer->graph;
    const uint32_t row = (uint32_t)stream->position;
    if (row == 0) {
        print_begin(text, answer);
    }
    if (row == graph->coordinates->count) {
        text_append_string(text, answer->form == ANSWER_CSV ? "" : "]}\n");
        return false;
    }
    stream->position++;
    if (!coordinates_has(graph->coordinates, row)) {
        return true;
    }
    if (answer->form == ANSWER_CSV) {
        writer_append_field(text, graph->names, row);
        text_append_char(text, ',');
        print_place(text, graph->coordinates, row, ",");
        text_append_char(text, '\n');
        return true;
    }
    text_append(text, ",", answer->has_begun);
    answer->has_begun = true;
    if (answer->form == ANSWER_GEOJSON) {
        text_append_string(text, "{\"type\":\"Feature\",\"id\":");
        writer_append_vertex(text, graph->names, row);
        text_append_string(text, ",\"geometry\":{\"type\":\"Point\",\"coordinates\":[");
        print_place(text, graph->coordinates, row, ",");
        text_append_string(text, "]},\"properties\":{}}");
    } else {
        text_append_char(text, '{');
        print_members(text, graph, row);
        text_append_char(text, '}');
    }
    return true;
}

static void show(struct request *request)
{
    struct answer *answer = create_answer(request);
    if (answer == NULL) {
        return;
    }
    if (answer_tag(request, answer, answer_names[answer->form])) {
        destroy_answer(answer);
    } else {
        stream_answer_context(request, answer_types[answer->form], answer, destroy_answer,
                              make_place, 0);
    }
}

void serve_coordinates_show(struct request *request)
{
    if (request_create_call(request, CALL_GRAPH) != NULL) {
        request_negotiate(request, false);
        request_call(request, show);
    }
}

/* ---- The vertex nearest to a place ---- */

/* lon and lat, or x and y: a pair, and nothing of the other. */
static enum status take_place(const struct request *request, bool *ret_is_plane, double place[2],
                              struct problem *reterr)
{
    static const char *const names[] = {"lon", "lat", "x", "y"};
    const bool is_plane = query_value(&request->query, "x") != NULL;
    const size_t first = is_plane ? 2 : 0;
    const char *other = query_value(&request->query, "k");
    for (size_t i = 0; i < 2; i++) {
        const char *text = query_value(&request->query, names[first + i]);
        other = other != NULL ? other : query_value(&request->query, names[2 - first + i]);
        if (text == NULL) {
            problem_set(reterr, STATUS_BAD_PARAMETER, "The parameter source is missing, or %s.",
                        names[first + i]);
            problem_hint(reterr, "Ask for source= and k=, for lon= and lat=, or for x= and y=.");
            return STATUS_BAD_PARAMETER;
        }
        if (!number_parse_real(text, strlen(text), &place[i])) {
            return problem_set(reterr, STATUS_BAD_PARAMETER, "%s is a number, not \"%s\".",
                               names[first + i], text);
        }
    }
    if (other != NULL) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "One place is asked for, and nothing beside it.");
        problem_hint(reterr, "Ask for source= and k=, for lon= and lat=, or for x= and y=.");
        return STATUS_BAD_PARAMETER;
    }
    if (!is_plane && !coordinates_are_degrees(place[0], place[1])) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "lon is -180 to 180 and lat is -90 to 90.");
    }
    if (fabs(place[0]) > COORDINATES_LIMIT || fabs(place[1]) > COORDINATES_LIMIT) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "x and y are -1e100 to 1e100.");
    }
    *ret_is_plane = is_plane;
    return STATUS_OK;
}

static void find_nearest(struct request *request)
{
    struct answer *answer = create_answer(request);
    struct text *text = &request->line;
    struct problem problem;
    double place[2];
    double distance;
    uint32_t row;
    bool is_plane;
    const bool is_geo = request->offer == GEO_OFFER;
    if (answer == NULL) {
        return;
    }
    const struct located_graph *graph = answer->graph;
    enum status status = take_place(request, &is_plane, place, &problem);
    if (status == STATUS_OK && is_plane != graph->coordinates->is_plane) {
        status = problem_set(&problem, STATUS_BAD_PARAMETER,
                             is_plane ? "The coordinates of the graph are degrees."
                                      : "The coordinates of the graph are points of a plane.");
        problem_hint(&problem, is_plane ? "Ask for lon= and lat=." : "Ask for x= and y=.");
    }
    if (status == STATUS_OK &&
        !coordinates_nearest(graph->coordinates, place[0], place[1], &row, &distance)) {
        status =
            problem_set(&problem, STATUS_NO_COORDINATES, "No vertex of the graph has a place.");
        problem_hint(&problem, "PUT coordinates with places.");
    }
    if (status != STATUS_OK) {
        request_refuse(request, &problem);
    } else if (!answer_tag(request, answer, is_geo ? "geo" : "nearest")) {
        const struct geo geo = {.graph = answer->graph};
        if (is_geo) {
            geo_append_point(&geo, row, text);
        } else {
            text_append_char(text, '{');
            print_members(text, graph, row);
            text_append_char(text, ',');
        }
        text_append_string(text, is_plane ? "\"distance\":" : "\"metres\":");
        /* A millimetre is finer than any survey. */
        writer_append_real(text, is_plane ? distance : round(distance * 1000) / 1000, false);
        text_append_string(text, is_geo ? "}}\n" : "}\n");
        request_answer_text(request, MHD_HTTP_OK, is_geo ? GEO_TYPE : answer_types[ANSWER_JSON],
                            text);
    }
    destroy_answer(answer);
}

/* A place that is none is refused before the graph is looked up. */
void serve_coordinates_nearest(struct request *request)
{
    struct problem problem;
    double place[2];
    bool is_plane;
    if (take_place(request, &is_plane, place, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
    } else if (request_create_call(request, CALL_GRAPH) != NULL) {
        request_call(request, find_nearest);
    }
}
