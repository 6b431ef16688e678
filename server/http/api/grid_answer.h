/* Rows and columns of the request's result as an answer, in any format: a file or a part of one
 * where it can be, else made while it is sent. The members of a stream_kind, but for open, which
 * says what is asked for and calls grid_answer_open. */
#pragma once

#include "proto/format.h"
#include "proto/npy_header.h"
#include "proto/write/grid.h"
#include "server/http/api/rectangle.h"
#include "server/http/api/slice.h"
#include "server/http/transport/stream.h"

/* The context of the stream. */
struct grid_answer {
    /* The question. */
    enum format format;
    enum grid_form form; /* of the textual formats */
    struct slice rows;
    struct slice columns;

    /* The state of the answer. */
    struct rectangle rectangle;
    struct grid_text writer;
    enum kind as; /* of a binary answer, whose header may stand before the elements */
    unsigned char header[NPY_HEADER_SIZE];
    size_t header_size;
    uint64_t offset; /* of the next byte of the answer, header included */
    uint64_t end;    /* of the last one to send */
};

/* By the parameter format, else by Accept; first: what is answered when anything will do. */
MUST_CHECK enum status grid_answer_choose(const struct request *request, enum format first,
                                          enum format *ret_format, struct problem *reterr);
MUST_CHECK enum status grid_answer_open(struct stream *stream, struct problem *reterr);
void grid_answer_close(void *context);
bool grid_answer_divert(struct stream *stream);
bool grid_answer_make(struct stream *stream, struct text *text);
