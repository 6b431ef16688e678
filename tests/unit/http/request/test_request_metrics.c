#include "server/http/request/request_metrics.h"

#include "server/http/request/router.h"
#include "tests/lib/test.h"

#include <pthread.h>

#define DISTANCE "method=\"GET\",route=\"/v1/graphs/{g}/distance\""

static bool prints(const char *line)
{
    struct text text = {0};
    request_metrics_print(&text);
    assert_int_equal(text_status(&text), STATUS_OK);
    const char *at = strstr(text.bytes, line);
    const bool found = at != NULL && at[strlen(line)] == '\n';
    text_finish(&text);
    return found;
}

static const struct route *find(const char *pattern, unsigned methods)
{
    for (size_t i = 0; i < router_route_count; i++) {
        if (strcmp(router_table[i].pattern, pattern) == 0 && (router_table[i].methods & methods)) {
            return &router_table[i];
        }
    }
    fail();
    return NULL;
}

/* Code 0 counts requests whose client disconnected. */
TEST(every_status_is_counted_under_its_http_code)
{
    const struct route *route = find("/v1/devices", METHOD_GET);
    for (int status = 0; status < STATUS_COUNT; status++) {
        const unsigned code = status_info((enum status)status)->http;
        char line[80];
        request_metrics_count(route, code, 0);
        snprintf(line, sizeof(line), "total{code=\"%u\",method=\"GET\",route=\"/v1/devices\"}",
                 code);
        struct text text = {0};
        request_metrics_print(&text);
        assert_non_null(strstr(text.bytes, line));
        text_finish(&text);
    }
}

TEST(a_request_is_counted_by_route_and_code)
{
    request_metrics_count(find("/v1/jobs", METHOD_PUT), 202, 0.002);
    request_metrics_count(find("/v1/jobs", METHOD_GET), 200, 0.25);
    request_metrics_count(find("/v1/jobs", METHOD_GET), 400, 100);
    request_metrics_count(find("/v1/jobs/{id}", METHOD_DELETE), 409, 0);
    request_metrics_count(NULL, 404, 0.001);
    request_metrics_count(NULL, 0, 0.001);
    assert_true(prints("total{code=\"202\",method=\"POST\",route=\"/v1/jobs\"} 1"));
    assert_true(prints("total{code=\"200\",method=\"GET\",route=\"/v1/jobs\"} 1"));
    assert_true(prints("total{code=\"400\",method=\"GET\",route=\"/v1/jobs\"} 1"));
    assert_true(prints("total{code=\"409\",method=\"DELETE\",route=\"/v1/jobs/{id}\"} 1"));
    assert_true(prints("total{code=\"404\",method=\"\",route=\"\"} 1"));
    assert_true(prints("total{code=\"0\",method=\"\",route=\"\"} 1"));
    assert_true(prints("bucket{method=\"GET\",route=\"/v1/jobs\",le=\"0.1\"} 0"));
    assert_true(prints("bucket{method=\"GET\",route=\"/v1/jobs\",le=\"0.5\"} 1"));
    assert_true(prints("bucket{method=\"GET\",route=\"/v1/jobs\",le=\"60\"} 1"));
    assert_true(prints("bucket{method=\"GET\",route=\"/v1/jobs\",le=\"+Inf\"} 2"));
    assert_true(prints("sum{method=\"GET\",route=\"/v1/jobs\"} 100.25"));
    assert_true(prints("count{method=\"GET\",route=\"/v1/jobs\"} 2"));
    assert_false(prints("count{method=\"GET\",route=\"/v1/graphs\"} 0"));
}

TEST(every_route_has_a_metric)
{
    for (size_t i = 0; i < router_route_count; i++) {
        request_metrics_count(&router_table[i], 507, 1);
    }
    struct text text = {0};
    size_t lines = 0;
    request_metrics_print(&text);
    for (const char *at = text.bytes; (at = strstr(at, "{code=\"507\"")) != NULL; at++) {
        lines++;
    }
    assert_int_equal(lines, router_route_count);
    text_finish(&text);
}

#define THREADS 80
#define EACH 500

static void *count(void *context)
{
    for (int i = 0; i < EACH; i++) {
        request_metrics_count(&router_table[0], 200, 0.00005);
        request_metrics_count_result(i % 5 != 0);
    }
    return context;
}

TEST(counts_from_concurrent_threads_add_up)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(prints("total{code=\"200\"," DISTANCE "} 40000"));
    assert_true(prints("bucket{" DISTANCE ",le=\"0.0001\"} 40000"));
    assert_true(prints("apspd_result_lookups_total{outcome=\"hit\"} 32000"));
    assert_true(prints("apspd_result_lookups_total{outcome=\"miss\"} 8000"));
}
