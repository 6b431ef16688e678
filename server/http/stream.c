#include "server/http/stream.h"

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

/* Some encoded bytes, unless these are the last. */
static enum status encode_block(struct stream *stream)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && stream->text.size == 0 && stream->coder != NULL) {
        text_clear(&stream->made);
        make_block(stream, &stream->made);
        status = text_status(&stream->made);
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
    }
    return status;
}

static enum status refill(struct stream *stream)
{
    enum status status;

    text_clear(&stream->text);
    stream->sent = 0;
    if (stream->coder != NULL) {
        status = encode_block(stream);
        return status == STATUS_OK ? text_status(&stream->text) : status;
    }
    make_block(stream, &stream->text);
    return text_status(&stream->text);
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
    return (ssize_t)left;
}

static void free_stream(void *context)
{
    struct stream *stream = context;

    coding_close(stream->coder);
    text_finish(&stream->made);
    text_finish(&stream->text);
    result_unref(stream->result);
    vertex_names_destroy(stream->stored_names);
    if (stream->free_context != NULL) {
        stream->free_context(stream->context);
    }
    free(stream);
}

static struct stream *create(struct exchange *exchange,
                             bool (*make)(struct stream *stream, struct text *text))
{
    struct stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    stream->result = exchange->result == NULL ? NULL : result_ref(exchange->result);
    stream->make = make;
    if (exchange->coding != CODING_IDENTITY &&
        coding_open(exchange->coding, &stream->coder) != STATUS_OK) {
        free_stream(stream);
        return NULL;
    }
    return stream;
}

/* Takes the stream. */
static void refuse(struct exchange *exchange, struct stream *stream)
{
    struct problem problem = stream->problem;

    if (problem.status == STATUS_OK) {
        problem_set(&problem, STATUS_NO_MEMORY, "There is no memory for the answer.");
    }
    free_stream(stream);
    exchange_refuse(exchange, &problem);
}

/* Takes the stream; NULL is out of memory. The first block is made before the status is said. */
static void answer(struct exchange *exchange, const char *media_type, struct stream *stream)
{
    struct MHD_Response *response = NULL;

    if (stream != NULL && refill(stream) != STATUS_OK) {
        refuse(exchange, stream);
        return;
    }
    if (stream != NULL) {
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_stream,
                                                     stream, free_stream);
        if (response == NULL) {
            free_stream(stream);
        }
    }
    exchange_expect_stream(exchange, response);
    exchange_add_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    if (exchange->coding != CODING_IDENTITY) {
        exchange_add_header(exchange, MHD_HTTP_HEADER_CONTENT_ENCODING,
                            decoder_coding_name(exchange->coding));
    }
    exchange_answer(exchange, MHD_HTTP_OK, response);
}

void stream_answer(struct exchange *exchange, const char *media_type,
                   bool (*make)(struct stream *stream, struct text *text))
{
    answer(exchange, media_type, create(exchange, make));
}

void stream_answer_names(struct exchange *exchange, const char *media_type,
                         struct vertex_names *names,
                         bool (*make)(struct stream *stream, struct text *text))
{
    struct stream *stream = create(exchange, make);

    if (stream == NULL) {
        vertex_names_destroy(names);
    } else {
        stream->stored_names = names;
    }
    answer(exchange, media_type, stream);
}

void stream_answer_context(struct exchange *exchange, const char *media_type, void *context,
                           void (*free_context)(void *context),
                           bool (*make)(struct stream *stream, struct text *text))
{
    struct stream *stream = create(exchange, make);

    if (stream == NULL) {
        free_context(context);
    } else {
        stream->context = context;
        stream->free_context = free_context;
    }
    answer(exchange, media_type, stream);
}

/* ---- Text that is there ---- */

struct hoard {
    char *bytes;
    size_t size;
};

static void free_hoard(void *context)
{
    struct hoard *hoard = context;

    free(hoard->bytes);
    free(hoard);
}

/* position counts bytes. */
static bool make_from_hoard(struct stream *stream, struct text *text)
{
    const struct hoard *hoard = stream->context;
    const size_t left = hoard->size - (size_t)stream->position;
    const size_t size = left < BLOCK_SIZE ? left : BLOCK_SIZE;

    text_append(text, hoard->bytes + stream->position, size);
    stream->position += size;
    return stream->position < hoard->size;
}

void stream_answer_text(struct exchange *exchange, const char *media_type, struct text *text)
{
    struct hoard *hoard;

    if (text->size < LEAST_ENCODED) {
        exchange->coding = CODING_IDENTITY;
    }
    hoard = exchange->coding == CODING_IDENTITY || text_status(text) != STATUS_OK
                ? NULL
                : calloc(1, sizeof *hoard);
    if (hoard == NULL) {
        exchange_answer_text(exchange, MHD_HTTP_OK, media_type, text);
        return;
    }
    hoard->bytes = text_take(text, &hoard->size);
    stream_answer_context(exchange, media_type, hoard, free_hoard, make_from_hoard);
}
