/* Metrics of requests: counts by route, status code and duration, and hits and misses of result
 * lookups. Static atomic counters; any thread. */
#pragma once

#include "proto/text.h"
#include "server/http/request/router.h"

#include <stdbool.h>

/* Maximum number of routes; router.c checks at compile time that it is not exceeded. */
#define REQUEST_METRICS_ROUTE_LIMIT 64

/* Counts a finished request. route points into router_table, or is NULL when no route matched.
 * seconds: time from the complete headers to the end of the answer. */
void request_metrics_count(const struct route *route, unsigned http_status, double seconds);
void request_metrics_count_result(bool found);

void request_metrics_print(struct text *text);
