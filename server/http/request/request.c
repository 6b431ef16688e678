#include "server/http/request/request.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/clock.h"
#include "server/http/request/origin.h"
#include "server/http/request/request_metrics.h"
#include "server/http/transport/stream.h"
#include "server/scheduler/ledger.h"
#include "server/store/graph_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *request_create(void *context, const char *target, struct MHD_Connection *connection)
{
    target = target == NULL ? "" : target;
    const size_t size = strlen(target) + 1;
    struct request *request = malloc(sizeof(*request) + size);
    if (request != NULL) {
        /* Zero only the members before began_s, to save time: the others take kilobytes. */
        memset(request, 0, offsetof(struct request, began_s));
        request->http_context = context;
        request->connection = connection;
        request->conn = endpoint_conn(connection);
        request->conn->request = request;
        memcpy(request->target, target, size);
    }
    return request;
}

void request_destroy(struct request *request)
{
    if (request == NULL) {
        return;
    }
    stream_destroy(request->pending);
    if (request->call != NULL) {
        call_finish(request->call);
    }
    if (request->upload != NULL) {
        upload_finish(request->upload);
        free(request->upload);
    }
    text_finish(&request->document);
    upload_memory_release(&request->share);
    result_unref(request->result);
    vertex_names_destroy(request->names_from_file);
    free(request->call);
    free(request);
}

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void request_assign_id(struct request *request)
{
    const char *given = request_header(request, "X-Request-Id");
    request->began_s = clock_monotonic_s();
    if (given != NULL && request_id_is_valid(given)) {
        memcpy(request->request_id, given, strlen(given) + 1);
        return;
    }
    request_id_print(
        request->http_context->id_seed,
        atomic_fetch_add_explicit(&request->http_context->request_count, 1, memory_order_relaxed),
        request->request_id);
}

void request_add_header(struct request *request, const char *name, const char *value)
{
    struct answer_header *header = &request->headers[request->header_count];
    const size_t size = strlen(value) + 1;
    if (request->header_count == HEADER_LIMIT || size > sizeof(header->value)) {
        return;
    }
    memcpy(header->value, value, size);
    header->name = name;
    request->header_count++;
}

void request_set_header(struct request *request, const char *name, const char *format, ...)
{
    char value[HEADER_VALUE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    /* A truncated header would be worse than none. */
    if (size >= 0 && (size_t)size < sizeof(value)) {
        request_add_header(request, name, value);
    }
}

void request_add_type(struct request *request, const char *media_type)
{
    const bool is_unsaid = strncmp(media_type, "text/", 5) == 0 && strchr(media_type, ';') == NULL;
    request_set_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, "%s%s", media_type,
                       is_unsaid ? "; charset=utf-8" : "");
}

double request_preferred_wait(struct request *request)
{
    double wait_s;
    if (!header_wait(request_header(request, "Prefer"), &wait_s)) {
        return 0;
    }
    wait_s = fmin(wait_s, (double)request->http_context->config->wait_limit_s);
    request_set_header(request, "Preference-Applied", "wait=%.9g", wait_s);
    return wait_s;
}

enum status request_choose_type(const struct request *request, const char *const *offers,
                                size_t *ret_index, struct problem *reterr)
{
    if (header_choose_type(request_header(request, "Accept"), offers, ret_index)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_NOT_ACCEPTABLE,
                "The response is not available in a media type that Accept allows.");
    problem_hint_list(reterr, "The available media types are", offers);
    return STATUS_NOT_ACCEPTABLE;
}

bool request_tag(struct request *request, const char *etag, const char *representation)
{
    const bool is_coded = request->coding != CODING_IDENTITY;
    const char *coding = is_coded ? decoder_coding_name(request->coding) : "";
    const char *const parts[] = {"\"",   etag, "-", representation, is_coded ? "-" : "",
                                 coding, "\""};
    char *at = request->tag;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const size_t size = strlen(parts[i]);
        CHECK(size < (size_t)(request->tag + sizeof(request->tag) - at));
        at = mempcpy(at, parts[i], size);
    }
    *at = '\0';
    request_add_header(request, "ETag", request->tag);
    request_add_header(request, "Vary", "Accept, Accept-Encoding");
    request_add_header(request, "Cache-Control", "no-cache");
    return request_answer_condition(request);
}

