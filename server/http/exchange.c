#include "server/http/exchange.h"

#include "server/clock.h"
#include "server/http/preference.h"
#include "server/http/range.h"
#include "server/http/trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How long a client that was refused in the middle of its body may pause before it is cut off. */
#define REFUSED_TIMEOUT_S 2u

enum status exchange_init(struct exchange *exchange, struct exchange_house *house,
                          struct MHD_Connection *connection, const char *target)
{
    char *copy = strdup(target);

    if (copy == NULL) {
        return STATUS_NO_MEMORY;
    }
    /* Of each request, so the kilobytes behind are left alone. */
    memset(exchange, 0, offsetof(struct exchange, began_s));
    exchange->house = house;
    exchange->connection = connection;
    exchange->target = copy;
    return STATUS_OK;
}

void exchange_finish(struct exchange *exchange)
{
    if (exchange->ask != NULL) {
        ask_finish(exchange->ask);
    }
    if (exchange->has_upload) {
        upload_finish(&exchange->upload);
    }
    text_finish(&exchange->document);
    result_unref(exchange->result);
    free(exchange->ask);
    free(exchange->target);
}

const char *exchange_request_header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static bool is_request_id(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t size = strlen(text);

    return size > 0 && size < REQUEST_ID_SIZE && strspn(text, letters) == size;
}

/* 16 hexadecimal digits. */
static void print_id(uint64_t value, char *to)
{
    for (int i = 15; i >= 0; i--, value >>= 4) {
        to[i] = "0123456789abcdef"[value & 15];
    }
    to[16] = '\0';
}

void exchange_name(struct exchange *exchange)
{
    const char *given = exchange_request_header(exchange, "X-Request-Id");
    struct exchange_house *house = exchange->house;

    exchange->began_s = clock_monotonic_s();
    if (given != NULL && is_request_id(given)) {
        memcpy(exchange->request_id, given, strlen(given) + 1);
        return;
    }
    uint64_t count = atomic_fetch_add_explicit(&house->id_count, 1, memory_order_relaxed) + 1;
    print_id(mix(house->id_seed + count * UINT64_C(0x9E3779B97F4A7C15)), exchange->request_id);
}

void exchange_set_header(struct exchange *exchange, const char *name, const char *format, ...)
{
    struct exchange_header *header = &exchange->headers[exchange->header_count];
    va_list arguments;

    if (exchange->header_count == HEADER_LIMIT) {
        return;
    }
    va_start(arguments, format);
    int size = vsnprintf(header->value, sizeof header->value, format, arguments);
    va_end(arguments);
    /* Half a header would be worse than none. */
    if (size < 0 || (size_t)size >= sizeof header->value) {
        return;
    }
    header->name = name;
    exchange->header_count++;
}

void exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
    struct exchange_header *header = &exchange->headers[exchange->header_count];
    const size_t size = strlen(value) + 1;

    if (exchange->header_count == HEADER_LIMIT || size > sizeof header->value) {
        return;
    }
    memcpy(header->value, value, size);
    header->name = name;
    exchange->header_count++;
}

double exchange_preferred_wait(struct exchange *exchange)
{
    double wait_s;

    if (!preference_wait(exchange_request_header(exchange, "Prefer"), &wait_s)) {
        return 0;
    }
    wait_s = fmin(wait_s, (double)exchange->house->config->wait_limit_s);
    exchange_set_header(exchange, "Preference-Applied", "wait=%.9g", wait_s);
    return wait_s;
}

void exchange_negotiate(struct exchange *exchange, bool without_gzip)
{
    exchange->negotiated = true;
    exchange->coding =
        coding_choose(exchange_request_header(exchange, "Accept-Encoding"), without_gzip);
}

void exchange_vary(struct exchange *exchange)
{
    exchange_add_header(exchange, "Vary",
                        exchange->negotiated ? "Accept, Accept-Encoding" : "Accept");
}

/* Cut off where it would not fit, which none does. */
static char *append(char *at, const char *end, const char *text)
{
    while (*text != '\0' && at < end) {
        *at++ = *text++;
    }
    return at;
}

static void make_tag(struct exchange *exchange, const char *representation)
{
    const char *end = exchange->tag + sizeof exchange->tag - 2;
    char *at = exchange->tag;

    *at++ = '"';
    at = append(at, end, result_etag(exchange->result));
    at = append(at, end, "-");
    at = append(at, end, representation);
    if (exchange->coding != CODING_IDENTITY) {
        at = append(at, end, "-");
        at = append(at, end, decoder_coding_name(exchange->coding));
    }
    at[0] = '"';
    at[1] = '\0';
}

