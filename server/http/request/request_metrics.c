#include "server/http/request/request_metrics.h"

#include "server/http/request/router.h"
#include "server/metrics.h"

#include <stdatomic.h>
#include <string.h>

/* The last shard is shared by all threads that found no other one free. */
#define SHARD_LIMIT 65
#define NONE REQUEST_METRICS_ROUTE_LIMIT

/* Frequent codes come first, because the search is linear. */
static const unsigned short codes[] = {200, 202, 304, 206, 201, 204, 404, 409, 400, 429, 503, 401,
                                       403, 405, 406, 411, 413, 415, 416, 421, 422, 500, 507};

#define CODE_COUNT (sizeof(codes) / sizeof(codes[0]))

static const double bounds[] = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};

#define BOUND_COUNT (sizeof(bounds) / sizeof(bounds[0]))

struct route_counts {
    _Atomic uint64_t by_code[CODE_COUNT + 1]; /* the last: any other */
    _Atomic uint64_t by_bound[BOUND_COUNT + 1];
    _Atomic uint64_t nanoseconds;
};

struct shard {
    struct route_counts routes[REQUEST_METRICS_ROUTE_LIMIT + 1]; /* the last: none of them */
    _Atomic uint64_t results_found;
    _Atomic uint64_t results_missed;
};

static struct shard shards[SHARD_LIMIT];
static atomic_uint shard_count;
static _Thread_local struct shard *own;

static struct shard *find_shard(void)
{
    if (own == NULL) {
        const unsigned index = atomic_fetch_add_explicit(&shard_count, 1, memory_order_relaxed);
        own = &shards[index < SHARD_LIMIT - 1 ? index : SHARD_LIMIT - 1];
    }
    return own;
}

/* Without a locked instruction where nobody else writes. */
static void add(const struct shard *shard, _Atomic uint64_t *counter, uint64_t amount)
{
    if (shard == &shards[SHARD_LIMIT - 1]) {
        atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

static size_t code_index(unsigned http_status)
{
    size_t i = 0;
    while (i < CODE_COUNT && codes[i] != http_status) {
        i++;
    }
    return i;
}

static size_t bound_index(double seconds)
{
    size_t i = 0;
    while (i < BOUND_COUNT && seconds > bounds[i]) {
        i++;
    }
    return i;
}

void request_metrics_count(const struct route *route, unsigned http_status, double seconds)
{
    struct shard *shard = find_shard();
    struct route_counts *counts =
        &shard->routes[route == NULL ? NONE : (size_t)(route - router_table)];
    add(shard, &counts->by_code[code_index(http_status)], 1);
    add(shard, &counts->by_bound[bound_index(seconds)], 1);
    add(shard, &counts->nanoseconds, seconds > 0 ? (uint64_t)(seconds * 1e9) : 0);
}

void request_metrics_count_result(bool found)
{
    struct shard *shard = find_shard();
    add(shard, found ? &shard->results_found : &shard->results_missed, 1);
}

/* ---- Text ---- */

struct route_sums {
    uint64_t by_code[CODE_COUNT + 1];
    uint64_t by_bound[BOUND_COUNT + 1]; /* cumulative */
    uint64_t nanoseconds;
};

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static unsigned shards_used(void)
{
    const unsigned count = atomic_load_explicit(&shard_count, memory_order_relaxed);
    return count < SHARD_LIMIT ? count : SHARD_LIMIT;
}

static void sum_route(size_t route, struct route_sums *ret_sums)
{
    const unsigned used = shards_used();
    memset(ret_sums, 0, sizeof(*ret_sums));
    for (unsigned s = 0; s < used; s++) {
        const struct route_counts *counts = &shards[s].routes[route];
        for (size_t i = 0; i <= CODE_COUNT; i++) {
            ret_sums->by_code[i] += read_counter(&counts->by_code[i]);
        }
        for (size_t i = 0; i <= BOUND_COUNT; i++) {
            ret_sums->by_bound[i] += read_counter(&counts->by_bound[i]);
        }
        ret_sums->nanoseconds += read_counter(&counts->nanoseconds);
    }
    for (size_t i = 1; i <= BOUND_COUNT; i++) {
        ret_sums->by_bound[i] += ret_sums->by_bound[i - 1];
    }
}

/* PUT is counted with POST, and HEAD with GET: the table has one line for both. */
static const char *method_of(const struct route *route)
{
    if (route->methods & METHOD_GET) {
        return "GET";
    }
    return route->methods & METHOD_DELETE ? "DELETE" : "POST";
}

/* Borrowed from labels, which remembers whether memory ran out. */
static const char *print_labels(size_t route, struct text *labels)
{
    text_clear(labels);
    metrics_print_label(labels, "method", route == NONE ? "" : method_of(&router_table[route]));
    metrics_print_label(labels, "route", route == NONE ? "" : router_table[route].pattern);
    return labels->bytes != NULL ? labels->bytes : "";
}

static void print_codes(struct text *text, const char *labels, const struct route_sums *sums)
{
    static const char name[] = "apspd_http_requests_total";
    for (size_t i = 0; i <= CODE_COUNT; i++) {
        if (sums->by_code[i] > 0) {
            text_printf(text, "%s{code=\"%u\",%s} %llu\n", name, i < CODE_COUNT ? codes[i] : 0,
                        labels, (unsigned long long)sums->by_code[i]);
        }
    }
}

static bool is_listed(size_t route, const struct route_sums *sums)
{
    return (route < router_route_count || route == NONE) && sums->by_bound[BOUND_COUNT] > 0;
}

static void print_requests(struct text *text, struct text *labels)
{
    struct route_sums sums;
    metrics_print_head(text, "apspd_http_requests_total", "counter",
                       "Requests answered, by route and code; code 0: the client left before.");
    for (size_t route = 0; route <= NONE; route++) {
        sum_route(route, &sums);
        if (is_listed(route, &sums)) {
            print_codes(text, print_labels(route, labels), &sums);
        }
    }
}

static void print_durations(struct text *text, struct text *labels)
{
    static const char name[] = "apspd_http_request_duration_seconds";
    struct route_sums sums;
    metrics_print_head(text, name, "histogram",
                       "Seconds from the headers of a request to the end of its answer, by route.");
    for (size_t route = 0; route <= NONE; route++) {
        sum_route(route, &sums);
        if (is_listed(route, &sums)) {
            metrics_print_series(text, name, print_labels(route, labels), bounds, sums.by_bound,
                                 BOUND_COUNT, (double)sums.nanoseconds * 1e-9);
        }
    }
}

static void print_results(struct text *text)
{
    static const char name[] = "apspd_result_lookups_total";
    const unsigned used = shards_used();
    uint64_t found = 0;
    uint64_t missed = 0;
    for (unsigned s = 0; s < used; s++) {
        found += read_counter(&shards[s].results_found);
        missed += read_counter(&shards[s].results_missed);
    }
    metrics_print_head(text, name, "counter",
                       "Questions for a result, by whether it was there when they came.");
    metrics_print_sample(text, name, "outcome=\"hit\"", (double)found);
    metrics_print_sample(text, name, "outcome=\"miss\"", (double)missed);
}

void request_metrics_print(struct text *text)
{
    struct text labels = {0};
    print_requests(text, &labels);
    print_durations(text, &labels);
    print_results(text);
    text->failed |= labels.failed;
    text_finish(&labels);
}
