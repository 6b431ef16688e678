/* What is counted with every request: by route, code and duration, and whether the result that was
 * asked for was there.
 *
 * Each thread that counts has counters of its own, which it alone writes, so that counting takes
 * some plain loads and stores; who prints sums them up. */
#pragma once

#include "proto/text.h"
#include "server/http/router.h"

#include <stdbool.h>

/* Routes of the table that are told apart. */
#define REQUEST_METRICS_ROUTE_LIMIT 64

/* route: of routes_table, NULL when none was found. From the headers to the end of the answer. */
void request_metrics_count(const struct route *route, unsigned http_status, double seconds);
void request_metrics_count_result(bool found);

void request_metrics_print(struct text *text);
