#include "server/http/transport/stream.h"

#include "server/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 32768
/* Minimum size in bytes for compressing the answer to a POST; a smaller answer gains nothing. */
#define LEAST_ENCODED 1024
/* Maximum seconds to compute a block at once; a slower block takes turns with other answers. */
#define AT_ONCE_S 5e-4
/* Seconds after which a block is sent before it is full, so that the client sees progress. */
#define FLUSH_S 0.5

static bool has_failed(const struct stream *stream)
{
    return text_status(&stream->made) != STATUS_OK || text_status(&stream->text) != STATUS_OK;
}

/* Generates a block. Returns false if the time ran out before the block was complete. */
static bool make_block(void *context, double end_s)
{
    struct stream *stream = context;
    struct text *made = &stream->made;
    while (!stream->ended && !made->failed && made->size < BLOCK_SIZE) {
        stream->ended = !stream->kind->make(stream, made);
        const double now_s = clock_monotonic_s();
        if (now_s >= stream->flushed_s + FLUSH_S && made->size > 0) {
            break;
        }
        if (now_s >= end_s && !stream->ended) {
            return false;
        }
    }
    return true;
}

/* Encodes the generated block into the text to send. */
static void encode_block(struct stream *stream)
{
    if (stream->coder == NULL) {
        const struct text empty = stream->text;
        stream->text = stream->made;
        stream->made = empty;
        return;
    }
    const enum coding_until until = stream->ended                    ? CODING_LAST
                                    : stream->made.size < BLOCK_SIZE ? CODING_FLUSH
                                                                     : CODING_MORE;
    stream->text.failed |= coding_encode(stream->coder, stream->made.bytes, stream->made.size,
                                         until, &stream->text) != STATUS_OK;
    text_clear(&stream->made);
    if (stream->ended) {
        coding_close(stream->coder);
        stream->coder = NULL;
    }
}

/* Generates and encodes blocks until there is text to send or the stream ends. Returns false if the
 * time ran out. */
static bool refill_text(void *context, double end_s)
{
    struct stream *stream = context;
    while (stream->text.size == 0 && !has_failed(stream) &&
           (!stream->ended || stream->coder != NULL)) {
        if (!make_block(stream, end_s)) {
            return false;
        }
        encode_block(stream);
        stream->flushed_s = clock_monotonic_s();
    }
    return true;
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t size)
{
    struct stream *stream = context;
    struct request *request = stream->request;
    struct conn *conn = request->conn;
    (void)position;
    if (stream->sent == stream->text.size) {
        text_clear(&stream->text);
        stream->sent = 0;
        if (conn->is_abandoned) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        if (!refill_text(stream, clock_monotonic_s() + AT_ONCE_S)) {
            endpoint_compute(conn, request->connection, refill_text, stream);
            return 0;
        }
    }
    const size_t left = stream->text.size - stream->sent;
    const size_t count = left < size ? left : size;
    if (has_failed(stream)) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (left == 0) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    memcpy(buffer, stream->text.bytes + stream->sent, count);
    stream->sent += count;
    conn->deadlines.produced += count;
    return (ssize_t)count;
}

bool stream_check(struct stream *stream, enum status status)
{
    if (stream->problem.status == STATUS_OK) {
        problem_explain(&stream->problem, status, "%s",
                        status == STATUS_CORRUPT ? "The stored result is damaged."
                                                 : "There is not enough memory for the response.");
    }
    stream->made.failed |= status != STATUS_OK;
    return status == STATUS_OK;
}

/* ---- Creation and destruction ---- */

void stream_destroy(void *context)
{
    struct stream *stream = context;
    if (stream == NULL) {
        return;
    }
    coding_close(stream->coder);
    text_finish(&stream->made);
    text_finish(&stream->text);
    if (stream->kind->close != NULL) {
        stream->kind->close(stream->context);
    }
    result_unref(stream->result);
    free(stream);
}

