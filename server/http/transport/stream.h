/* A long answer, generated while it is sent with bounded memory, in the coding that the client
 * prefers. Slow pieces are computed in turns with those of other connections (endpoint_compute); a
 * client that disconnects ends its answer. Used by the thread of the connection. */
#pragma once

#include "server/http/request/request.h"
#include "server/http/transport/coding.h"

#include <stddef.h>

/* How a route generates its answers. */
struct stream_kind {
    const char *representation; /* representation in the ETag; NULL: no ETag */
    bool keeps_question;        /* make reads the request's body, which is kept until the end */
    size_t context_size;
    /* Fills the zeroed context and changes members of the stream as needed. May be NULL. */
    enum status (*open)(struct stream *stream, struct problem *reterr);
    /* Releases the context, also after open has failed. NULL: the context owns nothing. */
    void (*close)(void *context);
    /* Called once the answer has its ETag: returns true after answering without the stream, such as
     * from a file. May be NULL. */
    bool (*divert)(struct stream *stream);
    /* Appends the next piece, at most some KiB, or nothing yet; returns false after the last. A
     * call may take a millisecond at most. */
    bool (*make)(struct stream *stream, struct text *text);
};

struct stream {
    const struct stream_kind *kind;
    struct request *request;
    struct result *result; /* its own reference to the request's result, or NULL */

    /* Defaults that open may change: */
    const char *media_type; /* the offer that the client prefers */
    unsigned http_status;   /* 200 */
    uint64_t size;          /* bytes of the uncoded answer; 0: unknown */
    unsigned codings;       /* content codings to choose from: bits 1 << coding */
    char etag[24];          /* content part of the ETag; empty: the result's */
    char representation[24];

    uint64_t position;      /* progress counter of make, from 0 */
    struct problem problem; /* why make failed; zeroed: out of memory */
    struct coder *coder;    /* NULL: no coding */
    struct text made;       /* text not yet encoded */
    struct text text;       /* encoded text; bytes from `sent` on are not sent yet */
    size_t sent;
    double flushed_s; /* time when the last block was complete */
    bool ended;
    _Alignas(max_align_t) char context[]; /* context of the stream_kind */
};

/* Called by make to end the answer with an error, STATUS_CORRUPT or STATUS_NO_MEMORY, unless
 * stream->problem is already set; returns false for make to return. */
bool stream_fail(struct stream *stream, struct text *text, enum status status);
/* Answers the request with a stream, or refuses it when open fails or make fails within the first
 * block. An answer of one block without a content coding has a Content-Length; the answer to a POST
 * is not encoded if it is too small to gain from a coding. */
void stream_answer(struct request *request, const struct stream_kind *kind);
/* NULL is accepted. */
void stream_destroy(void *stream);