bool request_answer_condition(struct request *request)
{
    const char *wanted = request_header(request, "If-Match");
    const char *known = request_header(request, "If-None-Match");
    if (wanted != NULL && !text_lists_tag(wanted, request->tag, false)) {
        request_refuse_with(request, STATUS_PRECONDITION_FAILED,
                            "The ETag of this response is not in If-Match.",
                            "The resource has changed: repeat the request without If-Match.");
        return true;
    }
    if (known == NULL || !text_lists_tag(known, request->tag, true)) {
        return false;
    }
    request_answer(request, MHD_HTTP_NOT_MODIFIED,
                   MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    return true;
}

void request_expect_stream(struct request *request, struct MHD_Response *response)
{
    if (request->method != METHOD_HEAD) {
        return;
    }
    request->conn->is_last = true;
    if (response != NULL) {
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    }
}

/* Adds the headers that let the pages of listed origins read the answer. Vary is sent even to other
 * origins, because caches must keep the origins apart. */
static bool add_cors_headers(const struct request *request, struct MHD_Response *response)
{
    const struct config *config = request->http_context->config;
    const char *origin = request_header(request, "Origin");
    return strcmp(config->cors_origins, CONFIG_NONE) == 0 ||
           (MHD_add_response_header(response, "Vary", "Origin") == MHD_YES &&
            (origin == NULL || !origin_is_listed(config, origin) ||
             (MHD_add_response_header(response, "Access-Control-Allow-Origin", origin) == MHD_YES &&
              MHD_add_response_header(response, "Access-Control-Expose-Headers",
                                      ORIGIN_CORS_EXPOSED_HEADERS) == MHD_YES)));
}

void request_answer(struct request *request, unsigned http_status, struct MHD_Response *response)
{
    request->state = REQUEST_ANSWERED;
    request->http_status = http_status;
    request->outcome = MHD_NO;
    if (response == NULL) {
        return;
    }
    bool added =
        MHD_add_response_header(response, "X-Request-Id", request->request_id) == MHD_YES &&
        add_cors_headers(request, response);
    for (size_t i = 0; added && i < request->header_count; i++) {
        added = MHD_add_response_header(response, request->headers[i].name,
                                        request->headers[i].value) == MHD_YES;
    }
    /* While shutting down, tell clients to close the connection and send no more requests. */
    if (added && (request->conn->is_last || endpoint_is_quiesced(request->conn->endpoint))) {
        added = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
    }
    if (added) {
        request->outcome = MHD_queue_response(request->connection, http_status, response);
    }
    MHD_destroy_response(response);
}

void request_answer_text(struct request *request, unsigned http_status, const char *media_type,
                         struct text *text)
{
    struct MHD_Response *response = NULL;
    size_t size;
    char *bytes = text_take(text, &size);
    if (bytes != NULL) {
        response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    }
    if (response == NULL) {
        free(bytes);
    }
    request_add_type(request, media_type);
    request_answer(request, http_status, response);
}

static void print_json(json_t *root, struct text *text)
{
    char *printed = text_print_json(root);
    if (printed == NULL) {
        text->failed = true;
    } else {
        text_append_string(text, printed);
        text_append_char(text, '\n');
    }
    free(printed);
    json_decref(root);
}

void request_answer_json(struct request *request, struct json_t *root)
{
    struct text text = {0};
    print_json(root, &text);
    request_set_header(request, "Cache-Control", "no-store");
    request_answer_text(request, MHD_HTTP_OK, "application/json", &text);
}

static void print_refusal(const struct request *request, struct text *text)
{
    const struct problem *problem = &request->refusal;
    const struct call *call = request->call;
    json_t *root = problem_json(problem, request->request_id);
    /* If the graph has not been solved yet, add a link to the job to watch. */
    if (problem->status == STATUS_NOT_SOLVED && call != NULL && call->job_id[0] != '\0') {
        json_object_set_new(root, "links",
                            json_pack("{s:o}", "job", json_sprintf("/v1/jobs/%s", call->job_id)));
    }
    print_json(root, text);
}

void request_refuse(struct request *request)
{
    struct problem *problem = &request->refusal;
    struct text text = {0};
    if (status_info(problem->status)->http >= MHD_HTTP_INTERNAL_SERVER_ERROR &&
        request->result != NULL && result_is_damaged(request->result)) {
        problem_refuse(problem, STATUS_NOT_SOLVED,
                       "Repeat the request: the graph is being solved again.",
                       "The stored result is damaged.");
    }
    const unsigned retry_after_s = ledger_retry_after_s(problem->status);
    if (retry_after_s > 0) {
        request_set_header(request, "Retry-After", "%u", retry_after_s);
    }
    print_refusal(request, &text);
    request_answer_text(request, status_info(problem->status)->http, "application/problem+json",
                        &text);
}

void request_refuse_with(struct request *request, enum status status, const char *words,
                         const char *hint)
{
    problem_refuse(&request->refusal, status, hint, "%s", words);
    request_refuse(request);
}

/* ---- Calls to the scheduler ---- */

struct call *request_create_call(struct request *request, enum call_kind kind)
{
    const char *trace = request_header(request, "traceparent");
    const char *wanted = request_header(request, "If-Match");
    const char *known = request_header(request, "If-None-Match");
    struct call *call = calloc(1, sizeof(*call));
    if (call == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY,
                            "There is not enough memory for the request.", NULL);
        return NULL;
    }
    call->kind = kind;
    call->tenant = request->grant.tenant;
    call->quota = request->grant.quota;
    memcpy(call->key, request->match.capture, strlen(request->match.capture) + 1);
    memcpy(call->request_id, request->request_id, sizeof(call->request_id));
    snprintf(call->if_match, sizeof(call->if_match), "%s", wanted != NULL ? wanted : "");
    snprintf(call->if_none_match, sizeof(call->if_none_match), "%s", known != NULL ? known : "");
    /* The job stores the trace, and the answer returns it. A second call of the same request must
     * not add the header again. */
    if (trace != NULL && header_traceparent(trace, call->traceparent) && request->call == NULL) {
        request_add_header(request, "traceparent", call->traceparent);
    }
    if (request->call != NULL) {
        call_finish(request->call);
    }
    free(request->call);
    request->call = call;
    return call;
}

