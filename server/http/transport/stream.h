/* A long answer that is generated while it is sent, with bounded memory, in the content coding that
 * the client prefers. Connections with slow answers take turns (endpoint_compute). An answer is
 * cancelled when its client disconnects. Only the thread of the connection uses a stream. */
#pragma once

#include "server/http/request/request.h"
#include "server/http/transport/coding.h"

#include <stddef.h>

/* Describes how a route generates its answers. */
struct stream_kind {
    const char *representation; /* name of the representation in the ETag; NULL: no ETag */
    bool keeps_question;        /* the request's body is kept, because make reads it */
    size_t context_size;
    /* Fills the zeroed context and changes members of the stream as needed. reterr is
     * stream->problem; stream_check gets the status. May be NULL. */
    enum status (*open)(struct stream *stream, struct problem *reterr);
    /* Releases the context, also after open has failed. NULL: the context owns nothing. */
    void (*close)(void *context);
    /* Called after the ETag is set. Returns true if it has answered the request without the stream,
     * for example from a file. May be NULL. */
    bool (*divert)(struct stream *stream);
    /* Appends the next piece, of at most a few KiB, or nothing if it is not ready yet. Returns
     * false after the last piece. A call may take a millisecond at most. */
    bool (*make)(struct stream *stream, struct text *text);
};

struct stream {
    const struct stream_kind *kind;
    struct request *request;
    struct result *result; /* counted reference to the request's result, or NULL */

    /* The function open may change these defaults: */
    const char *media_type; /* the route's media type that the client prefers */
    unsigned http_status;   /* status code; 200 by default */
    uint64_t size;          /* size of the uncompressed answer in bytes; 0: unknown */
    unsigned codings;       /* content codings to choose from: bits 1 << coding */
    char etag[24];          /* content part of the ETag; empty: the result's ETag is used */
    char representation[24];

    uint64_t position;      /* progress counter of make, from 0 */
    struct problem problem; /* reason why open or make failed; zeroed: out of memory */
    struct coder *coder;    /* NULL: no coding */
    struct text made;       /* text not yet encoded */
    struct text text;       /* encoded text; bytes from `sent` on are not sent yet */
    size_t sent;
    double flushed_s; /* time when the last block was complete */
    bool ended;
    _Alignas(max_align_t) char context[]; /* context of the stream_kind */
};

/* Returns whether the status of a step is STATUS_OK. If it is not, which make must answer by
 * returning false, the answer ends with an error: stream->problem if it is set, else the status,
 * which is STATUS_CORRUPT or STATUS_NO_MEMORY. */
bool stream_check(struct stream *stream, enum status status);
/* Answers the request with a stream, or refuses it if open fails or make fails within the first
 * block. An answer of one block without a content coding has a Content-Length. A small answer to a
 * POST is not compressed. */
void stream_answer(struct request *request, const struct stream_kind *kind);
/* Destroys a stream; accepts NULL. */
void stream_destroy(void *stream);
