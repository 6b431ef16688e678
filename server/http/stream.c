#include "server/http/stream.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 32768

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t size)
{
    struct stream *stream = context;
    size_t left;

    (void)position;
    if (stream->sent == stream->text.size) {
        text_clear(&stream->text);
        stream->sent = 0;
        while (!stream->ended && stream->text.size < BLOCK_SIZE) {
            stream->ended = !stream->make(stream, &stream->text);
        }
        if (text_status(&stream->text) != STATUS_OK) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
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

    text_finish(&stream->text);
    result_unref(stream->result);
    vertex_names_destroy(stream->stored_names);
    free(stream);
}

void stream_answer_names(struct exchange *exchange, const char *media_type,
                         struct vertex_names *names,
                         bool (*make)(struct stream *stream, struct text *text))
{
    struct stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *response = NULL;

    if (stream == NULL) {
        vertex_names_destroy(names);
    } else {
        stream->result = exchange->result == NULL ? NULL : result_ref(exchange->result);
        stream->stored_names = names;
        stream->make = make;
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_stream,
                                                     stream, free_stream);
        if (response == NULL) {
            free_stream(stream);
        }
    }
    exchange_set_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE, "%s", media_type);
    exchange_answer(exchange, MHD_HTTP_OK, response);
}

void stream_answer(struct exchange *exchange, const char *media_type,
                   bool (*make)(struct stream *stream, struct text *text))
{
    stream_answer_names(exchange, media_type, NULL, make);
}
