#include "server/http/request/lifecycle.h"

#include "proto/text.h"
#include "server/clock.h"
#include "server/http/request/auth.h"
#include "server/http/request/head.h"
#include "server/http/request/origin.h"
#include "server/http/request/request_metrics.h"
#include "server/metrics.h"
#include "server/scheduler/jobs.h"

#include <string.h>

/* ---- Checks at the headers ---- */

static bool is_preflight(const struct request *request)
{
    return request->method == METHOD_OPTIONS && request_header(request, "Origin") != NULL &&
           request_header(request, "Access-Control-Request-Method") != NULL;
}

/* Refuses requests that a page of another site may have caused a browser to send. Such a page has
 * no key, so Host is checked only when no keys are configured. On a Unix socket only Origin is
 * checked: browsers cannot connect, but a proxy may forward Origin. */
static enum status check_origin(const struct request *request, struct problem *reterr)
{
    static const char *const public_paths[] = {"/livez", "/readyz", "/metrics"};
    const struct config *config = request->http_context->config;
    const size_t size = strcspn(request->target, "?");
    const char *host = request_header(request, "Host");
    const char *origin = request_header(request, "Origin");
    const unsigned safe = METHOD_GET | METHOD_HEAD | METHOD_OPTIONS;
    bool is_known = request->http_context->keyring != NULL || request->http_context->is_unix ||
                    origin_knows_host(config, host);
    /* Health and metrics pages are not private, and monitors may use any host name. */
    for (size_t i = 0; i < 3 && !is_known; i++) {
        is_known =
            strlen(public_paths[i]) == size && memcmp(public_paths[i], request->target, size) == 0;
    }
    if (!is_known) {
        return problem_refuse(reterr, STATUS_WRONG_HOST,
                              "The option http.hosts lists the accepted host names; an IP address "
                              "is always accepted.",
                              "\"%s\" is not a name of this service.", host);
    }
    if (((request->method & safe) == 0 || is_preflight(request)) &&
        origin_is_foreign(config, host, origin, request_header(request, "Sec-Fetch-Site"))) {
        return problem_refuse(
            reterr, STATUS_CROSS_ORIGIN, "The option http.cors_origins lists the allowed origins.",
            "Web pages of %s may not send this request.", origin == NULL ? "another site" : origin);
    }
    return STATUS_OK;
}

/* Allows a CORS preflight even of a wrong path, so that the page can read the error for that
 * path. */
static void answer_preflight(struct request *request)
{
    request_add_header(request, "Access-Control-Allow-Methods", ORIGIN_CORS_METHODS);
    request_add_header(request, "Access-Control-Allow-Headers", ORIGIN_CORS_REQUEST_HEADERS);
    request_add_header(request, "Access-Control-Max-Age", ORIGIN_CORS_MAX_AGE_S);
    request_answer(request, MHD_HTTP_NO_CONTENT,
                   MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
}

static enum status check_if_match(const struct request *request, struct problem *reterr)
{
    const char *wanted = request_header(request, "If-Match");
    const char *known = request_header(request, "If-None-Match");
    /* For GET and HEAD, request_answer_condition compares If-Match once the answer has its tag. */
    if ((request->method & (METHOD_GET | METHOD_HEAD)) != 0) {
        return STATUS_OK;
    }
    if (known != NULL && strlen(known) >= IF_MATCH_SIZE) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "If-None-Match lists too many tags.");
    }
    if (wanted == NULL) {
        return STATUS_OK;
    }
    if (!request->match.route->compares && !text_lists_tag(wanted, "*", false)) {
        return problem_refuse(
            reterr, STATUS_PRECONDITION_FAILED, "Omit If-Match.",
            "The resource that the request changes has no ETag, so If-Match cannot match.");
    }
    return strlen(wanted) < IF_MATCH_SIZE || !request->match.route->compares
               ? STATUS_OK
               : problem_set(reterr, STATUS_BAD_REQUEST, "If-Match lists too many tags.");
}