bool exchange_not_modified(struct exchange *exchange, const char *representation)
{
    const char *known = exchange_request_header(exchange, "If-None-Match");

    make_tag(exchange, representation);
    exchange_add_header(exchange, "ETag", exchange->tag);
    exchange_vary(exchange);
    exchange_add_header(exchange, "Cache-Control", "no-cache");
    if (known == NULL || !range_list_has_tag(known, exchange->tag)) {
        return false;
    }
    exchange_answer(exchange, MHD_HTTP_NOT_MODIFIED,
                    MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    return true;
}

/* ---- Answers ---- */

static bool add_headers(const struct exchange *exchange, struct MHD_Response *response)
{
    bool added = MHD_add_response_header(response, "X-Request-Id", exchange->request_id) == MHD_YES;

    for (size_t i = 0; added && i < exchange->header_count; i++) {
        added = MHD_add_response_header(response, exchange->headers[i].name,
                                        exchange->headers[i].value) == MHD_YES;
    }
    if (added && exchange->closing) {
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

/* Of requests that brought something or that the desk answered: the times of the job, and of the
 * request from its headers to its answer. The others have answers that are there. */
static void add_times(struct exchange *exchange)
{
    const struct ask *ask = exchange->ask;
    struct text text = {0};

    if (ask == NULL && exchange->body_bytes == 0) {
        return;
    }
    if (ask != NULL) {
        const struct timings *t = &ask->timings;

        append_time(&text, "parse", ask->parse_s > 0 ? ask->parse_s : t->parse_s);
        append_time(&text, "queue", t->queue_s);
        append_time(&text, "solve", t->fill_s + t->h2d_s + t->compute_s + t->d2h_s);
        append_time(&text, "job", t->total_s);
    }
    append_time(&text, "total", clock_monotonic_s() - exchange->began_s);
    if (text_status(&text) == STATUS_OK && text.size > 0) {
        exchange_add_header(exchange, "Server-Timing", text.bytes);
    }
    text_finish(&text);
}

/* Else libmicrohttpd sends the frame of an empty chunk behind the head. */
void exchange_expect_stream(struct exchange *exchange, struct MHD_Response *response)
{
    if (exchange->method != METHOD_HEAD) {
        return;
    }
    exchange->closing = true;
    if (response != NULL) {
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    }
}

void exchange_answer(struct exchange *exchange, unsigned http_status, struct MHD_Response *response)
{
    exchange->answered = true;
    exchange->outcome = MHD_NO;
    add_times(exchange);
    if (response == NULL) {
        return;
    }
    if (add_headers(exchange, response)) {
        exchange->outcome = MHD_queue_response(exchange->connection, http_status, response);
    }
    MHD_destroy_response(response);
}

void exchange_answer_text(struct exchange *exchange, unsigned http_status, const char *media_type,
                          struct text *text)
{
    struct MHD_Response *response = NULL;
    size_t size;
    char *bytes = text_status(text) == STATUS_OK ? text_take(text, &size) : NULL;

    text_finish(text);
    if (bytes != NULL) {
        response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    }
    if (bytes != NULL && response == NULL) {
        free(bytes);
    }
    exchange_add_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    exchange_answer(exchange, http_status, response);
}

static void print_json(json_t *root, struct text *text)
{
    char *printed = root == NULL ? NULL : json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12));

    if (printed == NULL) {
        text->failed = true;
    } else {
        text_append_string(text, printed);
        text_append_char(text, '\n');
    }
    free(printed);
    json_decref(root);
}

void exchange_answer_json(struct exchange *exchange, unsigned http_status, struct json_t *root)
{
    struct text text = {0};

    print_json(root, &text);
    exchange_answer_text(exchange, http_status, "application/json", &text);
}

/* Where a graph is not solved yet, the job to watch. */
static json_t *problem_of(const struct exchange *exchange, const struct problem *problem)
{
    json_t *root = problem_json(problem, exchange->request_id);

    if (root == NULL || problem->status != STATUS_NOT_SOLVED || exchange->ask == NULL ||
        exchange->ask->job_id[0] == '\0') {
        return root;
    }
    json_t *links = json_pack("{s:o}", "job", json_sprintf("/v1/jobs/%s", exchange->ask->job_id));
    if (json_object_set_new(root, "links", links) == 0) {
        return root;
    }
    json_decref(root);
    return NULL;
}

void exchange_refuse(struct exchange *exchange, const struct problem *problem)
{
    struct text text = {0};

    print_json(problem_of(exchange, problem), &text);
    exchange_answer_text(exchange, status_info(problem->status)->http, "application/problem+json",
                         &text);
}

void exchange_refuse_early(struct exchange *exchange, const struct problem *problem)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    unsigned http_status = status_info(problem->status)->http;
    struct text body = {0};
    struct text head = {0};

    exchange->answered = exchange->answered_early = true;
    /* A client that stops sending and leaves is not always noticed. */
    MHD_set_connection_option(exchange->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              REFUSED_TIMEOUT_S);
    print_json(problem_of(exchange, problem), &body);
    text_printf(&head,
                "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\nContent-Length: "
                "%zu\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n",
                http_status, MHD_get_reason_phrase_for(http_status), body.size,
                exchange->request_id);
    text_append(&head, body.bytes, body.size);
    /* Nothing was sent on this connection but perhaps "100 Continue": there is room for this. */
    if (text_status(&body) == STATUS_OK && text_status(&head) == STATUS_OK && info != NULL) {
        (void)!send(info->connect_fd, head.bytes, head.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    text_finish(&head);
    text_finish(&body);
}

/* ---- Questions to the desk ---- */

static void refuse_for_memory(struct exchange *exchange)
{
    struct problem problem;

    problem_set(&problem, STATUS_NO_MEMORY, "There is no memory for the request.");
    exchange_refuse(exchange, &problem);
}

/* 0 when it is not known. */
static int client_socket(const struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info == NULL ? 0 : info->connect_fd;
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
static void read_trace(struct exchange *exchange, struct ask *ask)
{
    const char *given = exchange_request_header(exchange, "traceparent");
    unsigned count = 0;

    if (given == NULL || !trace_read(given, ask->traceparent)) {
        return;
    }
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, count_traceparent, &count);
    if (count > 1) {
        ask->traceparent[0] = '\0';
        return;
    }
    /* A request may ask a second time. */
    if (exchange->ask == NULL) {
        exchange_add_header(exchange, "traceparent", ask->traceparent);
    }
}

struct ask *exchange_create_ask(struct exchange *exchange, enum ask_kind kind)
{
    struct ask *ask = calloc(1, sizeof *ask);

    if (ask == NULL) {
        refuse_for_memory(exchange);
        return NULL;
    }
    ask->kind = kind;
    ask->context = exchange;
    ask->client_socket = client_socket(exchange);
    read_trace(exchange, ask);
    if (exchange->ask != NULL) {
        ask_finish(exchange->ask);
    }
    free(exchange->ask);
    exchange->ask = ask;
    return ask;
}

/* On the loop thread; the exchange may be gone as soon as its connection goes on. */
static void answered(struct ask *ask)
{
    struct exchange *exchange = ask->context;

    MHD_resume_connection(exchange->connection);
}

bool exchange_post(struct exchange *exchange)
{
    struct exchange_house *house = exchange->house;

    atomic_fetch_add(&house->asks_entering, 1);
    if (atomic_load(&house->asks_refused)) {
        atomic_fetch_sub(&house->asks_entering, 1);
        return false;
    }
    exchange->ask->answered = answered;
    /* First: the answer may come before the post returns. */
    MHD_suspend_connection(exchange->connection);
    desk_post(house->desk, exchange->ask);
    atomic_fetch_sub(&house->asks_entering, 1);
    return true;
}

void exchange_ask(struct exchange *exchange, void (*resume)(struct exchange *exchange))
{
    struct problem problem;

    /* Before the post: the answer may come before it returns. */
    exchange->resume = resume;
    exchange->outcome = MHD_YES;
    if (!exchange_post(exchange)) {
        problem_set(&problem, STATUS_DRAINING, "The service is shutting down.");
        exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "1");
        exchange_refuse(exchange, &problem);
    }
}

static void set_location(struct exchange *exchange, const struct ask *ask)
{
    if (ask->kind == ASK_SUBMIT && ask->job_id[0] != '\0') {
        exchange_set_header(exchange, MHD_HTTP_HEADER_LOCATION, "/v1/jobs/%s", ask->job_id);
    }
    if (ask->kind == ASK_STORE_GRAPH && ask->graph_id[0] != '\0') {
        exchange_set_header(exchange, MHD_HTTP_HEADER_LOCATION, "/v1/graphs/%s", ask->graph_id);
    }
}

void exchange_answer_ask(struct exchange *exchange)
{
    struct ask *ask = exchange->ask;
    struct text text = {0};

    if (ask->retry_after_s > 0) {
        exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "%" PRIu32, ask->retry_after_s);
    }
    if (ask->status != STATUS_OK) {
        exchange_refuse(exchange, &ask->problem);
        return;
    }
    set_location(exchange, ask);
    if (ask->body == NULL) {
        exchange_answer(exchange, ask->http_status,
                        MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
        return;
    }
    text_append_string(&text, ask->body);
    text_append_char(&text, '\n');
    exchange_answer_text(exchange, ask->http_status, "application/json", &text);
}

/* ---- Results ---- */

static bool take_result(struct exchange *exchange)
{
    exchange->result = result_table_find(exchange->house->results, exchange->match.capture);
    if (exchange->result == NULL) {
        return false;
    }
    result_touch(exchange->result, clock_monotonic_s());
    exchange->serve(exchange);
    return true;
}

static void result_asked(struct exchange *exchange)
{
    const struct ask *ask = exchange->ask;
    struct problem problem;

    if (ask->status != STATUS_OK) {
        exchange_answer_ask(exchange);
        return;
    }
    if (take_result(exchange)) {
        return;
    }
    problem_set(&problem, STATUS_NOT_SOLVED, "The result was evicted just now.");
    problem_hint(&problem, "Ask again: it is solved anew.");
    exchange_refuse(exchange, &problem);
}

void exchange_find_result(struct exchange *exchange, void (*serve)(struct exchange *exchange))
{
    struct ask *ask;

    exchange->serve = serve;
    if (take_result(exchange)) {
        return;
    }
    ask = exchange_create_ask(exchange, ASK_RESULT);
    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    ask->wait_s = exchange_preferred_wait(exchange);
    ask->wait_until_final = true;
    exchange_ask(exchange, result_asked);
}
