/* The figures of a process that Prometheus' own clients give: memory, processor time, open
 * files. When it started is in server/metrics.h. */
#pragma once

#include "proto/text.h"

void process_metrics_print(struct text *text);
