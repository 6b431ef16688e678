#include "server/metrics.h"

#include "proto/number.h"

#include <math.h>
#include <string.h>

#define PHASE "apspd_job_phase_seconds_total"
#define PHASE_HELP "Seconds that jobs spent in each phase of their solves."
#define ENDED "apspd_jobs_ended_total"
#define ENDED_HELP "Jobs that have ended, by final state."
#define UPLOADS "apspd_uploads_total"
#define UPLOADS_HELP "Uploads of graphs, by outcome: taken or refused."

/* The rows of one metric must be adjacent, because its HELP and TYPE lines are printed once. */
static const struct {
    const char *name;
    const char *labels;
    const char *type;
    const char *help;
} lines[METRIC_COUNT] = {
    [METRIC_START_TIME] = {"process_start_time_seconds", "", "gauge",
                           "Start time of the process, in seconds since 1970."},
    [METRIC_READY] = {"apspd_ready", "", "gauge",
                      "1 if at least one worker can solve graphs, else 0."},
    [METRIC_DRAINING] = {"apspd_draining", "", "gauge",
                         "1 if the service is shutting down and accepts no jobs, else 0."},
    [METRIC_WORKERS] = {"apspd_workers", "", "gauge", "Workers that have a device for solving."},
    [METRIC_DEVICES_LOST] = {"apspd_devices_lost_total", "", "counter",
                             "Devices lost, together with their worker, during a job."},
    [METRIC_JOBS_QUEUED] = {"apspd_jobs", "state=\"queued\"", "gauge",
                            "Jobs that have not ended, by state."},
    [METRIC_JOBS_RUNNING] = {"apspd_jobs", "state=\"running\"", "gauge",
                             "Jobs that have not ended, by state."},
    [METRIC_QUEUE_LIMIT] = {"apspd_queue_limit_jobs", "", "gauge",
                            "Maximum number of waiting jobs (jobs.queue_limit)."},
    [METRIC_JOBS_ACCEPTED] = {"apspd_jobs_accepted_total", "", "counter", "Jobs accepted."},
    [METRIC_JOBS_DONE] = {ENDED, "state=\"done\"", "counter", ENDED_HELP},
    [METRIC_JOBS_FAILED] = {ENDED, "state=\"failed\"", "counter", ENDED_HELP},
    [METRIC_JOBS_CANCELLED] = {ENDED, "state=\"cancelled\"", "counter", ENDED_HELP},
    [METRIC_JOBS_KNOWN] = {"apspd_jobs_known_total", "", "counter",
                           "Jobs that needed no solve because their result already existed."},
    [METRIC_JOBS_PUT_BACK] = {"apspd_jobs_put_back_total", "", "counter",
                              "Jobs stopped during their solve and queued again."},
    [METRIC_PARSE_SECONDS] = {PHASE, "phase=\"parse\"", "counter", PHASE_HELP},
    [METRIC_PLAN_SECONDS] = {PHASE, "phase=\"plan\"", "counter", PHASE_HELP},
    [METRIC_FILL_SECONDS] = {PHASE, "phase=\"fill\"", "counter", PHASE_HELP},
    [METRIC_H2D_SECONDS] = {PHASE, "phase=\"h2d\"", "counter", PHASE_HELP},
    [METRIC_COMPUTE_SECONDS] = {PHASE, "phase=\"compute\"", "counter", PHASE_HELP},
    [METRIC_D2H_SECONDS] = {PHASE, "phase=\"d2h\"", "counter", PHASE_HELP},
    [METRIC_VERIFY_SECONDS] = {PHASE, "phase=\"verify\"", "counter", PHASE_HELP},
    [METRIC_WRITE_SECONDS] = {PHASE, "phase=\"write\"", "counter", PHASE_HELP},
    [METRIC_RELAXATIONS] = {"apspd_relaxations_total", "", "counter",
                            "Relaxations of finished solves: n^3 per graph, minus the relaxations "
                            "that its plan skips."},
    [METRIC_GRAPHS] = {"apspd_graphs", "", "gauge", "Graphs stored."},
    [METRIC_RESULTS] = {"apspd_results", "", "gauge", "Results that serve queries."},
    [METRIC_RESULT_BYTES] = {"apspd_results_bytes", "", "gauge",
                             "Total size in bytes of the result files that serve queries."},
    [METRIC_RESULTS_EVICTED] = {"apspd_results_evicted_total", "", "counter",
                                "Results evicted to stay within the storage limits."},
    [METRIC_STORE_FAILURES] = {"apspd_store_failures_total", "", "counter",
                               "Changes that could not be written to the state directory."},
    [METRIC_UPLOADS_TAKEN] = {UPLOADS, "outcome=\"taken\"", "counter", UPLOADS_HELP},
    [METRIC_UPLOADS_REFUSED] = {UPLOADS, "outcome=\"refused\"", "counter", UPLOADS_HELP},
    [METRIC_UPLOAD_BYTES] = {"apspd_upload_bytes_total", "", "counter",
                             "Bytes received in uploads, including refused uploads."},
    [METRIC_COMPUTING] = {"apspd_http_computing", "", "gauge",
                          "Connections whose response is being computed."},
    [METRIC_CONNECTIONS] = {"apspd_http_connections", "", "gauge", "Open connections."},
};