static struct stream *create_stream(struct request *request, const struct stream_kind *kind)
{
    const char *offered = request->match.route->offers[request->offer];
    const char *representation = kind->representation;
    struct stream *stream = calloc(1, sizeof(*stream) + kind->context_size);
    if (stream != NULL) {
        stream->kind = kind;
        stream->request = request;
        stream->result = request->result == NULL ? NULL : result_ref(request->result);
        stream->media_type = offered != NULL ? offered : "application/json";
        stream->http_status = MHD_HTTP_OK;
        stream->codings = 1u << CODING_ZSTD | 1u << CODING_GZIP;
        stream->flushed_s = clock_monotonic_s();
        snprintf(stream->representation, sizeof(stream->representation), "%s",
                 representation != NULL ? representation : "");
    }
    return stream;
}

/* ---- The answer, once its first block is ready ---- */

static void refuse_stream(struct request *request, struct stream *stream)
{
    stream_check(stream, STATUS_NO_MEMORY); /* if there is no problem yet */
    request->refusal = stream->problem;
    stream_destroy(stream);
    request_refuse(request);
}

/* Sends the stream, whose first block is in `made`. Takes ownership of the stream. */
static void send_stream(struct request *request, struct stream *stream)
{
    const unsigned http_status = stream->http_status;
    const char *media_type = stream->media_type;
    struct MHD_Response *response = NULL;
    if (has_failed(stream)) {
        request->header_count = 0; /* drop the headers of the failed answer */
        refuse_stream(request, stream);
        return;
    }
    if (stream->ended && (request->coding == CODING_IDENTITY ||
                          (request->method == METHOD_POST && stream->made.size < LEAST_ENCODED))) {
        struct text text = stream->made;
        stream->made = (struct text){0};
        stream_destroy(stream);
        request->coding = CODING_IDENTITY;
        request_answer_text(request, http_status, media_type, &text);
        return;
    }
    if (request->coding == CODING_IDENTITY ||
        coding_open(request->coding, &stream->coder) == STATUS_OK) {
        encode_block(stream);
        response = MHD_create_response_from_callback(
            stream->size > 0 && request->coding == CODING_IDENTITY ? stream->size
                                                                   : MHD_SIZE_UNKNOWN,
            BLOCK_SIZE, read_stream, stream, stream_destroy);
    }
    if (response == NULL) {
        stream_destroy(stream);
    }
    request_expect_stream(request, response);
    request_add_type(request, media_type);
    if (request->coding != CODING_IDENTITY) {
        request_add_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING,
                           decoder_coding_name(request->coding));
    }
    request_answer(request, http_status, response);
}

static void send_first(struct request *request)
{
    struct stream *stream = request->pending;
    request->pending = NULL;
    if (request->conn->is_abandoned) {
        stream_destroy(stream);
        request->outcome = MHD_NO;
        return;
    }
    send_stream(request, stream);
}

/* Chooses the coding and sets the ETag. Returns true if request_tag has answered the request. */
static bool describe_stream(struct request *request, const struct stream *stream)
{
    request->coding =
        header_choose_coding(request_header(request, "Accept-Encoding"), stream->codings);
    if (stream->representation[0] == '\0') {
        request_add_header(request, "Vary", "Accept, Accept-Encoding");
        return false;
    }
    return request_tag(request,
                       stream->etag[0] != '\0' ? stream->etag : result_etag(stream->result),
                       stream->representation);
}

void stream_answer(struct request *request, const struct stream_kind *kind)
{
    struct stream *stream = create_stream(request, kind);
    if (stream == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY,
                            "There is not enough memory for the response.", NULL);
        return;
    }
    if (kind->open != NULL && !stream_check(stream, kind->open(stream, &stream->problem))) {
        refuse_stream(request, stream);
        return;
    }
    if (!kind->keeps_question) {
        text_finish(&request->document);
        upload_memory_release(&request->share);
    }
    if (describe_stream(request, stream) || (kind->divert != NULL && kind->divert(stream))) {
        stream_destroy(stream);
    } else {
        request->pending = stream;
        if (make_block(stream, clock_monotonic_s() + AT_ONCE_S)) {
            send_first(request);
        } else {
            request->resume = send_first;
            request->outcome = MHD_YES;
            endpoint_compute(request->conn, request->connection, make_block, stream);
        }
    }
}
