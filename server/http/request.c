#include "server/http/request.h"

#include "server/clock.h"
#include "server/http/access.h"
#include "server/http/body.h"
#include "server/http/guard.h"
#include "server/http/request_metrics.h"
#include "server/http/routes.h"
#include "server/http/strictness.h"
#include "server/job/job.h"
#include "server/metrics.h"

#include <string.h>

#define GUARD_HEADER_LIMIT 100

/* Kilobytes: never zeroed. */
struct header_list {
    struct exchange *exchange;
    size_t count;
    struct guard_header headers[GUARD_HEADER_LIMIT];
};

static enum MHD_Result collect_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_size, const char *value, size_t value_size)
{
    struct header_list *list = context;

    (void)kind;
    if (list->exchange != NULL) {
        exchange_note_header(list->exchange, name, name_size);
    }
    if (list->count < GUARD_HEADER_LIMIT) {
        list->headers[list->count] = (struct guard_header){name, name_size, value, value_size};
    }
    list->count++;
    return MHD_YES;
}

/* The headers stay as they are: there are kilobytes of room for them. */
static enum status collect(struct exchange *exchange, enum MHD_ValueKind kind,
                           struct header_list *list, struct problem *reterr)
{
    list->count = 0;
    MHD_get_connection_values_n(exchange->connection, kind, collect_header, list);
    if (list->count > GUARD_HEADER_LIMIT) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "The request has more than %d headers.",
                           GUARD_HEADER_LIMIT);
    }
    return STATUS_OK;
}

/* 0 where it is not for guard_gaps.h. */
static size_t head_size(const struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        strictness_leaves_gaps()
            ? MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
            : NULL;

    return info == NULL ? 0 : info->header_size;
}

/* line: as libmicrohttpd gave its strings. */
static enum status guard(struct exchange *exchange, const struct guard_request *line,
                         bool *ret_body, struct problem *reterr)
{
    struct header_list list;
    struct guard_request request = {
        .method = line->method,
        .version = line->version,
        .url = exchange->target,
        .headers = list.headers,
        .place_of_url = line->url,
        .head_size = head_size(exchange),
    };

    list.exchange = exchange;
    enum status status = collect(exchange, MHD_HEADER_KIND, &list, reterr);
    request.header_count = list.count;
    return status == STATUS_OK ? guard_check(&request, ret_body, reterr) : status;
}

static enum status guard_trailers(struct exchange *exchange, struct problem *reterr)
{
    struct header_list list;

    list.exchange = NULL;
    enum status status = collect(exchange, MHD_FOOTER_KIND, &list, reterr);

    return status == STATUS_OK ? guard_check_trailers(list.headers, list.count, reterr) : status;
}

static enum status route(struct exchange *exchange, struct problem *reterr)
{
    char allow[ROUTER_ALLOW_SIZE];
    const char *path = exchange->target;
    char *rest = strchr(path, '?');

    if (rest != NULL) {
        *rest++ = '\0';
    }
    enum status status = router_find(routes_table, routes_count, exchange->doors, exchange->method,
                                     path, &exchange->match, allow, reterr);

    if (allow[0] != '\0') {
        exchange_set_header(exchange, MHD_HTTP_HEADER_ALLOW, "%s", allow);
    }
    if (status == STATUS_OK) {
        status = access_check(exchange, reterr);
    }
    if (status == STATUS_OK) {
        status = query_parse(rest, &exchange->query, reterr);
    }
    if (status == STATUS_OK) {
        status = query_check(&exchange->query, exchange->match.route->parameters, reterr);
    }
    return status;
}

static enum status check(struct exchange *exchange, const struct guard_request *line,
                         struct problem *reterr)
{
    bool has_body = false;
    enum status status = guard(exchange, line, &has_body, reterr);

    exchange_name(exchange);
    /* What was refused, or had a body, may have been framed differently by a proxy. */
    exchange->closing = status != STATUS_OK || has_body;
    exchange->method = router_method(line->method);
    if (status == STATUS_OK) {
        status = route(exchange, reterr);
    }
    if (status == STATUS_OK && exchange->match.route->prepare != NULL) {
        status = exchange->match.route->prepare(exchange, reterr);
    }
    return status;
}

