/* The calls of a request to the scheduler, and its wait for a result. */
#include "server/http/request/request.h"

#include "server/clock.h"
#include "server/http/request/headers.h"
#include "server/http/request/request_metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void refuse_for_memory(struct request *request)
{
    struct problem problem;

    problem_set(&problem, STATUS_NO_MEMORY, "There is no memory for the request.");
    request_refuse(request, &problem);
}

static enum MHD_Result count_traceparent(void *context, enum MHD_ValueKind kind, const char *name,
                                         const char *value)
{
    (void)kind;
    (void)value;
    *(unsigned *)context += strcasecmp(name, "traceparent") == 0;
    return MHD_YES;
}

/* Kept with the job, and given back. One that comes twice says nothing. */
static void read_trace(struct request *request, struct call *call)
{
    const char *given = request_header(request, "traceparent");
    unsigned count = 0;

    if (given == NULL || !header_traceparent(given, call->traceparent)) {
        return;
    }
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_traceparent, &count);
    if (count > 1) {
        call->traceparent[0] = '\0';
        return;
    }
    /* A request may ask a second time. */
    if (request->call == NULL) {
        request_add_header(request, "traceparent", call->traceparent);
    }
}

struct call *request_create_call(struct request *request, enum call_kind kind)
{
    struct call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        refuse_for_memory(request);
        return NULL;
    }
    call->kind = kind;
    call->tenant = request->grant.tenant;
    call->quota = request->grant.quota;
    memcpy(call->request_id, request->request_id, sizeof(call->request_id));
    read_trace(request, call);
    if (request->call != NULL) {
        call_finish(request->call);
    }
    free(request->call);
    request->call = call;
    return call;
}

/* On the thread of the endpoint again. */
static void come_back(struct call *call)
{
    struct request *request = call->context;

    call->messages_out--;
    if (call->messages_out == 0) {
        endpoint_resume(request->conn, request->connection);
    }
}

static void answer_came(struct message *message)
{
    come_back((struct call *)message);
}

static void left_came(struct message *message)
{
    come_back((struct call *)(void *)((char *)message - offsetof(struct call, left)));
}

/* These two on the loop thread: the request stays until its messages have come back. */
static void answered(struct call *call)
{
    const struct request *request = call->context;

    call->message.deliver = answer_came;
    endpoint_post(request->conn->endpoint, &call->message);
}

static void left_noted(struct call *call)
{
    const struct request *request = call->context;

    call->left.deliver = left_came;
    endpoint_post(request->conn->endpoint, &call->left);
}

/* Whether the scheduler takes messages still; then leave_scheduler() follows the post. */
static bool enter_scheduler(struct http_context *http_context)
{
    atomic_fetch_add(&http_context->calls_entering, 1);
    if (!atomic_load(&http_context->calls_refused)) {
        return true;
    }
    atomic_fetch_sub(&http_context->calls_entering, 1);
    return false;
}

static void leave_scheduler(struct http_context *http_context)
{
    atomic_fetch_sub(&http_context->calls_entering, 1);
}

bool request_post(struct request *request)
{
    struct http_context *http_context = request->http_context;
    struct call *call = request->call;

    if (!enter_scheduler(http_context)) {
        return false;
    }
    call->answered = answered;
    call->left_noted = left_noted;
    call->context = request;
    call->messages_out = 1;
    endpoint_suspend(request->conn, request->connection);
    scheduler_post(http_context->scheduler, call);
    leave_scheduler(http_context);
    return true;
}

void request_client_left(struct request *request)
{
    struct http_context *http_context = request->http_context;
    struct call *call = request->call;

    if (call->left_told || !enter_scheduler(http_context)) {
        return;
    }
    call->left_told = true;
    call->messages_out++;
    scheduler_post_left(http_context->scheduler, call);
    leave_scheduler(http_context);
}

void request_call(struct request *request, void (*resume)(struct request *request))
{
    struct problem problem;

    request->resume = resume;
    request->outcome = MHD_YES;
    if (!request_post(request)) {
        problem_set(&problem, STATUS_DRAINING, "The service is shutting down.");
        request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "1");
        request_refuse(request, &problem);
    }
}

static void set_location(struct request *request, const struct call *call)
{
    if (call->kind == CALL_SUBMIT && call->job_id[0] != '\0') {
        request_set_header(request, MHD_HTTP_HEADER_LOCATION, "/v1/jobs/%s", call->job_id);
    }
    if (call->kind == CALL_STORE_GRAPH && call->graph_id[0] != '\0') {
        request_set_header(request, MHD_HTTP_HEADER_LOCATION, "/v1/graphs/%s", call->graph_id);
    }
}

void request_answer_call(struct request *request)
{
    struct call *call = request->call;
    struct text text = {0};

    if (call->retry_after_s > 0) {
        request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "%" PRIu32, call->retry_after_s);
    }
    if (call->status != STATUS_OK) {
        request_refuse(request, &call->problem);
        return;
    }
    set_location(request, call);
    if (call->body == NULL) {
        request_answer(request, call->http_status,
                       MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
        return;
    }
    text_append_string(&text, call->body);
    text_append_char(&text, '\n');
    request_answer_text(request, call->http_status, "application/json", &text);
}

/* ---- Results ---- */

struct result *request_look_up(const struct request *request)
{
    return result_table_find(request->http_context->results, tenant_number(request->grant.tenant),
                             request->match.capture);
}

void request_forget_question(struct request *request)
{
    if (request->answered) {
        text_finish(&request->document);
    }
}

/* now_s: as far as it is known. */
static bool take_result(struct request *request, double now_s)
{
    request->result = request_look_up(request);
    if (request->result == NULL) {
        return false;
    }
    if (result_is_damaged(request->result)) {
        /* The scheduler has been told, and will have retired it before it answers. */
        result_unref(request->result);
        request->result = NULL;
        return false;
    }
    result_touch(request->result, now_s);
    request->serve(request);
    return true;
}

/* The question came in a body that is used up. */
static bool has_lost_question(const struct request *request)
{
    return request->body_bytes > 0 && request->document.size == 0;
}

static void result_asked(struct request *request)
{
    const struct call *call = request->call;
    struct problem problem;

    if (call->status != STATUS_OK) {
        request_answer_call(request);
        return;
    }
    if (!has_lost_question(request) && take_result(request, clock_coarse_s())) {
        return;
    }
    problem_set(&problem, STATUS_NOT_SOLVED, "The result was replaced just now.");
    problem_hint(&problem, "Ask again: it is solved anew.");
    request_refuse(request, &problem);
}

void request_call_for_result(struct request *request)
{
    struct call *call = request_create_call(request, CALL_RESULT);

    if (call == NULL) {
        return;
    }
    memcpy(call->key, request->match.capture, sizeof(call->key));
    call->wait_s = has_lost_question(request) ? 0 : request_preferred_wait(request);
    call->wait_until_final = true;
    request_call(request, result_asked);
}

void request_find_result(struct request *request, void (*serve)(struct request *request))
{
    request->serve = serve;
    if (take_result(request, request->began_s)) {
        request_metrics_count_result(true);
        return;
    }
    request_metrics_count_result(false);
    request_call_for_result(request);
}
