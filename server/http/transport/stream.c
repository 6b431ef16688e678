#include "server/http/transport/stream.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 32768
/* An answer smaller than this gains nothing from a coding. */
#define LEAST_ENCODED 1024

/* At least a block, unless it is the last one or took long to make. */
static void make_block(struct stream *stream, struct text *text)
{
    stream->paused = false;
    while (!stream->ended && !stream->paused && !text->failed && text->size < BLOCK_SIZE) {
        stream->ended = !stream->make(stream, text);
    }
}

static enum status encode_made(struct stream *stream)
{
    enum status status = text_status(&stream->made);

    if (status == STATUS_OK) {
        status = coding_encode(stream->coder, stream->made.bytes, stream->made.size,
                               stream->ended    ? CODING_LAST
                               : stream->paused ? CODING_FLUSH
                                                : CODING_MORE,
                               &stream->text);
    }
    if (stream->ended) {
        coding_close(stream->coder);
        stream->coder = NULL;
    }
    return status == STATUS_OK ? text_status(&stream->text) : status;
}

/* Some bytes to send, unless these are the last. */
static enum status refill(struct stream *stream)
{
    enum status status = STATUS_OK;

    text_clear(&stream->text);
    stream->sent = 0;
    if (stream->coder == NULL) {
        make_block(stream, &stream->text);
        return text_status(&stream->text);
    }
    while (status == STATUS_OK && stream->text.size == 0 && stream->coder != NULL) {
        text_clear(&stream->made);
        make_block(stream, &stream->made);
        status = encode_made(stream);
    }
    return status;
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t size)
{
    struct stream *stream = context;
    size_t left;

    (void)position;
    if (stream->sent == stream->text.size && refill(stream) != STATUS_OK) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    left = stream->text.size - stream->sent;
    if (left == 0) {
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (left > size) {
        left = size;
    }
    memcpy(buffer, stream->text.bytes + stream->sent, left);
    stream->sent += left;
    *stream->produced += left;
    return (ssize_t)left;
}

static void free_stream(void *context)
{
    struct stream *stream = context;

    coding_close(stream->coder);
    text_finish(&stream->made);
    text_finish(&stream->text);
    result_unref(stream->result);
    if (stream->free_context != NULL) {
        stream->free_context(stream->context);
    }
    free(stream);
}

static struct stream *create(struct request *request,
                             bool (*make)(struct stream *stream, struct text *text))
{
    struct stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL) {
        return NULL;
    }
    stream->result = request->result == NULL ? NULL : result_ref(request->result);
    stream->make = make;
    stream->produced = &request->conn->deadlines.produced;
    if (request->coding != CODING_IDENTITY &&
        coding_open(request->coding, &stream->coder) != STATUS_OK) {
        free_stream(stream);
        return NULL;
    }
    return stream;
}

/* Takes the stream. */
static void refuse(struct request *request, struct stream *stream)
{
    struct problem problem = stream->problem;

    if (problem.status == STATUS_OK) {
        problem_set(&problem, STATUS_NO_MEMORY, "There is no memory for the answer.");
    }
    free_stream(stream);
    request_refuse(request, &problem);
}

/* Takes the stream; NULL is out of memory. The first block is made before the status is said. */
static void answer(struct request *request, const char *media_type, struct stream *stream,
                   uint64_t size)
{
    struct MHD_Response *response = NULL;

    if (stream != NULL) {
        make_block(stream, &stream->made);
        if (text_status(&stream->made) != STATUS_OK) {
            refuse(request, stream);
            return;
        }
        if (stream->ended && (stream->coder == NULL || (request->method == METHOD_POST &&
                                                        stream->made.size < LEAST_ENCODED))) {
            struct text text = stream->made; /* the first block is all */

            stream->made = (struct text){0};
            free_stream(stream);
            request->coding = CODING_IDENTITY;
            request_answer_text(request, MHD_HTTP_OK, media_type, &text);
            return;
        }
        if (stream->coder == NULL) {
            stream->text = stream->made;
            stream->made = (struct text){0};
        } else if (encode_made(stream) != STATUS_OK) {
            refuse(request, stream);
            return;
        }
        response = MHD_create_response_from_callback(
            size > 0 && request->coding == CODING_IDENTITY ? size : MHD_SIZE_UNKNOWN, BLOCK_SIZE,
            read_stream, stream, free_stream);
        if (response == NULL) {
            free_stream(stream);
        }
    }
    request_expect_stream(request, response);
    request_add_type(request, media_type);
    if (request->coding != CODING_IDENTITY) {
        request_add_header(request, MHD_HTTP_HEADER_CONTENT_ENCODING,
                           decoder_coding_name(request->coding));
    }
    request_answer(request, MHD_HTTP_OK, response);
}

void stream_answer(struct request *request, const char *media_type,
                   bool (*make)(struct stream *stream, struct text *text))
{
    answer(request, media_type, create(request, make), 0);
}

void stream_answer_context(struct request *request, const char *media_type, void *context,
                           void (*free_context)(void *context),
                           bool (*make)(struct stream *stream, struct text *text), uint64_t size)
{
    struct stream *stream = create(request, make);

    if (stream == NULL) {
        free_context(context);
    } else {
        stream->context = context;
        stream->free_context = free_context;
    }
    answer(request, media_type, stream, size);
}
