#include "server/http/request/request_metrics.h"

#include "server/metrics.h"

#include <math.h>

#define NONE REQUEST_METRICS_ROUTE_LIMIT

/* All HTTP status codes are below this number. */
#define CODE_COUNT 600

static const double bounds[] = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,    0.1,
                                0.5,    1,      5,     10,    60,   INFINITY};

struct route_counts {
    _Atomic uint64_t by_code[CODE_COUNT]; /* index 0: no answer was sent */
    struct histogram seconds;
};

static struct route_counts
    routes[REQUEST_METRICS_ROUTE_LIMIT + 1]; /* the last entry counts requests without a route */
static _Atomic uint64_t results_found;
static _Atomic uint64_t results_missed;

void request_metrics_count(const struct route *route, unsigned http_status, double seconds)
{
    struct route_counts *counts = &routes[route == NULL ? NONE : (size_t)(route - router_table)];
    CHECK(http_status < CODE_COUNT);
    atomic_fetch_add(&counts->by_code[http_status], 1);
    metrics_observe_into(&counts->seconds, bounds, seconds);
}

void request_metrics_count_result(bool found)
{
    atomic_fetch_add(found ? &results_found : &results_missed, 1);
}

/* Prints the labels of a route into `labels`, or returns NULL if the route has had no requests. PUT
 * counts as POST and HEAD as GET, because they share a row of the table. */
static const char *print_labels(size_t index, struct text *labels)
{
    const struct route *route = index < router_route_count ? &router_table[index] : NULL;
    bool is_asked = false;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++) {
        is_asked = is_asked || routes[index].seconds.counts[i] > 0;
    }
    if (!is_asked) {
        return NULL;
    }
    text_clear(labels);
    text_printf(labels, "method=\"%s\",route=\"%s\"",
                route == NULL                    ? ""
                : route->methods & METHOD_GET    ? "GET"
                : route->methods & METHOD_DELETE ? "DELETE"
                : route->methods & METHOD_PATCH  ? "PATCH"
                : route->methods == METHOD_PUT   ? "PUT"
                                                 : "POST",
                route == NULL ? "" : route->pattern);
    return labels->bytes != NULL ? labels->bytes : "";
}

static void print_requests(struct text *text, struct text *labels)
{
    static const char name[] = "apspd_http_requests_total";
    metrics_print_head(
        text, name, "counter",
        "Requests by route and status code; code 0: the client disconnected before the response.");
    for (size_t route = 0; route <= NONE; route++) {
        const char *printed = print_labels(route, labels);
        for (size_t code = 0; printed != NULL && code < CODE_COUNT; code++) {
            const uint64_t count = routes[route].by_code[code];
            if (count > 0) {
                text_printf(text, "%s{code=\"%zu\",%s} %llu\n", name, code, printed,
                            (unsigned long long)count);
            }
        }
    }
}

static void print_durations(struct text *text, struct text *labels)
{
    static const char name[] = "apspd_http_request_duration_seconds";
    metrics_print_head(text, name, "histogram",
                       "Seconds from the request's headers to the end of the response, by route.");
    for (size_t route = 0; route <= NONE; route++) {
        const char *printed = print_labels(route, labels);
        if (printed != NULL) {
            metrics_print_series(text, name, printed, bounds, &routes[route].seconds);
        }
    }
}

void request_metrics_print(struct text *text)
{
    static const char name[] = "apspd_result_lookups_total";
    struct text labels = {0};
    print_requests(text, &labels);
    print_durations(text, &labels);
    metrics_print_head(text, name, "counter",
                       "Requests for a result, by whether it was available: hit or miss.");
    metrics_print_sample(text, name, "outcome=\"hit\"", (double)results_found);
    metrics_print_sample(text, name, "outcome=\"miss\"", (double)results_missed);
    text->failed |= labels.failed;
    text_finish(&labels);
}
