#include "server/http/request/router.h"

#include "server/http/api/serve.h"
#include "server/http/request/auth.h"
#include "server/http/request/query.h"
#include "server/http/request/request_metrics.h"

#include <stdio.h>
#include <string.h>

#define JSON "application/json"
#define GEOJSON "application/geo+json"

static const struct route_query none = {.required = 0};
static const struct route_query of_upload = {
    .parameters = {"format", "charset", "directed", "weight", "source_column", "target_column",
                   "decimal", "no_edge", "n", "name"},
    .compares = true};
static const struct route_query of_submit = {
    .parameters = {"format", "charset", "directed", "weight", "source_column", "target_column",
                   "decimal", "no_edge", "kind", "n", "name", "wait", "priority", "deadline_s",
                   "verify", "result"},
    .compares = true};
static const struct route_query of_job_list = {.parameters = {"state", "limit", "cursor"}};
static const struct route_query of_graph_list = {.parameters = {"limit", "cursor"}};
static const struct route_query of_job = {.parameters = {"wait"}};
static const struct route_query of_events = {.parameters = {"last_event_id"}};
static const struct route_query of_matrix = {.parameters = {"format", "rows", "cols", "header"},
                                             .of_result = true};
static const struct route_query of_row = {.parameters = {"format", "cols", "header"},
                                          .of_result = true};
static const struct route_query of_column = {.parameters = {"format", "rows", "header"},
                                             .of_result = true};
static const struct route_query of_ready = {.parameters = {"verbose"}};
static const struct route_query of_distance = {
    .parameters = {"source", "target"},
    .required = 2,
    .offers = {JSON, "text/plain"},
    .refusal = "A distance is not answered in such a form.",
    .hint = "Answered: " JSON ", text/plain.",
    .of_result = true,
};
static const struct route_query of_path = {
    .parameters = {"source", "target"},
    .required = 2,
    .offers = {JSON, GEOJSON},
    .refusal = "A path is not answered in such a form.",
    .hint = "Answered: " JSON ", " GEOJSON ".",
    .of_result = true,
};
static const struct route_query of_paths = {
    .offers = {JSON},
    .refusal = "A path is not answered in such a form.",
    .hint = "Answered: " JSON ".",
    .question = "{\"pairs\":[[source,target],...]}",
    .of_result = true,
};
static const struct route_query of_pairs = {.of_result = true};
static const struct route_query of_nearest = {
    .parameters = {"source", "k", "lon", "lat", "x", "y"},
    .offers = {JSON, GEOJSON},
    .refusal = "Vertices are not answered in such a form.",
    .hint = "Answered: " JSON ", " GEOJSON ".",
};
static const struct route_query of_coordinates = {
    .offers = {"text/csv"},
    .refusal = "Coordinates are not answered in such a form.",
    .hint = "Answered: text/csv.",
};
static const struct route_query of_coordinates_change = {.compares = true};
static const struct route_query of_within = {
    .parameters = {"max", "source", "target"},
    .required = 1,
    .offers = {JSON, GEOJSON},
    .refusal = "Vertices are not answered in such a form.",
    .hint = "Answered: " JSON ", " GEOJSON ".",
    .of_result = true,
};
static const struct route_query of_heatmap = {
    .parameters = {"rows", "cols", "size"},
    .offers = {JSON},
    .refusal = "Cells are not answered in such a form.",
    .hint = "Answered: " JSON ".",
    .of_result = true,
};
static const struct route_query of_statistics = {
    .offers = {JSON},
    .refusal = "Statistics are not answered in such a form.",
    .hint = "Answered: " JSON ".",
    .of_result = true,
};
static const struct route_query of_edges = {
    .offers = {JSON},
    .refusal = "Edges are not answered in such a form.",
    .hint = "Answered: " JSON ".",
};
static const struct route_query of_change = {
    .parameters = {"kind", "priority", "deadline_s", "verify", "result", "wait"},
    .compares = true,
};
static const struct route_query of_table = {
    .offers = {JSON, "text/csv"},
    .refusal = "A table is not answered in such a form.",
    .hint = "Answered: " JSON ", text/csv; matrix has other formats.",
    .question = "{\"sources\":[...],\"destinations\":[...]}",
    .of_result = true,
};
static const struct route_query of_nearest_targets = {
    .offers = {JSON},
    .refusal = "Vertices are not answered in such a form.",
    .hint = "Answered: " JSON ".",
    .question = "{\"sources\":[...],\"targets\":[...],\"k\":K}",
    .of_result = true,
};
static const struct route_query of_estimate = {
    .question = "{\"n\":..,\"m\":..,\"kind\":..} or {\"graph\":id}"};