static void receive_answer(struct message *message)
{
    const struct request *request = ((struct call *)message)->context;
    endpoint_resume(request->conn, request->connection);
}

/* Posts the answered call to its endpoint. Runs on the loop thread. */
static void post_answer(struct call *call)
{
    call->message.deliver = receive_answer;
    endpoint_post(((struct request *)call->context)->conn->endpoint, &call->message);
}

bool request_post(struct request *request)
{
    struct call *call = request->call;
    if (endpoint_is_quiesced(request->conn->endpoint)) {
        return false;
    }
    call->answered = post_answer;
    call->context = request;
    request->state = REQUEST_WAITING;
    endpoint_suspend(request->conn, request->connection);
    scheduler_post(request->http_context->scheduler, call);
    return true;
}

void request_client_left(struct request *request)
{
    scheduler_note_left(request->http_context->scheduler, request->call);
}

void request_call(struct request *request, void (*resume)(struct request *request))
{
    request->resume = resume;
    request->outcome = MHD_YES;
    if (!request_post(request)) {
        request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "1");
        request_refuse_with(request, STATUS_DRAINING, "The service is shutting down.", NULL);
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
        request->refusal = call->problem;
        request_refuse(request);
        return;
    }
    if (call->kind == CALL_SUBMIT && call->job_id[0] != '\0') {
        request_set_header(request, MHD_HTTP_HEADER_LOCATION, "/v1/jobs/%s", call->job_id);
    }
    if (call->kind == CALL_STORE_GRAPH && call->graph_id[0] != '\0') {
        request_set_header(request, MHD_HTTP_HEADER_LOCATION, "/v1/graphs/%s", call->graph_id);
    }
    if (call->body == NULL) {
        request_answer(request, call->http_status,
                       MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
        return;
    }
    text_append_string(&text, call->body);
    text_append_char(&text, '\n');
    request_answer_text(request, call->http_status, "application/json", &text);
}

