/* What an exchange asks of the desk, and the result that it waits for. */
#include "server/http/exchange.h"

#include "server/clock.h"
#include "server/http/preference.h"
#include "server/http/request_metrics.h"
#include "server/http/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    ask->tenant = exchange->grant.tenant;
    ask->quota = exchange->grant.quota;
    ask->context = exchange;
    ask->client_socket = client_socket(exchange);
    memcpy(ask->request_id, exchange->request_id, sizeof ask->request_id);
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

struct result *exchange_look_up(const struct exchange *exchange)
{
    return result_table_find(exchange->house->results, tenant_number(exchange->grant.tenant),
                             exchange->match.capture);
}

void exchange_forget_question(struct exchange *exchange)
{
    if (exchange->answered) {
        text_finish(&exchange->document);
    }
}

/* now_s: as far as it is known. */
static bool take_result(struct exchange *exchange, double now_s)
{
    exchange->result = exchange_look_up(exchange);
    if (exchange->result == NULL) {
        return false;
    }
    if (result_is_damaged(exchange->result)) {
        /* The desk has been told, and will have retired it before it answers. */
        result_unref(exchange->result);
        exchange->result = NULL;
        return false;
    }
    result_touch(exchange->result, now_s);
    exchange->serve(exchange);
    return true;
}

/* The question came in a body that is used up. */
static bool has_lost_question(const struct exchange *exchange)
{
    return exchange->body_bytes > 0 && exchange->document.size == 0;
}

static void result_asked(struct exchange *exchange)
{
    const struct ask *ask = exchange->ask;
    struct problem problem;

    if (ask->status != STATUS_OK) {
        exchange_answer_ask(exchange);
        return;
    }
    if (!has_lost_question(exchange) && take_result(exchange, clock_coarse_s())) {
        return;
    }
    problem_set(&problem, STATUS_NOT_SOLVED, "The result was replaced just now.");
    problem_hint(&problem, "Ask again: it is solved anew.");
    exchange_refuse(exchange, &problem);
}

void exchange_ask_result(struct exchange *exchange)
{
    struct ask *ask = exchange_create_ask(exchange, ASK_RESULT);

    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    ask->wait_s = has_lost_question(exchange) ? 0 : exchange_preferred_wait(exchange);
    ask->wait_until_final = true;
    exchange_ask(exchange, result_asked);
}

void exchange_find_result(struct exchange *exchange, void (*serve)(struct exchange *exchange))
{
    exchange->serve = serve;
    if (take_result(exchange, exchange->began_s)) {
        request_metrics_count_result(true);
        return;
    }
    request_metrics_count_result(false);
    exchange_ask_result(exchange);
}
