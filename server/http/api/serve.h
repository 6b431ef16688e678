/* The handlers of the routes: each answers one kind of request, or calls the scheduler. The face of
 * the files beside it. */
#pragma once

#include "server/http/request/request.h"

/* At the headers, before a body is read: whether it may come, and where it goes. */
MUST_CHECK enum status serve_jobs_prepare(struct request *request, struct problem *reterr);
MUST_CHECK enum status serve_graphs_prepare(struct request *request, struct problem *reterr);
MUST_CHECK enum status serve_pairs_prepare(struct request *request, struct problem *reterr);

void serve_jobs_submit(struct request *request);
void serve_lists_jobs(struct request *request);
void serve_jobs_show(struct request *request);
void serve_jobs_cancel(struct request *request);
void serve_events(struct request *request);

void serve_graphs_store(struct request *request);
void serve_lists_graphs(struct request *request);
void serve_graphs_show(struct request *request);
void serve_graphs_delete(struct request *request);
void serve_graphs_vertices(struct request *request);
/* The names of the graph that the call of the request has found, read by this thread from its file:
 * they are small beside the edges. NULL after an answer that says why not. */
struct vertex_names *serve_graphs_read_names(struct request *request);

/* Graphs of more edges are not listed: a page draws far fewer. */
#define SERVE_EDGE_LIMIT 1000000
void serve_edges(struct request *request);

MUST_CHECK enum status serve_changes_prepare_edges(struct request *request, struct problem *reterr);
MUST_CHECK enum status serve_changes_prepare_weights(struct request *request,
                                                     struct problem *reterr);
void serve_changes_edges(struct request *request);
void serve_changes_weights(struct request *request);

void serve_distances_one(struct request *request);
void serve_pairs(struct request *request);

void serve_paths_one(struct request *request);
void serve_paths_many(struct request *request);

void serve_matrix(struct request *request);
void serve_matrix_row(struct request *request);
void serve_matrix_column(struct request *request);

void serve_table(struct request *request);

void serve_estimate(struct request *request);

void serve_nearest(struct request *request);
void serve_nearest_targets(struct request *request);
void serve_within(struct request *request);

MUST_CHECK enum status serve_coordinates_prepare(struct request *request, struct problem *reterr);
void serve_coordinates_put(struct request *request);
void serve_coordinates_show(struct request *request);
void serve_coordinates_delete(struct request *request);
/* The vertex nearest to a place. */
void serve_coordinates_nearest(struct request *request);

void serve_statistics(struct request *request);
void serve_heatmap(struct request *request);

void serve_service_live(struct request *request);
void serve_service_ready(struct request *request);
void serve_service_version(struct request *request);
void serve_service_limits(struct request *request);
void serve_service_formats(struct request *request);
void serve_service_devices(struct request *request);
void serve_service_index(struct request *request);
void serve_service_problem(struct request *request);

void serve_metrics(struct request *request);

void serve_page_openapi(struct request *request);
void serve_page_docs(struct request *request);
void serve_page_home(struct request *request);
