#include "server/http/request/routes.h"

#include "server/http/api/serve.h"
#include "server/http/request/auth.h"
#include "server/http/request/request_metrics.h"

static const char *const none[] = {NULL};
static const char *const of_job_list[] = {"state", "limit", "cursor", NULL};
static const char *const of_graph_list[] = {"limit", "cursor", NULL};
static const char *const of_job[] = {"wait", NULL};
static const char *const of_events[] = {"last_event_id", NULL};
static const char *const of_distance[] = {"source", "target", NULL};
static const char *const of_matrix[] = {"format", "rows", "cols", "header", NULL};
static const char *const of_row[] = {"format", "cols", "header", NULL};
static const char *const of_nearest[] = {"source", "k", NULL};
static const char *const of_within[] = {"source", "max", NULL};
static const char *const of_heatmap[] = {"rows", "cols", "size", NULL};
static const char *const of_ready[] = {"verbose", NULL};

/* clang-format off */
/* Searched in this order: the one asked most comes first. */
const struct route routes_table[] = {
    {METHOD_GET, "/v1/graphs/{g}/distance", of_distance, NULL,
     serve_distances_one, RIGHT_READ, DOOR_MAIN},
    {METHOD_POST | METHOD_PUT, "/v1/jobs", job_request_submit_parameters, serve_jobs_prepare,
     serve_jobs_submit, RIGHT_WRITE, DOOR_MAIN},
    {METHOD_GET, "/v1/jobs", of_job_list, NULL, serve_lists_jobs, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/jobs/{id}", of_job, NULL, serve_jobs_show, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/jobs/{id}/events", of_events, NULL, serve_events, RIGHT_READ, DOOR_MAIN},
    {METHOD_DELETE, "/v1/jobs/{id}", none, NULL, serve_jobs_cancel, RIGHT_WRITE, DOOR_MAIN},
    {METHOD_POST | METHOD_PUT, "/v1/graphs", job_request_graph_parameters, serve_graphs_prepare,
     serve_graphs_store, RIGHT_WRITE, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs", of_graph_list, NULL, serve_lists_graphs, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}", none, NULL, serve_graphs_show, RIGHT_READ, DOOR_MAIN},
    {METHOD_DELETE, "/v1/graphs/{g}", none, NULL, serve_graphs_delete, RIGHT_WRITE, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/vertices", none, NULL,
     serve_graphs_vertices, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/edges", none, NULL, serve_edges, RIGHT_READ, DOOR_MAIN},
    {METHOD_POST, "/v1/graphs/{g}/distances", none, serve_pairs_prepare,
     serve_pairs, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/path", of_distance, NULL, serve_paths_one, RIGHT_READ, DOOR_MAIN},
    {METHOD_POST, "/v1/graphs/{g}/paths", none, serve_paths_prepare,
     serve_paths_many, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/matrix", of_matrix, NULL, serve_matrix, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/row/{v}", of_row, NULL, serve_matrix_row, RIGHT_READ, DOOR_MAIN},
    {METHOD_POST, "/v1/graphs/{g}/table", none, serve_table_prepare,
     serve_table, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/nearest", of_nearest, NULL, serve_nearest, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/within", of_within, NULL,
     serve_nearest_within, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/stats", none, NULL, serve_statistics, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/graphs/{g}/heatmap", of_heatmap, NULL,
     serve_heatmap, RIGHT_READ, DOOR_MAIN},
    {METHOD_POST, "/v1/estimate", none, serve_estimate_prepare,
     serve_estimate, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/limits", none, NULL, serve_service_limits, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/formats", none, NULL, serve_service_formats, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/v1/devices", none, NULL, serve_service_devices, RIGHT_READ, DOOR_MAIN},
    {METHOD_GET, "/openapi.json", none, NULL, serve_page_openapi, RIGHT_OPEN, DOOR_MAIN},
    {METHOD_GET, "/docs", none, NULL, serve_page_docs, RIGHT_OPEN, DOOR_MAIN},
    {METHOD_GET, "/metrics", none, NULL, serve_metrics, RIGHT_MONITOR, DOOR_ADMIN | DOOR_ONLY},
    {METHOD_GET, "/admin/log-level", none, NULL, serve_admin_log_level, RIGHT_ADMIN, DOOR_ADMIN},
    {METHOD_PUT, "/admin/log-level", none, serve_admin_prepare, serve_admin_set_log_level,
     RIGHT_ADMIN, DOOR_ADMIN},
    {METHOD_GET, "/version", none, NULL, serve_service_version, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
    {METHOD_GET, "/livez", none, NULL, serve_service_live, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
    {METHOD_GET, "/readyz", of_ready, NULL,
     serve_service_ready, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
    {METHOD_GET, "/v2/health/live", none, NULL,
     serve_service_live, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
    {METHOD_GET, "/v2/health/ready", of_ready, NULL,
     serve_service_ready, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
    {METHOD_GET, "/", none, NULL, serve_page_home, RIGHT_OPEN, DOOR_MAIN | DOOR_ADMIN},
};
/* clang-format on */

const size_t routes_count = sizeof(routes_table) / sizeof(routes_table[0]);

_Static_assert(sizeof(routes_table) / sizeof(routes_table[0]) <= REQUEST_METRICS_ROUTE_LIMIT,
               "every route is counted");