static enum status find_route(struct request *request, struct problem *reterr)
{
    char allow[ROUTER_ALLOW_SIZE];
    char *rest = strchr(request->target, '?');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    const enum status status =
        router_find(request->method, request->target, &request->match, allow, reterr);
    if (allow[0] != '\0') {
        request_set_header(request, MHD_HTTP_HEADER_ALLOW, "%s", allow);
    }
    STATUS_TRY(status);
    STATUS_TRY(auth_check(request, reterr));
    STATUS_TRY(query_parse(rest, &request->query, reterr));
    STATUS_TRY(query_check(&request->query, request->match.route->parameters,
                           request->http_context->config->wait_limit_s, reterr));
    return check_if_match(request, reterr);
}

static enum status check_request(struct request *request, const struct framing_head *line,
                                 bool *ret_body, struct problem *reterr)
{
    request->method = router_method(line->method);
    const enum status status = head_check(request, line, ret_body, reterr);
    /* Close after a refusal: a proxy may have framed the request differently (smuggling). */
    request->conn->is_last |= status != STATUS_OK;
    STATUS_TRY(status);
    STATUS_TRY(check_origin(request, reterr));
    if (is_preflight(request) &&
        origin_is_listed(request->http_context->config, request_header(request, "Origin"))) {
        request->resume = answer_preflight;
        return STATUS_OK;
    }
    STATUS_TRY(find_route(request, reterr));
    if (request->match.route->prepare != NULL) {
        STATUS_TRY(request->match.route->prepare(request, reterr));
    }
    return request_expect_body(request, reterr);
}

/* Refuses a request on a connection beyond the limit (429 or 503). */
static void refuse_connection(struct request *request)
{
    const struct config *config = request->http_context->config;
    request->conn->is_last = true;
    request->method = METHOD_OTHER;
    request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    const bool is_address = request->conn->verdict == CONN_ADDRESS_FULL;
    const double limit = is_address ? config->address_limit : config->connection_limit;
    problem_refuse_limit(&request->refusal,
                         is_address ? STATUS_ADDRESS_LIMIT : STATUS_CONNECTION_LIMIT, limit,
                         limit + 1, NULL, "%s",
                         is_address ? "This address has too many connections open."
                                    : "Too many connections are open.");
    request_refuse(request);
}

/* Begins a request when its headers are complete. line: the request line. libmicrohttpd closes the
 * connection after an answer that is queued now, so a refusal that lets the connection stay open is
 * sent in the next call of receive_request. */
static void begin_request(struct request *request, const struct framing_head *line)
{
    struct conn *conn = request->conn;
    bool has_body = false;
    request->state = REQUEST_BODY;
    request->match.route = NULL;
    request_assign_id(request);
    endpoint_enter_phase(conn, PHASE_HANDLER, 0);
    if (conn->verdict != CONN_OK) {
        refuse_connection(request);
    } else if (check_request(request, line, &has_body, &request->refusal) != STATUS_OK) {
        request->resume = request_refuse;
        /* Refuse at once, so that the client need not send the body in vain. */
        conn->is_last |= has_body;
        if (conn->is_last) {
            request_refuse(request);
        }
    }
    if (request->state == REQUEST_ANSWERED) {
        endpoint_enter_phase(conn, PHASE_ANSWER, 0);
    } else if (has_body) {
        endpoint_enter_phase(conn, PHASE_BODY, 0);
    }
}

/* Checks the required parameters, the document and the media type, then runs the handler. */
static void handle_request(struct request *request)
{
    const struct route *route = request->match.route;
    struct problem *problem = &request->refusal;
    for (size_t i = 0; i < route->required; i++) {
        if (query_value(&request->query, route->parameters[i]) == NULL) {
            problem_set(problem, STATUS_BAD_PARAMETER, "The parameter %s is missing.",
                        route->parameters[i]);
            request_refuse(request);
            return;
        }
    }
    if ((request->document_limit > 0 && request_check_document(request, problem) != STATUS_OK) ||
        (route->offers[0] != NULL &&
         request_choose_type(request, route->offers, &request->offer, problem) != STATUS_OK)) {
        request_refuse(request);
    } else if (route->needs == NEEDS_RESULT) {
        request_find_result(request, request_serve);
    } else if (route->needs == NEEDS_NAMES) {
        request_find_names(request);
    } else if (route->needs == NEEDS_GRAPH) {
        request_find_graph(request, request_serve);
    } else {
        request_serve(request);
    }
}