/* clang-format off */
/* Searched in this order: the one asked most comes first. */
const struct route router_table[] = {
    {METHOD_GET, "/v1/graphs/{g}/distance", &of_distance, NULL,
     serve_distances_one, RIGHT_READ},
    {METHOD_POST | METHOD_PUT, "/v1/jobs", &of_submit, serve_jobs_prepare,
     serve_jobs_submit, RIGHT_WRITE},
    {METHOD_GET, "/v1/jobs", &of_job_list, NULL, serve_lists_jobs, RIGHT_READ},
    {METHOD_GET, "/v1/jobs/{id}", &of_job, NULL, serve_jobs_show, RIGHT_READ},
    {METHOD_GET, "/v1/jobs/{id}/events", &of_events, NULL, serve_events, RIGHT_READ},
    {METHOD_DELETE, "/v1/jobs/{id}", &none, NULL, serve_jobs_cancel, RIGHT_WRITE},
    {METHOD_POST | METHOD_PUT, "/v1/graphs", &of_upload, serve_graphs_prepare,
     serve_graphs_store, RIGHT_WRITE},
    {METHOD_GET, "/v1/graphs", &of_graph_list, NULL, serve_lists_graphs, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}", &none, NULL, serve_graphs_show, RIGHT_READ},
    {METHOD_DELETE, "/v1/graphs/{g}", &none, NULL, serve_graphs_delete, RIGHT_WRITE},
    {METHOD_GET, "/v1/graphs/{g}/vertices", &none, NULL,
     serve_graphs_vertices, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/edges", &of_edges, NULL, serve_edges, RIGHT_READ},
    {METHOD_PATCH, "/v1/graphs/{g}/edges", &of_change, serve_changes_prepare_edges,
     serve_changes_edges, RIGHT_WRITE},
    {METHOD_PUT, "/v1/graphs/{g}/weights", &of_change, serve_changes_prepare_weights,
     serve_changes_weights, RIGHT_WRITE},
    {METHOD_PUT, "/v1/graphs/{g}/coordinates", &of_coordinates_change, serve_coordinates_prepare,
     serve_coordinates_put, RIGHT_WRITE},
    {METHOD_GET, "/v1/graphs/{g}/coordinates", &of_coordinates, NULL,
     serve_coordinates_show, RIGHT_READ},
    {METHOD_DELETE, "/v1/graphs/{g}/coordinates", &of_coordinates_change, NULL,
     serve_coordinates_delete, RIGHT_WRITE},
    {METHOD_POST, "/v1/graphs/{g}/distances", &of_pairs, serve_pairs_prepare,
     serve_pairs, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/path", &of_path, NULL, serve_paths_one, RIGHT_READ},
    {METHOD_POST, "/v1/graphs/{g}/paths", &of_paths, request_expect_question,
     serve_paths_many, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/matrix", &of_matrix, NULL, serve_matrix, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/row/{v}", &of_row, NULL, serve_matrix_row, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/column/{v}", &of_column, NULL, serve_matrix_column, RIGHT_READ},
    {METHOD_POST, "/v1/graphs/{g}/table", &of_table, request_expect_question,
     serve_table, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/nearest", &of_nearest, NULL, serve_nearest, RIGHT_READ},
    {METHOD_POST, "/v1/graphs/{g}/nearest", &of_nearest_targets, request_expect_question,
     serve_nearest_targets, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/within", &of_within, NULL, serve_within, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/stats", &of_statistics, NULL,
     serve_statistics, RIGHT_READ},
    {METHOD_GET, "/v1/graphs/{g}/heatmap", &of_heatmap, NULL,
     serve_heatmap, RIGHT_READ},
    {METHOD_POST, "/v1/estimate", &of_estimate, request_expect_question,
     serve_estimate, RIGHT_READ},
    {METHOD_GET, "/v1/limits", &none, NULL, serve_service_limits, RIGHT_READ},
    {METHOD_GET, "/v1/formats", &none, NULL, serve_service_formats, RIGHT_READ},
    {METHOD_GET, "/v1/devices", &none, NULL, serve_service_devices, RIGHT_READ},
    {METHOD_GET, "/openapi.json", &none, NULL, serve_page_openapi, RIGHT_OPEN},
    {METHOD_GET, "/problems/{type}", &none, NULL, serve_service_problem, RIGHT_OPEN},
    {METHOD_GET, "/docs", &none, NULL, serve_page_docs, RIGHT_OPEN},
    {METHOD_GET, "/metrics", &none, NULL, serve_metrics, RIGHT_MONITOR},
    {METHOD_GET, "/version", &none, NULL, serve_service_version, RIGHT_OPEN},
    {METHOD_GET, "/livez", &none, NULL, serve_service_live, RIGHT_OPEN},
    {METHOD_GET, "/readyz", &of_ready, NULL,
     serve_service_ready, RIGHT_OPEN},
    {METHOD_GET, "/v2/health/live", &none, NULL,
     serve_service_live, RIGHT_OPEN},
    {METHOD_GET, "/v2/health/ready", &of_ready, NULL,
     serve_service_ready, RIGHT_OPEN},
    {METHOD_GET, "/", &none, NULL, serve_page_home, RIGHT_OPEN},
};
/* clang-format on */

const size_t router_route_count = sizeof(router_table) / sizeof(router_table[0]);

_Static_assert(sizeof(router_table) / sizeof(router_table[0]) <= REQUEST_METRICS_ROUTE_LIMIT,
               "every route is counted");

/* ---- The search ---- */

static const struct {
    enum method method;
    const char *name;
} methods[] = {
    {METHOD_GET, "GET"},         {METHOD_HEAD, "HEAD"},   {METHOD_POST, "POST"},
    {METHOD_PUT, "PUT"},         {METHOD_PATCH, "PATCH"}, {METHOD_DELETE, "DELETE"},
    {METHOD_OPTIONS, "OPTIONS"},
};

#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

enum method router_method(const char *name)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (strcmp(methods[i].name, name) == 0) {
            return methods[i].method;
        }
    }
    return METHOD_OTHER;
}

const char *router_method_name(enum method method)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (methods[i].method == method) {
            return methods[i].name;
        }
    }
    return "other";
}

