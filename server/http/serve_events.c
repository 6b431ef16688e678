#include "server/http/serve.h"

#include <stdlib.h>
#include <string.h>

/* Of libmicrohttpd, for a response; a piece that is longer goes in parts. */
#define BLOCK_SIZE 4096
#define RETRY_AFTER_S 5

/* A stream of events is one ask that goes to the desk again and again, with the connection
 * suspended until there is a piece: a client that reads slowly is told less often, and nothing
 * piles up for it. */
struct event_stream {
    struct exchange_house *house;
    struct exchange *exchange;
    bool placed; /* it is one of the watchers */
    size_t sent; /* of the piece in the ask */
};

/* HEAD takes none, but is told whether GET would find one. */
static bool find_place(struct event_stream *stream)
{
    struct exchange_house *house = stream->house;
    const unsigned limit = house->config->watcher_limit;
    const bool stays = stream->exchange->method != METHOD_HEAD;
    unsigned taken = atomic_load(&house->watchers);

    while (stays && taken < limit &&
           !atomic_compare_exchange_weak(&house->watchers, &taken, taken + 1)) {
    }
    stream->placed = stays && taken < limit;
    return taken < limit;
}

static void leave_place(struct event_stream *stream)
{
    if (stream->placed) {
        atomic_fetch_sub(&stream->house->watchers, 1);
    }
    stream->placed = false;
}

/* The place is free before the client knows of the end: it may well come again at once. */
static ssize_t end(struct event_stream *stream)
{
    leave_place(stream);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* 0: the connection is suspended. */
static ssize_t ask_again(struct event_stream *stream)
{
    struct ask *ask = stream->exchange->ask;

    free(ask->body);
    ask->body = NULL;
    stream->sent = 0;
    return exchange_post(stream->exchange) ? 0 : end(stream);
}

static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t size)
{
    struct event_stream *stream = context;
    const struct ask *ask = stream->exchange->ask;

    (void)position;
    if (ask->client_left || (ask->body == NULL && ask->status == STATUS_NO_MEMORY)) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    /* Forgotten by the history meanwhile. */
    if (ask->body == NULL) {
        return end(stream);
    }
    const size_t left = strlen(ask->body + stream->sent);

    if (left == 0) {
        return ask->place.ended ? end(stream) : ask_again(stream);
    }
    const size_t part = left < size ? left : size;

    memcpy(buffer, ask->body + stream->sent, part);
    stream->sent += part;
    return (ssize_t)part;
}

/* The exchange may be gone. */
static void free_stream(void *context)
{
    struct event_stream *stream = context;

    leave_place(stream);
    free(stream);
}

static void refuse_watcher(struct exchange *exchange)
{
    const double limit = exchange->house->config->watcher_limit;
    struct problem problem;

    problem_set(&problem, STATUS_TOO_MANY_WATCHERS, "As many streams of events are open as may.");
    problem_limit(&problem, limit, limit);
    problem_hint(&problem, "Poll the job with ?wait=30, or come back after Retry-After.");
    exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "%d", RETRY_AFTER_S);
    exchange_refuse(exchange, &problem);
}

/* NULL: out of memory. */
static struct event_stream *create_stream(struct exchange *exchange)
{
    struct event_stream *stream = calloc(1, sizeof *stream);

    if (stream != NULL) {
        stream->house = exchange->house;
        stream->exchange = exchange;
    }
    return stream;
}

/* Takes the stream; NULL is out of memory. */
static struct MHD_Response *open_stream(struct event_stream *stream)
{
    struct MHD_Response *response = NULL;

    if (stream != NULL) {
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_events,
                                                     stream, free_stream);
    }
    if (stream != NULL && response == NULL) {
        free_stream(stream);
    }
    return response;
}

static void begin_stream(struct exchange *exchange)
{
    const struct ask *ask = exchange->ask;

    if (ask->status != STATUS_OK || ask->body == NULL) {
        exchange_answer_ask(exchange);
        return;
    }
    struct event_stream *stream = create_stream(exchange);

    if (stream != NULL && !find_place(stream)) {
        free(stream);
        refuse_watcher(exchange);
        return;
    }
    struct MHD_Response *response = open_stream(stream);

    exchange_expect_stream(exchange, response);
    exchange_add_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    exchange_add_header(exchange, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    /* To a proxy that would collect what it passes on. */
    exchange_add_header(exchange, "X-Accel-Buffering", "no");
    exchange_answer(exchange, MHD_HTTP_OK, response);
}

/* The header is of a browser that comes again, and newer than its address. */
static void copy_seen(const struct exchange *exchange, struct ask *ask)
{
    const char *seen = exchange_request_header(exchange, "Last-Event-ID");

    if (seen == NULL) {
        seen = query_value(&exchange->query, "last_event_id");
    }
    /* What is longer is no id of ours, and as good as any other such. */
    if (seen != NULL) {
        strncpy(ask->place.seen, seen, sizeof ask->place.seen - 1);
    }
}

void serve_events(struct exchange *exchange)
{
    struct ask *ask = exchange_create_ask(exchange, ASK_EVENTS);

    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    copy_seen(exchange, ask);
    exchange_ask(exchange, begin_stream);
}
