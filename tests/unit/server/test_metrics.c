#include "server/metrics.h"
#include "tests/lib/test.h"

#include <pthread.h>

static char *print(void)
{
    struct text text = {0};
    metrics_print(&text);
    assert_int_equal(text_status(&text), STATUS_OK);
    return text_take(&text, NULL);
}

static bool has_line(const char *text, const char *line)
{
    const size_t size = strlen(line);
    for (const char *at = text; (at = strstr(at, line)) != NULL; at++) {
        if ((at == text || at[-1] == '\n') && at[size] == '\n') {
            return true;
        }
    }
    return false;
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
        count++;
    }
    return count;
}

TEST(counters_add_up_and_gauges_are_set)
{
    metrics_add(METRIC_JOBS_DONE, 2);
    metrics_add(METRIC_JOBS_DONE, 1);
    metrics_add(METRIC_COMPUTE_SECONDS, 0.25);
    metrics_set(METRIC_JOBS_QUEUED, 7);
    metrics_set(METRIC_JOBS_QUEUED, 5);
    metrics_add(METRIC_CONNECTIONS, 1);
    metrics_add(METRIC_CONNECTIONS, -1);
    char *text = print();
    assert_true(has_line(text, "apspd_jobs_ended_total{state=\"done\"} 3"));
    assert_true(has_line(text, "apspd_jobs_ended_total{state=\"failed\"} 0"));
    assert_true(has_line(text, "apspd_job_phase_seconds_total{phase=\"compute\"} 0.25"));
    assert_true(has_line(text, "apspd_jobs{state=\"queued\"} 5"));
    assert_true(has_line(text, "apspd_http_connections 0"));
    free(text);
}

TEST(each_metric_family_has_one_header)
{
    char *text = print();
    assert_int_equal(count_of(text, "# TYPE apspd_jobs_ended_total counter\n"), 1);
    assert_int_equal(count_of(text, "# HELP apspd_jobs_ended_total "), 1);
    assert_int_equal(count_of(text, "\napspd_jobs_ended_total{"), 3);
    assert_int_equal(count_of(text, "# TYPE"), count_of(text, "# HELP"));
    free(text);
}

TEST(a_histogram_is_cumulative)
{
    metrics_observe(METRICS_QUEUE_SECONDS, 0.001);
    metrics_observe(METRICS_QUEUE_SECONDS, 0.25);
    metrics_observe(METRICS_QUEUE_SECONDS, 1e9);
    char *text = print();
    assert_true(has_line(text, "# TYPE apspd_queue_wait_seconds histogram"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_bucket{le=\"0.001\"} 1"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_bucket{le=\"0.1\"} 1"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_bucket{le=\"0.5\"} 2"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_bucket{le=\"1800\"} 2"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_bucket{le=\"+Inf\"} 3"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_count 3"));
    assert_true(has_line(text, "apspd_queue_wait_seconds_sum 1000000000.251"));
    free(text);
}

#define EACH 20000

static void *count(void *context)
{
    for (int i = 0; i < EACH; i++) {
        metrics_add(METRIC_UPLOAD_BYTES, 3);
        metrics_observe(METRICS_JOB_SECONDS, 0.5);
    }
    return context;
}

TEST(counts_from_concurrent_threads_add_up)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    char *text = print();
    assert_true(has_line(text, "apspd_upload_bytes_total 240000"));
    assert_true(has_line(text, "apspd_job_duration_seconds_count 80000"));
    assert_true(has_line(text, "apspd_job_duration_seconds_sum 40000"));
    free(text);
}