#define HOLES 2

/* Segments in the places of the braces, as far as the path is like the pattern. */
struct holes {
    const char *first[HOLES];
    size_t size[HOLES];
    size_t count;
};

/* Whether the path has the shape of the pattern. */
static bool has_shape(const char *pattern, const char *path, struct holes *holes)
{
    holes->count = 0;
    for (;;) {
        for (; *pattern == *path && *pattern != '{' && *pattern != '\0'; pattern++) {
            path++;
        }
        if (*pattern != '{') {
            break;
        }
        const size_t size = (size_t)(strchrnul(path, '/') - path);
        if (size == 0) {
            return false;
        }
        holes->first[holes->count] = path;
        holes->size[holes->count++] = size;
        path += size;
        pattern = strchr(pattern, '}') + 1;
    }
    return *pattern == *path; /* the end of both */
}

static enum status capture(const char *first, size_t size, char to[ROUTER_CAPTURE_SIZE],
                           struct problem *reterr)
{
    char segment[3 * ROUTER_CAPTURE_SIZE];
    if (size >= sizeof(segment)) {
        return problem_set(reterr, STATUS_NO_SUCH_ROUTE, "No name here is that long.");
    }
    memcpy(segment, first, size);
    segment[size] = '\0';
    if (!query_decode(segment)) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "The path has a broken percent escape, or %%00.");
    }
    const size_t decoded = strlen(segment) + 1;
    if (decoded > ROUTER_CAPTURE_SIZE) {
        return problem_set(reterr, STATUS_NO_SUCH_ROUTE, "No name here is that long.");
    }
    memcpy(to, segment, decoded);
    return STATUS_OK;
}

enum status router_find(enum method method, const char *path, struct router_match *ret_match,
                        char ret_allow[ROUTER_ALLOW_SIZE], struct problem *reterr)
{
    unsigned allowed = 0;
    struct holes holes;
    size_t size = 0;
    ret_allow[0] = '\0';
    for (size_t i = 0; i < router_route_count; i++) {
        const struct route *route = &router_table[i];
        const unsigned answered =
            route->methods & METHOD_GET ? route->methods | METHOD_HEAD : route->methods;
        if (!has_shape(route->pattern, path, &holes)) {
            continue;
        }
        allowed |= answered;
        if ((answered & method) == 0) {
            continue;
        }
        ret_match->route = route;
        ret_match->second = holes.count > 1 ? holes.first[1] : NULL;
        ret_match->second_size = holes.count > 1 ? holes.size[1] : 0;
        ret_match->capture[0] = '\0';
        return holes.count == 0
                   ? STATUS_OK
                   : capture(holes.first[0], holes.size[0], ret_match->capture, reterr);
    }
    if (allowed == 0) {
        problem_set(reterr, STATUS_NO_SUCH_ROUTE, "There is nothing at this address.");
        problem_hint(reterr, "/docs shows the addresses, /openapi.json lists them.");
        return STATUS_NO_SUCH_ROUTE;
    }
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if ((allowed & methods[i].method) != 0) {
            size += (size_t)snprintf(ret_allow + size, ROUTER_ALLOW_SIZE - size, "%s%s",
                                     size == 0 ? "" : ", ", methods[i].name);
        }
    }
    problem_set(reterr, STATUS_METHOD_NOT_ALLOWED, "This address does not answer that method.");
    problem_hint(reterr, "It answers %s.", ret_allow);
    return STATUS_METHOD_NOT_ALLOWED;
}
