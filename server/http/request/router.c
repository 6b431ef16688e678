#include "server/http/request/router.h"

#include "server/http/api/serve.h"
#include "server/http/request/auth.h"
#include "server/http/request/query.h"
#include "server/http/request/request_metrics.h"
#include "server/http/web/page.h"

#include <stdio.h>
#include <string.h>

#define JSON "application/json"
#define CSV "text/csv"
#define GEOJSON "application/geo+json"
#define BINARY "application/octet-stream"

/* The query parameters of a job, without the parameters of its graph. */
#define JOB_PARAMETERS "kind", "wait", "priority", "deadline_s", "verify", "result"

/* clang-format off */
/* router_find searches the table linearly, so the most frequent route comes first. */
const struct route router_table[] = {
    {METHOD_GET, "/v1/graphs/{g}/distance", RIGHT_READ,
     .parameters = {"source", "target"}, .required = 2, .offers = {JSON, "text/plain"},
     .needs = NEEDS_RESULT, .handle = serve_distances_one},
    {METHOD_POST | METHOD_PUT, "/v1/jobs", RIGHT_WRITE,
     .parameters = {"name", QUERY_OF_UPLOAD, JOB_PARAMETERS}, .compares = true,
     .prepare = serve_jobs_prepare, .call = CALL_SUBMIT, .fill = serve_jobs_submit},
    {METHOD_GET, "/v1/jobs", RIGHT_READ,
     .parameters = {"state", "limit", "cursor"}, .call = CALL_JOBS, .fill = serve_list},
    {METHOD_GET, "/v1/jobs/{id}", RIGHT_READ,
     .parameters = {"wait"}, .call = CALL_JOB, .fill = serve_jobs_show},
    {METHOD_GET, "/v1/jobs/{id}/events", RIGHT_READ,
     .parameters = {"last_event_id"}, .handle = serve_events},
    {METHOD_DELETE, "/v1/jobs/{id}", RIGHT_WRITE, .call = CALL_CANCEL},
    {METHOD_POST | METHOD_PUT, "/v1/graphs", RIGHT_WRITE,
     .parameters = {"name", QUERY_OF_UPLOAD}, .compares = true,
     .prepare = serve_jobs_prepare, .call = CALL_STORE_GRAPH, .fill = serve_jobs_submit},
    {METHOD_GET, "/v1/graphs", RIGHT_READ,
     .parameters = {"limit", "cursor"}, .call = CALL_GRAPHS, .fill = serve_list},
    {METHOD_GET, "/v1/graphs/{g}", RIGHT_READ,
     .needs = NEEDS_GRAPH, .handle = serve_graphs_show},
    {METHOD_DELETE, "/v1/graphs/{g}", RIGHT_WRITE, .call = CALL_DELETE_GRAPH},
    {METHOD_GET, "/v1/graphs/{g}/vertices", RIGHT_READ,
     .needs = NEEDS_NAMES, .stream = &serve_vertices},
    {METHOD_GET, "/v1/graphs/{g}/edges", RIGHT_READ,
     .offers = {JSON}, .needs = NEEDS_GRAPH, .stream = &serve_edges},
    {METHOD_PATCH, "/v1/graphs/{g}/edges", RIGHT_WRITE,
     .parameters = {JOB_PARAMETERS}, .compares = true,
     .body = BODY_PAIRS, .reads = {JSON, CSV, "text/tab-separated-values"},
     .shape = "[[source,target,weight],...], where a weight of null removes the edge",
     .prepare = serve_jobs_read, .needs = NEEDS_NAMES,
     .call = CALL_CHANGE, .fill = serve_changes_edges},
    {METHOD_PUT, "/v1/graphs/{g}/weights", RIGHT_WRITE,
     .parameters = {JOB_PARAMETERS}, .compares = true, .body = BODY_FILE,
     .prepare = serve_jobs_read, .call = CALL_CHANGE, .fill = serve_changes_weights},
    {METHOD_PUT, "/v1/graphs/{g}/coordinates", RIGHT_WRITE,
     .compares = true, .body = BODY_FILE,
     .call = CALL_PUT_COORDINATES, .fill = serve_coordinates_put},
    {METHOD_GET, "/v1/graphs/{g}/coordinates", RIGHT_READ,
     .offers = {CSV}, .needs = NEEDS_GRAPH, .stream = &serve_coordinates},
    {METHOD_DELETE, "/v1/graphs/{g}/coordinates", RIGHT_WRITE,
     .compares = true, .call = CALL_DELETE_COORDINATES},
    {METHOD_POST, "/v1/graphs/{g}/distances", RIGHT_READ,
     .body = BODY_PAIRS, .reads = {JSON, CSV, BINARY},
     .shape = "{\"pairs\":[[source,target],...]}",
     .needs = NEEDS_RESULT, .stream = &serve_pairs},
    {METHOD_GET, "/v1/graphs/{g}/path", RIGHT_READ,
     .parameters = {"source", "target"}, .required = 2, .offers = {JSON, GEOJSON},
     .needs = NEEDS_RESULT, .stream = &serve_paths_one},
    {METHOD_POST, "/v1/graphs/{g}/paths", RIGHT_READ,
     .offers = {JSON}, .body = BODY_PAIRS, .reads = {JSON},
     .shape = "{\"pairs\":[[source,target],...]}",
     .needs = NEEDS_RESULT, .stream = &serve_paths_many},
    {METHOD_GET, "/v1/graphs/{g}/matrix", RIGHT_READ,
     .parameters = {"format", "rows", "cols", "header"},
     .needs = NEEDS_RESULT, .stream = &serve_matrix},
    {METHOD_GET, "/v1/graphs/{g}/row/{v}", RIGHT_READ,
     .parameters = {"format", "cols", "header"},
     .needs = NEEDS_RESULT, .stream = &serve_matrix},
    {METHOD_GET, "/v1/graphs/{g}/column/{v}", RIGHT_READ,
     .parameters = {"format", "rows", "header"},
     .needs = NEEDS_RESULT, .stream = &serve_matrix},
    {METHOD_POST, "/v1/graphs/{g}/table", RIGHT_READ,
     .offers = {JSON, CSV}, .body = BODY_PAIRS, .reads = {JSON},
     .shape = "{\"sources\":[...],\"destinations\":[...]}",
     .needs = NEEDS_RESULT, .stream = &serve_table},
    {METHOD_GET, "/v1/graphs/{g}/nearest", RIGHT_READ,
     .parameters = {"source", "k", "lon", "lat", "x", "y"}, .offers = {JSON, GEOJSON},
     .handle = serve_nearest},
    {METHOD_POST, "/v1/graphs/{g}/nearest", RIGHT_READ,
     .offers = {JSON}, .body = BODY_PAIRS, .reads = {JSON},
     .shape = "{\"sources\":[...],\"targets\":[...],\"k\":K}",
     .needs = NEEDS_RESULT, .stream = &serve_nearest_targets},
    {METHOD_GET, "/v1/graphs/{g}/within", RIGHT_READ,
     .parameters = {"max", "source", "target"}, .required = 1, .offers = {JSON, GEOJSON},
     .needs = NEEDS_RESULT, .stream = &serve_within},
    {METHOD_GET, "/v1/graphs/{g}/stats", RIGHT_READ,
     .offers = {JSON}, .needs = NEEDS_RESULT, .stream = &serve_statistics},
    {METHOD_GET, "/v1/graphs/{g}/heatmap", RIGHT_READ,
     .parameters = {"rows", "cols", "size"}, .offers = {JSON},
     .needs = NEEDS_RESULT, .stream = &serve_heatmap},
    {METHOD_POST, "/v1/estimate", RIGHT_READ,
     .body = BODY_DOCUMENT, .reads = {JSON},
     .shape = "{\"n\":..,\"m\":..,\"kind\":..} or {\"graph\":id}",
     .call = CALL_ESTIMATE, .fill = serve_estimate},
    {METHOD_GET, "/v1/limits", RIGHT_READ, .handle = serve_service_limits},
    {METHOD_GET, "/v1/formats", RIGHT_READ, .handle = serve_service_formats},
    {METHOD_GET, "/v1/devices", RIGHT_READ, .handle = serve_service_devices},
    {METHOD_GET, "/openapi.json", RIGHT_OPEN, .page = &page_openapi, .handle = serve_page},
    {METHOD_GET, "/problems/{type}", RIGHT_OPEN, .handle = serve_service_problem},
    {METHOD_GET, "/docs", RIGHT_OPEN, .page = &page_docs, .handle = serve_page},
    {METHOD_GET, "/metrics", RIGHT_MONITOR, .handle = serve_metrics},
    {METHOD_GET, "/version", RIGHT_OPEN, .handle = serve_service_version},
    {METHOD_GET, "/livez", RIGHT_OPEN, .handle = serve_service_live},
    {METHOD_GET, "/readyz", RIGHT_OPEN,
     .parameters = {"verbose"}, .handle = serve_service_ready},
    {METHOD_GET, "/v2/health/live", RIGHT_OPEN, .handle = serve_service_live},
    {METHOD_GET, "/v2/health/ready", RIGHT_OPEN,
     .parameters = {"verbose"}, .handle = serve_service_ready},
    {METHOD_GET, "/favicon.ico", RIGHT_OPEN, .page = &page_icon, .handle = serve_page},
    {METHOD_GET, "/", RIGHT_OPEN,
     .offers = {"text/html"}, .page = &page_home, .handle = serve_page},
};
/* clang-format on */