static const struct {
    const char *name;
    const char *help;
} histograms[METRICS_HISTOGRAM_COUNT] = {
    [METRICS_QUEUE_SECONDS] = {"apspd_queue_wait_seconds",
                               "Seconds that jobs waited for a worker before they started."},
    [METRICS_JOB_SECONDS] = {"apspd_job_duration_seconds",
                             "Seconds from acceptance to completion of solved jobs."},
};

static const double bounds[] = {0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 1800, INFINITY};

static _Atomic double values[METRIC_COUNT];
static struct histogram observed[METRICS_HISTOGRAM_COUNT];

static void add_amount(_Atomic double *value, double amount)
{
    double before = atomic_load_explicit(value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(value, &before, before + amount,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

void metrics_add(enum metric metric, double amount)
{
    add_amount(&values[metric], amount);
}

void metrics_set(enum metric metric, double value)
{
    atomic_store_explicit(&values[metric], value, memory_order_relaxed);
}

void metrics_observe_into(struct histogram *histogram, const double *bounds_of, double seconds)
{
    size_t bucket = 0;
    while (seconds > bounds_of[bucket]) {
        bucket++;
    }
    atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
    add_amount(&histogram->sum, seconds);
}

void metrics_observe(enum metrics_histogram histogram, double seconds)
{
    metrics_observe_into(&observed[histogram], bounds, seconds);
}

void metrics_print_head(struct text *text, const char *name, const char *type, const char *help)
{
    text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_value(struct text *text, double value)
{
    char digits[NUMBER_PRINT_SIZE];
    if (isfinite(value)) {
        text_append(text, digits, number_print_real(value, false, digits));
    } else {
        text_append_string(text, "+Inf"); /* the bound of a histogram's last bucket */
    }
}

void metrics_print_sample(struct text *text, const char *name, const char *labels, double value)
{
    text_append_string(text, name);
    if (labels[0] != '\0') {
        text_printf(text, "{%s}", labels);
    }
    text_append_char(text, ' ');
    print_value(text, value);
    text_append_char(text, '\n');
}

void metrics_print_series(struct text *text, const char *name, const char *labels,
                          const double *bounds_of, const struct histogram *histogram)
{
    const char *open = labels[0] != '\0' ? "{" : "";
    const char *close = labels[0] != '\0' ? "}" : "";
    uint64_t count = 0;
    for (size_t i = 0; i == 0 || isfinite(bounds_of[i - 1]); i++) {
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        text_printf(text, "%s_bucket{%s%sle=\"", name, labels, labels[0] != '\0' ? "," : "");
        print_value(text, bounds_of[i]);
        text_printf(text, "\"} %llu\n", (unsigned long long)count);
    }
    text_printf(text, "%s_sum%s%s%s ", name, open, labels, close);
    print_value(text, atomic_load_explicit(&histogram->sum, memory_order_relaxed));
    text_printf(text, "\n%s_count%s%s%s %llu\n", name, open, labels, close,
                (unsigned long long)count);
}

void metrics_print(struct text *text)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (i == 0 || strcmp(lines[i].name, lines[i - 1].name) != 0) {
            metrics_print_head(text, lines[i].name, lines[i].type, lines[i].help);
        }
        metrics_print_sample(text, lines[i].name, lines[i].labels,
                             atomic_load_explicit(&values[i], memory_order_relaxed));
    }
    for (int i = 0; i < METRICS_HISTOGRAM_COUNT; i++) {
        metrics_print_head(text, histograms[i].name, "histogram", histograms[i].help);
        metrics_print_series(text, histograms[i].name, "", bounds, &observed[i]);
    }
}
