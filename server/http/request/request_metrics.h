/* Metrics of requests: counts by route, status code and duration, and how often the result that a
 * request asked for was there. Atomics that all threads share. */
#pragma once

#include "proto/text.h"
#include "server/http/request/router.h"

#include <stdbool.h>

/* Routes of the table that are told apart. */
#define REQUEST_METRICS_ROUTE_LIMIT 64

/* route: of router_table, NULL when none was found. From the headers to the end of the answer. */
void request_metrics_count(const struct route *route, unsigned http_status, double seconds);
void request_metrics_count_result(bool found);

void request_metrics_print(struct text *text);
