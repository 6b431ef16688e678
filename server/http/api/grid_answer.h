/* Answers with selected rows and columns of a result in any format. The answer is sent from the
 * result's file if possible, else generated while it is sent. A stream_kind has these functions as
 * members, except that its own open function fills the selection and calls grid_answer_open. */
#pragma once

#include "proto/format.h"
#include "proto/npy_header.h"
#include "proto/write/grid.h"
#include "server/http/api/rectangle.h"
#include "server/http/api/slice.h"
#include "server/http/transport/stream.h"

/* Context of the stream. */
struct grid_answer {
    /* The selection, which the caller fills: */
    enum format format;
    enum grid_form form; /* layout of a text format */
    struct slice rows;
    struct slice columns;

    /* State of the answer: */
    struct rectangle rectangle;
    struct grid_text writer;
    enum kind as;                          /* element kind of a binary answer */
    unsigned char header[NPY_HEADER_SIZE]; /* header of an npy answer */
    size_t header_size;
    uint64_t offset; /* offset of the next byte to send, header included */
    uint64_t end;    /* offset after the last byte to send */
};

/* Chooses the format from the parameter format=, else from Accept; `first` wins a tie. */
MUST_CHECK enum status grid_answer_choose(const struct request *request, enum format first,
                                          enum format *ret_format, struct problem *reterr);
MUST_CHECK enum status grid_answer_open(struct stream *stream, struct problem *reterr);
void grid_answer_close(void *context);
bool grid_answer_divert(struct stream *stream);
bool grid_answer_make(struct stream *stream, struct text *text);