const size_t router_route_count = sizeof(router_table) / sizeof(router_table[0]);

_Static_assert(sizeof(router_table) / sizeof(router_table[0]) <= REQUEST_METRICS_ROUTE_LIMIT,
               "every route is counted");

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

/* The segments of the path that have matched placeholders in braces so far. */
struct holes {
    const char *first[HOLES];
    size_t size[HOLES];
    size_t count;
};

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
    return *pattern == *path; /* both have ended */
}

static enum status decode_segment(const char *first, size_t size, char to[ROUTER_CAPTURE_SIZE],
                                  struct problem *reterr)
{
    char segment[3 * ROUTER_CAPTURE_SIZE] = "";
    const bool fits = size < sizeof(segment);
    memcpy(segment, first, fits ? size : 0);
    if (!query_decode(segment)) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "The path contains an invalid percent escape or %%00.");
    }
    if (!fits || strlen(segment) >= ROUTER_CAPTURE_SIZE) {
        return problem_set(reterr, STATUS_NO_SUCH_ROUTE,
                           "A segment of the path is longer than any name can be.");
    }
    memcpy(to, segment, strlen(segment) + 1);
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
                   : decode_segment(holes.first[0], holes.size[0], ret_match->capture, reterr);
    }
    if (allowed == 0) {
        return problem_refuse(reterr, STATUS_NO_SUCH_ROUTE,
                              "/docs describes the routes; /openapi.json lists them.",
                              "There is no route for this path.");
    }
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if ((allowed & methods[i].method) != 0) {
            size += (size_t)snprintf(ret_allow + size, ROUTER_ALLOW_SIZE - size, "%s%s",
                                     size == 0 ? "" : ", ", methods[i].name);
        }
    }
    problem_set(reterr, STATUS_METHOD_NOT_ALLOWED, "This route does not support this method.");
    problem_hint(reterr, "The route supports %s.", ret_allow);
    return STATUS_METHOD_NOT_ALLOWED;
}
