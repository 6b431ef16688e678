#include "server/http/exchange.h"

#include "proto/json_text.h"
#include "server/clock.h"
#include "server/http/preference.h"
#include "server/http/range.h"
#include "server/http/request_metrics.h"
#include "server/http/trace.h"

#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How long a client that was refused in the middle of its body may pause before it is cut off. */
#define REFUSED_TIMEOUT_S 2u

void exchange_open(struct exchange *exchange, struct exchange_house *house)
{
    const unsigned connection =
        atomic_fetch_add_explicit(&house->connection_count, 1, memory_order_relaxed);

    exchange->next_id = (uint64_t)connection << 32;
    exchange->line = (struct text){0};
}

void exchange_close(struct exchange *exchange)
{
    text_finish(&exchange->line);
}

enum status exchange_init(struct exchange *exchange, struct exchange_house *house,
                          struct MHD_Connection *connection, const char *target)
{
    const size_t size = strlen(target) + 1;
    char *copy = size <= sizeof exchange->short_target ? exchange->short_target : malloc(size);

    if (copy == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(copy, target, size);
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
    if (exchange->ready != NULL) {
        ready_answer_give_back(exchange->ready);
    }
    free(exchange->ask);
    if (exchange->target != exchange->short_target) {
        free(exchange->target);
    }
}

static uint32_t initial(char letter)
{
    return UINT32_C(1) << ((unsigned char)letter & 31);
}

void exchange_note_header(struct exchange *exchange, const char *name, size_t name_size)
{
    if (name_size > 0) {
        exchange->initials |= initial(name[0]);
    }
}

/* Most requests have few headers, and most that are asked for are not among them. */
const char *exchange_request_header(const struct exchange *exchange, const char *name)
{
    if ((exchange->initials & initial(name[0])) == 0) {
        return NULL;
    }
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

void exchange_make_id(struct exchange_house *house, char ret_id[REQUEST_ID_SIZE])
{
    const unsigned connection =
        atomic_fetch_add_explicit(&house->connection_count, 1, memory_order_relaxed);

    /* As that of a connection of its own, whose numbers begin with 1. */
    request_id_print(house->id_seed, (uint64_t)connection << 32, ret_id);
}

void exchange_name(struct exchange *exchange)
{
    const char *given = exchange_request_header(exchange, "X-Request-Id");

    exchange->began_s = clock_monotonic_s();
    if (given != NULL && request_id_admit(given)) {
        memcpy(exchange->request_id, given, strlen(given) + 1);
        return;
    }
    request_id_print(exchange->house->id_seed, ++exchange->next_id, exchange->request_id);
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
    const size_t size = strlen(text);
    const size_t room = (size_t)(end - at);

    return mempcpy(at, text, size < room ? size : room);
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

/* The last answers of a service that ends say so: nobody asks again where nobody will listen. */
static bool is_last(const struct exchange *exchange)
{
    return exchange->closing || atomic_load(&exchange->house->asks_refused);
}

static bool add_headers(const struct exchange *exchange, struct MHD_Response *response)
{
    bool added = MHD_add_response_header(response, "X-Request-Id", exchange->request_id) == MHD_YES;

    for (size_t i = 0; added && i < exchange->header_count; i++) {
        added = MHD_add_response_header(response, exchange->headers[i].name,
                                        exchange->headers[i].value) == MHD_YES;
    }
    if (added && is_last(exchange)) {
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
    exchange->http_status = http_status;
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

/* What was to be said of a result that is damaged waits for the one solved in its place. The desk
 * has been told of the damage before it gets this ask. */
static bool ask_again(struct exchange *exchange)
{
    if (exchange->result == NULL || exchange->asked_again || !result_is_damaged(exchange->result)) {
        return false;
    }
    exchange->asked_again = true;
    exchange->header_count = 0;
    exchange->negotiated = false;
    exchange->coding = CODING_IDENTITY;
    result_unref(exchange->result);
    exchange->result = NULL;
    exchange_ask_result(exchange);
    return true;
}

void exchange_answer_text(struct exchange *exchange, unsigned http_status, const char *media_type,
                          struct text *text)
{
    struct MHD_Response *response = NULL;
    size_t size;
    char *bytes = text_status(text) == STATUS_OK ? text_take(text, &size) : NULL;

    text_finish(text);
    if (bytes == NULL && ask_again(exchange)) {
        return;
    }
    if (bytes != NULL) {
        response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    }
    if (bytes != NULL && response == NULL) {
        free(bytes);
    }
    exchange_add_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    exchange_answer(exchange, http_status, response);
}

/* Nothing is to be said in its head but what is ready. */
static bool is_plain(const struct exchange *exchange)
{
    return exchange->method == METHOD_GET && exchange->header_count == 0 && !is_last(exchange) &&
           exchange->ask == NULL && exchange->body_bytes == 0 && !exchange->negotiated &&
           exchange_request_header(exchange, "If-None-Match") == NULL;
}

/* NULL: it has to be put together. */
static struct MHD_Response *borrow_ready(struct exchange *exchange, const char *representation,
                                         const char *media_type, const struct text *text)
{
    const struct ready_answer_head head = {media_type, result_etag(exchange->result),
                                           exchange->tag};
    struct ready_answers *answers = NULL;
    struct MHD_Response *response;

    if (text_status(text) == STATUS_OK && is_plain(exchange)) {
        answers = ready_answers_of_thread(exchange->house->ready_answers);
    }
    if (answers == NULL) {
        return NULL;
    }
    struct ready_answer *ready = ready_answers_find(answers, &head, text->size);
    if (ready == NULL) {
        make_tag(exchange, representation);
        ready = ready_answers_make(answers, &head, text->size);
    }
    response = ready == NULL ? NULL : ready_answer_lend(ready, exchange->request_id, text->bytes);
    exchange->ready = response == NULL ? NULL : ready;
    return response;
}

void exchange_answer_small(struct exchange *exchange, const char *representation,
                           const char *media_type, const struct text *text)
{
    struct MHD_Response *ready = borrow_ready(exchange, representation, media_type, text);
    struct text copy = {0};

    if (ready != NULL) {
        exchange->answered = true;
        exchange->http_status = MHD_HTTP_OK;
        exchange->outcome = MHD_queue_response(exchange->connection, MHD_HTTP_OK, ready);
        return;
    }
    if (exchange_not_modified(exchange, representation)) {
        return;
    }
    copy.failed = text->failed;
    text_append(&copy, text->bytes, text->size);
    exchange_answer_text(exchange, MHD_HTTP_OK, media_type, &copy);
}

static void print_json(json_t *root, struct text *text)
{
    char *printed = json_text_print(root, JSON_COMPACT | JSON_REAL_PRECISION(12));

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

    if (ask_again(exchange)) {
        return;
    }
    if (problem->status == STATUS_UPLOAD_MEMORY) {
        exchange_set_header(exchange, "Retry-After", "%u", UPLOAD_RETRY_AFTER_S);
    }
    print_json(problem_of(exchange, problem), &text);
    exchange_answer_text(exchange, status_info(problem->status)->http, "application/problem+json",
                         &text);
}

void exchange_print_refusal(const struct problem *problem, const char *request_id,
                            struct text *answer)
{
    const unsigned http_status = status_info(problem->status)->http;
    struct text body = {0};

    print_json(problem_json(problem, request_id), &body);
    text_printf(answer,
                "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\nContent-Length: "
                "%zu\r\nX-Request-Id: %s\r\n",
                http_status, MHD_get_reason_phrase_for(http_status), body.size, request_id);
    if (problem->status == STATUS_UPLOAD_MEMORY) {
        text_printf(answer, "Retry-After: %u\r\n", UPLOAD_RETRY_AFTER_S);
    }
    text_append_string(answer, "Connection: close\r\n\r\n");
    text_append(answer, body.bytes, body.size);
    answer->failed |= text_status(&body) != STATUS_OK;
    text_finish(&body);
}

/* On the thread of the connection: no other touches its session. What is told about a connection
 * is good until the next is asked: libmicrohttpd 1.0 has one place for all of it. */
static void send_past(const struct exchange *exchange, const struct text *answer)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    if (info != NULL && info->tls_session != NULL) {
        (void)!gnutls_record_send(info->tls_session, answer->bytes, answer->size);
        return;
    }
    info = MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL) {
        (void)!send(info->connect_fd, answer->bytes, answer->size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void exchange_refuse_early(struct exchange *exchange, const struct problem *problem)
{
    struct text answer = {0};

    exchange->answered = exchange->answered_early = true;
    exchange->http_status = status_info(problem->status)->http;
    /* A client that stops sending and leaves is not always noticed. */
    MHD_set_connection_option(exchange->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              REFUSED_TIMEOUT_S);
    exchange_print_refusal(problem, exchange->request_id, &answer);
    /* Nothing was sent on this connection but perhaps "100 Continue": there is room for this. */
    if (text_status(&answer) == STATUS_OK) {
        send_past(exchange, &answer);
    }
    text_finish(&answer);
}