/* ---- Graphs and results ---- */

static void ask_scheduler(struct request *request, const struct route *route)
{
    struct call *call = request_create_call(request, route->call);
    if (call == NULL) {
        return;
    }
    if (route->fill != NULL && route->fill(request, call, &request->refusal) != STATUS_OK) {
        request_refuse(request);
    } else {
        request_call(request, request_answer_call);
    }
}

void request_serve(struct request *request)
{
    const struct route *route = request->match.route;
    if (route->handle != NULL) {
        route->handle(request);
    } else if (route->stream != NULL) {
        stream_answer(request, route->stream);
    } else {
        ask_scheduler(request, route);
    }
}

static void graph_asked(struct request *request)
{
    request->call->status == STATUS_OK ? request->serve(request) : request_answer_call(request);
}

void request_find_graph(struct request *request, void (*serve)(struct request *request))
{
    if (request_create_call(request, CALL_GRAPH) != NULL) {
        request->serve = serve;
        request_call(request, graph_asked);
    }
}

/* Returns a counted reference to the tenant's published result that the path names, or NULL. */
static struct result *look_up_result(const struct request *request)
{
    return result_table_find(request->http_context->results, tenant_number(request->grant.tenant),
                             request->match.capture);
}

/* Reads the vertex names of a graph without a result from the graph's file. This thread can read
 * them itself, because they are small compared with the edges. */
static void read_names(struct request *request)
{
    const struct http_context *http_context = request->http_context;
    const char *id = request->call->graph_id;
    const enum status status = graph_file_read_names(
        store_folder(http_context->store, STORE_GRAPHS), id, &request->names_from_file);
    if (status == STATUS_CORRUPT) {
        scheduler_note_damaged_graph(http_context->scheduler, id);
    }
    if (status != STATUS_OK) {
        request_refuse_with(request, status, "The stored graph cannot be read.", NULL);
        return;
    }
    request->names = request->names_from_file;
    request_serve(request);
}

void request_find_names(struct request *request)
{
    request->result = look_up_result(request);
    if (request->result == NULL) {
        request_find_graph(request, read_names);
        return;
    }
    request->names = result_names(request->result);
    request_serve(request);
}

/* Serves the result if it is published and not damaged; else returns false. now_s: time of use, by
 * which results are evicted; the caller's latest clock reading is accurate enough. */
static bool serve_published(struct request *request, double now_s)
{
    struct result *result = look_up_result(request);
    /* The scheduler is told of damage, and retires a damaged result before it answers a call. */
    if (result == NULL || result_is_damaged(result)) {
        result_unref(result);
        return false;
    }
    request->result = result;
    result_touch(result, now_s);
    request->serve(request);
    return true;
}

static void result_asked(struct request *request)
{
    if (request->call->status != STATUS_OK) {
        request_answer_call(request);
    } else if (!serve_published(request, clock_monotonic_s())) {
        request_refuse_with(request, STATUS_NOT_SOLVED, "The result has just been replaced.",
                            "Repeat the request: the graph is being solved again.");
    }
}

void request_find_result(struct request *request, void (*serve)(struct request *request))
{
    request->serve = serve;
    const bool is_there = serve_published(request, request->began_s);
    request_metrics_count_result(is_there);
    if (!is_there && request_create_call(request, CALL_RESULT) != NULL) {
        request->call->wait_s = request_preferred_wait(request);
        request_call(request, result_asked);
    }
}
