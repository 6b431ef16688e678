#include "server/http/api/serve.h"

#include <stdlib.h>
#include <string.h>

/* Size of libmicrohttpd's buffer for the response; a longer piece is sent in parts. */
#define BLOCK_SIZE 4096
#define RETRY_AFTER_S 5

/* A stream of job events. Its call is posted to the scheduler for each piece, and the connection is
 * suspended until the piece is there. A slow client therefore gets fewer events, and no events
 * accumulate for it. */
struct event_stream {
    struct http_context *http_context;
    struct request *request;
    bool placed; /* the stream is counted in http_context->watchers */
    size_t sent; /* number of bytes of the current piece that have been sent */
};

/* Counts one more watcher. Returns false at the limit. HEAD requests are not counted. */
static bool find_place(struct event_stream *stream)
{
    struct http_context *http_context = stream->http_context;
    const unsigned limit = http_context->config->watcher_limit;
    const bool stays = stream->request->method != METHOD_HEAD;
    unsigned taken = atomic_load(&http_context->watchers);
    while (stays && taken < limit &&
           !atomic_compare_exchange_weak(&http_context->watchers, &taken, taken + 1)) {
    }
    stream->placed = stays && taken < limit;
    return taken < limit;
}

static void leave_place(struct event_stream *stream)
{
    if (stream->placed) {
        atomic_fetch_sub(&stream->http_context->watchers, 1);
    }
    stream->placed = false;
}

static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t size)
{
    struct event_stream *stream = context;
    struct call *call = stream->request->call;
    (void)position;
    if (atomic_load(&call->client_left) ||
        (call->body == NULL && call->status == STATUS_NO_MEMORY)) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    const size_t left = call->body == NULL ? 0 : strlen(call->body + stream->sent);
    if (left == 0) {
        const bool is_last =
            call->body == NULL || call->place.ended; /* NULL: the job no longer exists */
        free(call->body);
        call->body = NULL;
        stream->sent = 0;
        if (!is_last && request_post(stream->request)) {
            return 0; /* the connection is suspended */
        }
        /* Release the place before the client sees the end, because it may reconnect at once. */
        leave_place(stream);
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    const size_t part = left < size ? left : size;
    memcpy(buffer, call->body + stream->sent, part);
    stream->sent += part;
    return (ssize_t)part;
}

/* libmicrohttpd may call this after the request is destroyed. */
static void free_stream(void *context)
{
    struct event_stream *stream = context;
    leave_place(stream);
    free(stream);
}

static void begin_stream(struct request *request)
{
    const struct call *call = request->call;
    if (call->status != STATUS_OK || call->body == NULL) {
        request_answer_call(request);
        return;
    }
    struct MHD_Response *response = NULL;
    struct event_stream *stream = calloc(1, sizeof(*stream));
    if (stream != NULL) {
        stream->http_context = request->http_context;
        stream->request = request;
        if (!find_place(stream)) {
            const double limit = request->http_context->config->watcher_limit;
            free(stream);
            problem_refuse_limit(
                &request->refusal, STATUS_TOO_MANY_WATCHERS, limit, limit,
                "Poll the job with ?wait=30, or retry after the number of seconds in Retry-After.",
                "Too many event streams are open.");
            request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "%d", RETRY_AFTER_S);
            request_refuse(request);
            return;
        }
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_events,
                                                     stream, free_stream);
        if (response == NULL) {
            free_stream(stream);
        }
    }
    request_expect_stream(request, response);
    request_add_type(request, "text/event-stream");
    request_add_header(request, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    /* Tell buffering proxies such as nginx to pass the stream through. */
    request_add_header(request, "X-Accel-Buffering", "no");
    request_answer(request, MHD_HTTP_OK, response);
}

void serve_events(struct request *request)
{
    struct call *call = request_create_call(request, CALL_EVENTS);
    const char *seen = request_header(request, "Last-Event-ID");
    if (call == NULL) {
        return;
    }
    /* A browser that reconnects sends the header, which is newer than the parameter in its URL. */
    if (seen == NULL) {
        seen = query_value(&request->query, "last_event_id");
    }
    /* An ID that is too long matches no event ID, even when truncated. */
    if (seen != NULL) {
        strncpy(call->place.seen, seen, sizeof(call->place.seen) - 1);
    }
    request_call(request, begin_stream);
}
