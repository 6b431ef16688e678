/* Metrics of the service for GET /metrics. One table in metrics.c gives each metric its name,
 * labels and help. A new counter needs an enumerator here, a row there, and a call of metrics_add.
 *
 * The values are global atomics: any thread may count and print. Counters of HTTP requests by route
 * are in server/http/request/request_metrics.h. */
#pragma once

#include "proto/text.h"

#include <stdatomic.h>
#include <stdint.h>

enum metric {
    METRIC_START_TIME,
    METRIC_READY,
    METRIC_DRAINING,
    METRIC_WORKERS,
    METRIC_DEVICES_LOST,
    METRIC_JOBS_QUEUED,
    METRIC_JOBS_RUNNING,
    METRIC_QUEUE_LIMIT,
    METRIC_JOBS_ACCEPTED,
    METRIC_JOBS_DONE,
    METRIC_JOBS_FAILED,
    METRIC_JOBS_CANCELLED,
    METRIC_JOBS_KNOWN,
    METRIC_JOBS_PUT_BACK,
    METRIC_PARSE_SECONDS,
    METRIC_PLAN_SECONDS,
    METRIC_FILL_SECONDS,
    METRIC_H2D_SECONDS,
    METRIC_COMPUTE_SECONDS,
    METRIC_D2H_SECONDS,
    METRIC_VERIFY_SECONDS,
    METRIC_WRITE_SECONDS,
    METRIC_RELAXATIONS,
    METRIC_GRAPHS,
    METRIC_RESULTS,
    METRIC_RESULT_BYTES,
    METRIC_RESULTS_EVICTED,
    METRIC_STORE_FAILURES,
    METRIC_UPLOADS_TAKEN,
    METRIC_UPLOADS_REFUSED,
    METRIC_UPLOAD_BYTES,
    METRIC_CONNECTIONS,
    METRIC_COMPUTING,
    METRIC_COUNT
};

enum metrics_histogram {
    METRICS_QUEUE_SECONDS, /* time that a job waited before it started */
    METRICS_JOB_SECONDS,   /* time from the acceptance of a solved job to its completion */
    METRICS_HISTOGRAM_COUNT
};

void metrics_add(enum metric metric, double amount);
void metrics_set(enum metric metric, double value);
void metrics_observe(enum metrics_histogram histogram, double seconds);

#define HISTOGRAM_BOUNDS_MAX 12

/* counts[i]: number of observations in (bounds[i - 1], bounds[i]]. The last bound is INFINITY. */
struct histogram {
    _Atomic uint64_t counts[HISTOGRAM_BOUNDS_MAX + 1];
    _Atomic double sum;
};

void metrics_observe_into(struct histogram *histogram, const double *bounds, double seconds);

/* Prints all metrics in the text format of Prometheus, version 0.0.4. */
void metrics_print(struct text *text);

/* For modules with their own metrics: these functions print a metric's HELP and TYPE lines, and a
 * sample. labels: the label pairs as printed, such as `state="done"`; may be empty. */
void metrics_print_head(struct text *text, const char *name, const char *type, const char *help);
void metrics_print_sample(struct text *text, const char *name, const char *labels, double value);
/* Prints one series of a histogram. */
void metrics_print_series(struct text *text, const char *name, const char *labels,
                          const double *bounds, const struct histogram *histogram);
