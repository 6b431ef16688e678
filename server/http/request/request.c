#include "server/http/request/request.h"

#include "proto/text.h"
#include "server/clock.h"
#include "server/http/request/headers.h"
#include "server/http/request/request_metrics.h"
#include "server/http/transport/guard.h"

#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

void request_open(struct request *request, struct http_context *http_context)
{
    const unsigned connection =
        atomic_fetch_add_explicit(&http_context->connection_count, 1, memory_order_relaxed);

    request->next_id = (uint64_t)connection << 32;
    request->line = (struct text){0};
}

void request_close(struct request *request)
{
    text_finish(&request->line);
}

enum status request_init(struct request *request, struct http_context *http_context,
                         struct MHD_Connection *connection, const char *target)
{
    const size_t size = strlen(target) + 1;
    char *copy = size <= sizeof(request->short_target) ? request->short_target : malloc(size);

    if (copy == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(copy, target, size);
    /* Only the front is zeroed: this runs for each request, and kilobytes lie behind it. */
    memset(request, 0, offsetof(struct request, began_s));
    request->http_context = http_context;
    request->connection = connection;
    request->target = copy;
    return STATUS_OK;
}

void request_finish(struct request *request)
{
    if (request->call != NULL) {
        call_finish(request->call);
    }
    if (request->has_upload) {
        upload_finish(&request->upload);
    }
    text_finish(&request->document);
    result_unref(request->result);
    free(request->call);
    if (request->target != request->short_target) {
        free(request->target);
    }
}

static uint32_t initial(char letter)
{
    return UINT32_C(1) << ((unsigned char)letter & 31);
}

void request_note_header(struct request *request, const char *name, size_t name_size)
{
    if (name_size > 0) {
        request->initials |= initial(name[0]);
    }
}

/* Most requests have few headers, and most that are asked for are not among them. */
const char *request_header(const struct request *request, const char *name)
{
    if ((request->initials & initial(name[0])) == 0) {
        return NULL;
    }
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

uint64_t request_announced_bytes(const struct request *request)
{
    const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

    /* The guard has checked that it is a number of at most 18 digits. */
    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

void request_assign_id(struct request *request)
{
    const char *given = request_header(request, "X-Request-Id");

    request->began_s = clock_monotonic_s();
    if (given != NULL && request_id_is_valid(given)) {
        memcpy(request->request_id, given, strlen(given) + 1);
        return;
    }
    request_id_print(request->http_context->id_seed, ++request->next_id, request->request_id);
}

void request_set_header(struct request *request, const char *name, const char *format, ...)
{
    struct answer_header *header = &request->headers[request->header_count];
    va_list arguments;

    if (request->header_count == HEADER_LIMIT) {
        return;
    }
    va_start(arguments, format);
    int size = vsnprintf(header->value, sizeof(header->value), format, arguments);
    va_end(arguments);
    /* Half a header would be worse than none. */
    if (size < 0 || (size_t)size >= sizeof(header->value)) {
        return;
    }
    header->name = name;
    request->header_count++;
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

void request_negotiate(struct request *request, bool without_gzip)
{
    request->negotiated = true;
    request->coding =
        header_choose_coding(request_header(request, "Accept-Encoding"),
                             1u << CODING_ZSTD | (without_gzip ? 0 : 1u << CODING_GZIP));
}

void request_vary(struct request *request)
{
    request_add_header(request, "Vary", request->negotiated ? "Accept, Accept-Encoding" : "Accept");
}

/* Cut off where it would not fit, which none does. */
static char *append(char *at, const char *end, const char *text)
{
    const size_t size = strlen(text);
    const size_t room = (size_t)(end - at);

    return mempcpy(at, text, size < room ? size : room);
}

static void make_tag(struct request *request, const char *representation)
{
    const char *end = request->tag + sizeof(request->tag) - 2;
    char *at = request->tag;

    *at++ = '"';
    at = append(at, end, result_etag(request->result));
    at = append(at, end, "-");
    at = append(at, end, representation);
    if (request->coding != CODING_IDENTITY) {
        at = append(at, end, "-");
        at = append(at, end, decoder_coding_name(request->coding));
    }
    at[0] = '"';
    at[1] = '\0';
}

bool request_not_modified(struct request *request, const char *representation)
{
    const char *known = request_header(request, "If-None-Match");

    make_tag(request, representation);
    request_add_header(request, "ETag", request->tag);
    request_vary(request);
    request_add_header(request, "Cache-Control", "no-cache");
    if (known == NULL || !header_list_has_tag(known, request->tag)) {
        return false;
    }
    request_answer(request, MHD_HTTP_NOT_MODIFIED,
                   MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    return true;
}

/* ---- Answers ---- */

/* The last answers of a service that ends say so: nobody asks again where nobody will listen. */
static bool is_last(const struct request *request)
{
    return request->closing || atomic_load(&request->http_context->calls_refused);
}

/* Also of requests that are turned away, whose headers nobody has noted. */
static const char *origin_of(const struct request *request)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Origin");
}

static bool add_headers(const struct request *request, struct MHD_Response *response)
{
    struct guard_cors_header cors[GUARD_CORS_HEADER_LIMIT];
    const size_t cors_count =
        guard_cors_headers(request->http_context->config, origin_of(request), cors);
    bool added = MHD_add_response_header(response, "X-Request-Id", request->request_id) == MHD_YES;

    for (size_t i = 0; added && i < cors_count; i++) {
        added = MHD_add_response_header(response, cors[i].name, cors[i].value) == MHD_YES;
    }
    for (size_t i = 0; added && i < request->header_count; i++) {
        added = MHD_add_response_header(response, request->headers[i].name,
                                        request->headers[i].value) == MHD_YES;
    }
    if (added && is_last(request)) {
        added = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
    }
    return added;
}

/* One metric of a Server-Timing header, in milliseconds; nothing for what took no time. */
static void append_time(struct text *text, const char *name, double seconds)
{
    if (seconds > 0) {
        text_printf(text, "%s%s;dur=%.3f", text->size > 0 ? ", " : "", name, seconds * 1000);
    }
}

/* Adds Server-Timing: the times of the job, and of the request from its headers to its answer. It
 * is left out where nothing was uploaded and the scheduler was not called: that takes no time. */
static void add_times(struct request *request)
{
    const struct call *call = request->call;
    struct text text = {0};

    if (call == NULL && request->body_bytes == 0) {
        return;
    }
    if (call != NULL) {
        const struct timings *t = &call->timings;

        append_time(&text, "parse", call->parse_s > 0 ? call->parse_s : t->parse_s);
        append_time(&text, "queue", t->queue_s);
        append_time(&text, "solve", t->fill_s + t->h2d_s + t->compute_s + t->d2h_s);
        append_time(&text, "job", t->total_s);
    }
    append_time(&text, "total", clock_monotonic_s() - request->began_s);
    if (text_status(&text) == STATUS_OK && text.size > 0) {
        request_add_header(request, "Server-Timing", text.bytes);
    }
    text_finish(&text);
}

/* Else libmicrohttpd sends the frame of an empty chunk behind the head. */
void request_expect_stream(struct request *request, struct MHD_Response *response)
{
    if (request->method != METHOD_HEAD) {
        return;
    }
    request->closing = true;
    if (response != NULL) {
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    }
}

void request_answer(struct request *request, unsigned http_status, struct MHD_Response *response)
{
    request->answered = true;
    request->http_status = http_status;
    request->outcome = MHD_NO;
    add_times(request);
    if (response == NULL) {
        return;
    }
    if (add_headers(request, response)) {
        request->outcome = MHD_queue_response(request->connection, http_status, response);
    }
    MHD_destroy_response(response);
}

/* If the result was found damaged, calls the scheduler once more, to wait for the one that is
 * solved in its place. The scheduler has been told of the damage before it gets this call. */
static bool call_again(struct request *request)
{
    if (request->result == NULL || request->asked_again || !result_is_damaged(request->result)) {
        return false;
    }
    request->asked_again = true;
    request->header_count = 0;
    request->negotiated = false;
    request->coding = CODING_IDENTITY;
    result_unref(request->result);
    request->result = NULL;
    request_call_for_result(request);
    return true;
}

void request_answer_text(struct request *request, unsigned http_status, const char *media_type,
                         struct text *text)
{
    struct MHD_Response *response = NULL;
    size_t size;
    char *bytes = text_status(text) == STATUS_OK ? text_take(text, &size) : NULL;

    text_finish(text);
    if (bytes == NULL && call_again(request)) {
        return;
    }
    if (bytes != NULL) {
        response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    }
    if (bytes != NULL && response == NULL) {
        free(bytes);
    }
    request_add_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    request_answer(request, http_status, response);
}

void request_answer_small(struct request *request, const char *representation,
                          const char *media_type, const struct text *text)
{
    if (text_status(text) != STATUS_OK && call_again(request)) {
        return;
    }
    if (request_not_modified(request, representation)) {
        return;
    }
    request_add_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    request_answer(
        request, MHD_HTTP_OK,
        text_status(text) == STATUS_OK
            ? MHD_create_response_from_buffer(text->size, text->bytes, MHD_RESPMEM_PERSISTENT)
            : NULL);
}

static void print_json(json_t *root, struct text *text)
{
    char *printed = text_print_json(root, JSON_COMPACT | JSON_REAL_PRECISION(12));

    if (printed == NULL) {
        text->failed = true;
    } else {
        text_append_string(text, printed);
        text_append_char(text, '\n');
    }
    free(printed);
    json_decref(root);
}

void request_answer_json(struct request *request, unsigned http_status, struct json_t *root)
{
    struct text text = {0};

    print_json(root, &text);
    request_answer_text(request, http_status, "application/json", &text);
}

/* Where a graph is not solved yet, the job to watch. */
static json_t *problem_of(const struct request *request, const struct problem *problem)
{
    json_t *root = problem_json(problem, request->request_id);

    if (root == NULL || problem->status != STATUS_NOT_SOLVED || request->call == NULL ||
        request->call->job_id[0] == '\0') {
        return root;
    }
    json_t *links = json_pack("{s:o}", "job", json_sprintf("/v1/jobs/%s", request->call->job_id));
    if (json_object_set_new(root, "links", links) == 0) {
        return root;
    }
    json_decref(root);
    return NULL;
}

void request_refuse(struct request *request, const struct problem *problem)
{
    struct text text = {0};

    if (call_again(request)) {
        return;
    }
    if (problem->status == STATUS_UPLOAD_MEMORY) {
        request_set_header(request, "Retry-After", "%u", UPLOAD_RETRY_AFTER_S);
    }
    print_json(problem_of(request, problem), &text);
    request_answer_text(request, status_info(problem->status)->http, "application/problem+json",
                        &text);
}

/* The head and the body of a refusal, as they go over the wire. */
static void print_refusal(const struct request *request, const struct problem *problem,
                          struct text *answer)
{
    struct guard_cors_header cors[GUARD_CORS_HEADER_LIMIT];
    const size_t cors_count =
        guard_cors_headers(request->http_context->config, origin_of(request), cors);
    const unsigned http_status = status_info(problem->status)->http;
    struct text body = {0};

    print_json(problem_of(request, problem), &body);
    text_printf(answer,
                "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\nContent-Length: "
                "%zu\r\nX-Request-Id: %s\r\n",
                http_status, MHD_get_reason_phrase_for(http_status), body.size,
                request->request_id);
    if (problem->status == STATUS_UPLOAD_MEMORY) {
        text_printf(answer, "Retry-After: %u\r\n", UPLOAD_RETRY_AFTER_S);
    }
    for (size_t i = 0; i < cors_count; i++) {
        text_printf(answer, "%s: %s\r\n", cors[i].name, cors[i].value);
    }
    text_append_string(answer, "Connection: close\r\n\r\n");
    text_append(answer, body.bytes, body.size);
    answer->failed |= text_status(&body) != STATUS_OK;
    text_finish(&body);
}

/* Workaround: libmicrohttpd (0.9.75, 1.0) takes a response before a body or behind it, and
 * MHD_queue_response fails between, but a graph that is too large is refused from its header line,
 * before the rest is sent. So the refusal goes out by the documented descriptor or TLS session:
 * once, on the thread of the connection, on which nothing but "100 Continue" was sent before. It
 * can go when the library takes a response in the middle of a body. */
void request_refuse_early(struct request *request, const struct problem *problem)
{
    struct text answer = {0};

    request->answered = request->answered_early = true;
    request->early_bytes = request->body_bytes;
    request->early_s = clock_monotonic_s();
    request->http_status = status_info(problem->status)->http;
    print_refusal(request, problem, &answer);
    if (text_status(&answer) == STATUS_OK) {
        /* libmicrohttpd 1.0 has one place for what it tells of a connection: ask, use, ask again.
         */
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        if (info != NULL && info->tls_session != NULL) {
            (void)!gnutls_record_send(info->tls_session, answer.bytes, answer.size);
        } else {
            info = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
            if (info != NULL) {
                (void)!send(info->connect_fd, answer.bytes, answer.size,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
            }
        }
    }
    text_finish(&answer);
}
