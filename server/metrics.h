/* Metrics of the service for GET /metrics: one table in metrics.c gives each its name, labels and
 * help. To add a counter takes one line here, one line there, and a call of metrics_add.
 *
 * Atomics, shared by all threads: any may count and print. What is counted with every request, by
 * its route, is in server/http/request/request_metrics.h. */
#pragma once

#include "proto/text.h"

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
    METRICS_QUEUE_SECONDS, /* of a job that starts: how long it waited */
    METRICS_JOB_SECONDS,   /* of a job that was solved: from its acceptance to its end */
    METRICS_HISTOGRAM_COUNT
};

void metrics_add(enum metric metric, double amount);
void metrics_set(enum metric metric, double value);
void metrics_observe(enum metrics_histogram histogram, double seconds);

/* All of the above in the text format of Prometheus, version 0.0.4. */
void metrics_print(struct text *text);

/* For who prints families of his own: the two lines at the head of one, and a sample of it. labels:
 * printed, such as `state="done"`, or empty. */
void metrics_print_head(struct text *text, const char *name, const char *type, const char *help);
void metrics_print_sample(struct text *text, const char *name, const char *labels, double value);
/* `name="value"`, with quotes, backslashes and ends of lines escaped; a comma before it unless the
 * labels are empty. */
void metrics_print_label(struct text *labels, const char *name, const char *value);
/* Prints one series of a histogram from its cumulative buckets: `count` of them with their bounds,
 * then the one of all observations. */
void metrics_print_series(struct text *text, const char *name, const char *labels,
                          const double *bounds, const uint64_t *counts, size_t count, double sum);
