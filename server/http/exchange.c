#include "server/http/exchange.h"

#include "server/clock.h"
#include "server/http/preference.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How long a client that was refused in the middle of its body may pause before it is cut off. */
#define REFUSED_TIMEOUT_S 2u

struct exchange *exchange_create(struct exchange_house *house, struct MHD_Connection *connection,
                                 const char *target)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (exchange == NULL) {
        return NULL;
    }
    exchange->house = house;
    exchange->connection = connection;
    exchange->target = strdup(target);
    if (exchange->target == NULL) {
        exchange_destroy(exchange);
        return NULL;
    }
    return exchange;
}

void exchange_destroy(struct exchange *exchange)
{
    if (exchange == NULL) {
        return;
    }
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
    free(exchange);
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

void exchange_name(struct exchange *exchange)
{
    const char *given = exchange_request_header(exchange, "X-Request-Id");
    struct exchange_house *house = exchange->house;

    if (given != NULL && is_request_id(given)) {
        memcpy(exchange->request_id, given, strlen(given) + 1);
        return;
    }
    uint64_t count = atomic_fetch_add_explicit(&house->id_count, 1, memory_order_relaxed) + 1;
    snprintf(exchange->request_id, sizeof exchange->request_id, "%016llx",
             (unsigned long long)mix(house->id_seed + count * UINT64_C(0x9E3779B97F4A7C15)));
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

void exchange_answer(struct exchange *exchange, unsigned http_status, struct MHD_Response *response)
{
    exchange->answered = true;
    exchange->outcome = MHD_NO;
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
    exchange_set_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, "%s", media_type);
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

struct ask *exchange_create_ask(struct exchange *exchange, enum ask_kind kind)
{
    struct ask *ask = calloc(1, sizeof *ask);

    if (ask == NULL) {
        refuse_for_memory(exchange);
        return NULL;
    }
    ask->kind = kind;
    ask->context = exchange;
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

void exchange_ask(struct exchange *exchange, void (*resume)(struct exchange *exchange))
{
    struct exchange_house *house = exchange->house;
    struct problem problem;

    atomic_fetch_add(&house->asks_entering, 1);
    if (atomic_load(&house->asks_refused)) {
        atomic_fetch_sub(&house->asks_entering, 1);
        problem_set(&problem, STATUS_DRAINING, "The service is shutting down.");
        exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "1");
        exchange_refuse(exchange, &problem);
        return;
    }
    exchange->resume = resume;
    exchange->ask->answered = answered;
    exchange->outcome = MHD_YES;
    /* First: the answer may come before the post returns. */
    MHD_suspend_connection(exchange->connection);
    desk_post(house->desk, exchange->ask);
    atomic_fetch_sub(&house->asks_entering, 1);
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
