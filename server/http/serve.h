/* What the routes call: each answers one kind of request, or asks the desk. Files serve_*.c. */
#pragma once

#include "server/http/exchange.h"

/* At the headers, before a body is read: whether it may come, and where it goes. */
MUST_CHECK enum status serve_jobs_prepare(struct exchange *exchange, struct problem *reterr);
MUST_CHECK enum status serve_graphs_prepare(struct exchange *exchange, struct problem *reterr);
MUST_CHECK enum status serve_pairs_prepare(struct exchange *exchange, struct problem *reterr);

void serve_jobs_submit(struct exchange *exchange);
void serve_lists_jobs(struct exchange *exchange);
void serve_jobs_show(struct exchange *exchange);
void serve_jobs_cancel(struct exchange *exchange);
void serve_events(struct exchange *exchange);

void serve_graphs_store(struct exchange *exchange);
void serve_lists_graphs(struct exchange *exchange);
void serve_graphs_show(struct exchange *exchange);
void serve_graphs_delete(struct exchange *exchange);
void serve_graphs_vertices(struct exchange *exchange);

/* Graphs of more edges are not listed: a page draws far fewer. */
#define SERVE_EDGE_LIMIT 1000000
void serve_edges(struct exchange *exchange);

void serve_distances_one(struct exchange *exchange);
void serve_pairs(struct exchange *exchange);

MUST_CHECK enum status serve_paths_prepare(struct exchange *exchange, struct problem *reterr);
void serve_paths_one(struct exchange *exchange);
void serve_paths_many(struct exchange *exchange);

void serve_matrix(struct exchange *exchange);
void serve_matrix_row(struct exchange *exchange);

MUST_CHECK enum status serve_table_prepare(struct exchange *exchange, struct problem *reterr);
void serve_table(struct exchange *exchange);

MUST_CHECK enum status serve_estimate_prepare(struct exchange *exchange, struct problem *reterr);
void serve_estimate(struct exchange *exchange);

void serve_nearest(struct exchange *exchange);
void serve_nearest_within(struct exchange *exchange);

void serve_statistics(struct exchange *exchange);
void serve_heatmap(struct exchange *exchange);

void serve_service_live(struct exchange *exchange);
void serve_service_ready(struct exchange *exchange);
void serve_service_version(struct exchange *exchange);
void serve_service_limits(struct exchange *exchange);
void serve_service_formats(struct exchange *exchange);
void serve_service_devices(struct exchange *exchange);
void serve_service_index(struct exchange *exchange);

void serve_metrics(struct exchange *exchange);
MUST_CHECK enum status serve_admin_prepare(struct exchange *exchange, struct problem *reterr);
void serve_admin_log_level(struct exchange *exchange);
void serve_admin_set_log_level(struct exchange *exchange);

void serve_page_openapi(struct exchange *exchange);
void serve_page_docs(struct exchange *exchange);
void serve_page_home(struct exchange *exchange);