/* Continues a request that is complete, or whose call has been answered. */
static void continue_request(struct request *request)
{
    void (*resume)(struct request * request) = request->resume;
    request->resume = NULL;
    if (resume != NULL) {
        resume(request);
    } else if (request->conn->is_last &&
               head_check_trailers(request, &request->refusal) != STATUS_OK) {
        request_refuse(request);
    } else {
        handle_request(request);
    }
}

/* ---- Log and metrics ---- */

/* Logs server errors as warnings, and every request at the debug level. */
static void log_request(const struct request *request, double seconds)
{
    const struct call *call = request->call;
    const bool failed = request->http_status >= MHD_HTTP_INTERNAL_SERVER_ERROR &&
                        request->http_status != MHD_HTTP_SERVICE_UNAVAILABLE;
    if (!failed && !log_is_on(LOG_DEBUG)) {
        return;
    }
    log_write(failed ? LOG_WARNING : LOG_DEBUG, "request", LOG_TEXT("request", request->request_id),
              LOG_TEXT("trace_id", job_trace_id(call != NULL ? call->traceparent : "").text),
              LOG_TEXT("job", call != NULL ? call->job_id : ""),
              LOG_TEXT("method", router_method_name(request->method)),
              LOG_TEXT("path", request->target), LOG_NUMBER("status", request->http_status),
              LOG_NUMBER("body_bytes", request->body_bytes), LOG_NUMBER("seconds", seconds));
}

/* Counts and logs the request, whether it was answered or not. */
static void count_request(const struct request *request, double now_s)
{
    const bool taken = request->http_status != 0 && request->http_status < MHD_HTTP_BAD_REQUEST;
    if (request->state == REQUEST_NEW) {
        return;
    }
    request_metrics_count(request->match.route, request->http_status, now_s - request->began_s);
    if (request->upload != NULL) {
        metrics_add(taken ? METRIC_UPLOADS_TAKEN : METRIC_UPLOADS_REFUSED, 1);
        metrics_add(METRIC_UPLOAD_BYTES, (double)request->body_bytes);
    }
    log_request(request, now_s - request->began_s);
}

/* ---- Callbacks of libmicrohttpd and of the endpoint ---- */

static enum MHD_Result receive_request(void *context, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *upload_data, size_t *upload_data_size,
                                       void **request_context)
{
    struct request *request = *request_context;
    (void)context;
    (void)connection;
    if (request == NULL) {
        return MHD_NO;
    }
    request->outcome = MHD_YES;
    if (request->state == REQUEST_NEW) {
        const struct framing_head line = {.method = method, .version = version, .url_place = url};
        begin_request(request, &line);
        return request->outcome;
    }
    if (*upload_data_size > 0) {
        const size_t size = *upload_data_size;
        *upload_data_size = 0;
        request->conn->deadlines.received += size;
        return request_feed_body(request, upload_data, size);
    }
    if (request->state != REQUEST_ANSWERED) {
        endpoint_enter_phase(request->conn, PHASE_HANDLER, 0); /* the body is complete */
        continue_request(request);
    }
    if (request->state == REQUEST_ANSWERED) {
        endpoint_enter_phase(request->conn, PHASE_ANSWER, 0);
    }
    return request->outcome;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request_context,
                        enum MHD_RequestTerminationCode reason)
{
    struct request *request = *request_context;
    const double now_s = clock_monotonic_s();
    (void)context;
    (void)connection;
    (void)reason;
    *request_context = NULL;
    /* request is NULL if request_create ran out of memory. */
    if (request != NULL) {
        struct conn *conn = request->conn;
        count_request(request, now_s);
        request_destroy(request);
        conn->request = NULL;
        endpoint_enter_phase(conn, PHASE_HEADERS, now_s);
    }
}

void request_set_callbacks(struct endpoint_rules *rules)
{
    rules->request_started = request_create;
    rules->request_came = receive_request;
    rules->request_ended = end_request;
    rules->client_left = request_client_left;
    rules->conn_closed = request_destroy;
}