static void refuse_late(struct exchange *exchange)
{
    exchange_refuse(exchange, &exchange->refusal);
}

/* libmicrohttpd closes the connection after an answer given here, so what may go on is answered
 * when the request is complete, which without a body is at once. */
void request_begin(struct exchange *exchange, const struct guard_request *line)
{
    exchange->begun = true;
    exchange->match.route = NULL;
    if (check(exchange, line, &exchange->refusal) == STATUS_OK) {
        if (exchange->closing) {
            body_begin(exchange);
        }
        return;
    }
    if (exchange->closing) {
        refuse_late(exchange);
    } else {
        exchange->resume = refuse_late;
    }
}

void request_go_on(struct exchange *exchange)
{
    void (*resume)(struct exchange * exchange) = exchange->resume;

    exchange->resume = NULL;
    if (resume != NULL) {
        resume(exchange);
    } else if (exchange->closing && guard_trailers(exchange, &exchange->refusal) != STATUS_OK) {
        refuse_late(exchange);
    } else {
        exchange->match.route->handle(exchange);
    }
}

void request_turn_away(struct exchange *exchange, enum turnstile_verdict verdict)
{
    const struct config *config = exchange->house->config;
    struct problem *problem = &exchange->refusal;

    exchange->begun = exchange->closing = true;
    exchange->match.route = NULL;
    exchange_name(exchange);
    exchange->method = METHOD_OTHER;
    exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (verdict == TURNSTILE_ADDRESS_FULL) {
        problem_set(problem, STATUS_ADDRESS_LIMIT, "This address has too many connections open.");
        problem_limit(problem, config->address_limit, config->address_limit + 1.0);
    } else {
        problem_set(problem, STATUS_CONNECTION_LIMIT, "Too many connections are open.");
        problem_limit(problem, config->connection_limit, config->connection_limit + 1.0);
    }
    refuse_late(exchange);
}

/* ---- Its end ---- */

static void count_upload(const struct exchange *exchange)
{
    const bool taken = exchange->http_status != 0 && exchange->http_status < MHD_HTTP_BAD_REQUEST;

    metrics_add(taken ? METRIC_UPLOADS_TAKEN : METRIC_UPLOADS_REFUSED, 1);
    metrics_add(METRIC_UPLOAD_BYTES, (double)exchange->body_bytes);
}

/* A line for each request when everything is logged, else for those that failed by our fault. */
static void log_request(const struct exchange *exchange, double seconds)
{
    const bool failed = exchange->http_status >= MHD_HTTP_INTERNAL_SERVER_ERROR &&
                        exchange->http_status != MHD_HTTP_SERVICE_UNAVAILABLE;
    char trace_id[TRACE_ID_SIZE] = "";

    if (!failed && !log_is_on(LOG_DEBUG)) {
        return;
    }
    if (exchange->ask != NULL) {
        job_trace_id_of(exchange->ask->traceparent, trace_id);
    }
    log_write(failed ? LOG_WARNING : LOG_DEBUG, "request",
              LOG_TEXT("request", exchange->request_id), LOG_TEXT("trace_id", trace_id),
              LOG_TEXT("job", exchange->ask != NULL ? exchange->ask->job_id : ""),
              LOG_TEXT("method", router_method_name(exchange->method)),
              LOG_TEXT("path", exchange->target), LOG_NUMBER("status", exchange->http_status),
              LOG_NUMBER("body_bytes", exchange->body_bytes), LOG_NUMBER("seconds", seconds));
}

void request_account(const struct exchange *exchange, double now_s)
{
    if (!exchange->begun) {
        return;
    }
    request_metrics_count(exchange->match.route, exchange->http_status, now_s - exchange->began_s);
    if (exchange->has_upload) {
        count_upload(exchange);
    }
    log_request(exchange, now_s - exchange->began_s);
}
