/* Handlers and streams of all routes in the table of request/router.c. They are defined in this
 * folder and in web/pages.c, and run on the thread of the connection. */
#pragma once

#include "server/http/transport/stream.h"

/* Called when the headers are complete: checks whether an upload is admitted, and opens it. */
MUST_CHECK enum status serve_jobs_prepare(struct request *request, struct problem *reterr);
/* Reads the parameters and headers of a job into request->job_request. */
MUST_CHECK enum status serve_jobs_read(struct request *request, struct problem *reterr);
/* Copies request->job_request into the call. */
void serve_jobs_describe(struct request *request, struct call *call);

/* Submits a job, or stores a graph without one, depending on the kind of the call. */
route_fill serve_jobs_submit;
route_fill serve_jobs_show;
/* Lists jobs or graphs, depending on the kind of the call. */
route_fill serve_list;
void serve_events(struct request *request);

void serve_graphs_show(struct request *request);
extern const struct stream_kind serve_vertices;

/* Maximum number of edges that /edges returns; the web page draws far fewer. */
#define SERVE_EDGE_LIMIT 1000000
extern const struct stream_kind serve_edges;

route_fill serve_changes_edges;
route_fill serve_changes_weights;

void serve_distances_one(struct request *request);
/* Finds the vertices of the parameters source and target in the names of the result. */
MUST_CHECK enum status serve_distances_ends(const struct request *request, uint32_t ret_rows[2],
                                            struct problem *reterr);
extern const struct stream_kind serve_pairs;
extern const struct stream_kind serve_paths_one;
extern const struct stream_kind serve_paths_many;
extern const struct stream_kind serve_matrix;
extern const struct stream_kind serve_table;

route_fill serve_estimate;

/* Finds the vertices nearest to a vertex or a position. */
void serve_nearest(struct request *request);
extern const struct stream_kind serve_nearest_targets;
extern const struct stream_kind serve_within;

route_fill serve_coordinates_put;
extern const struct stream_kind serve_coordinates;
/* Sends the vertex nearest to a position, once request->call has found the graph. */
extern const struct stream_kind serve_coordinates_nearest;

extern const struct stream_kind serve_statistics;
extern const struct stream_kind serve_heatmap;

void serve_service_live(struct request *request);
void serve_service_ready(struct request *request);
void serve_service_version(struct request *request);
void serve_service_limits(struct request *request);
void serve_service_formats(struct request *request);
void serve_service_devices(struct request *request);
void serve_service_problem(struct request *request);

void serve_metrics(struct request *request);

/* Answers with the page of the route. */
void serve_page(struct request *request);
