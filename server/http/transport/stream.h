/* A long answer made piece by piece while it is sent, with bounded memory, in the coding that the
 * client prefers. Pieces that take long are made in turn with those of other connections
 * (endpoint_compute), and a client that leaves ends its answer. */
#pragma once

#include "server/http/request/request.h"
#include "server/http/transport/coding.h"

#include <stddef.h>

/* How the answers of a route are made. */
struct stream_kind {
    const char *representation; /* for the tag; NULL: the answer has none */
    bool keeps_question;        /* make reads the body of the request */
    size_t context_size;
    /* Fills the context, which is zeroed, and what is different about this answer. NULL: none. */
    enum status (*open)(struct stream *stream, struct problem *reterr);
    /* Also after open has failed. NULL: the context owns nothing. */
    void (*close)(void *context);
    /* Answers in another way, once the answer has its tag; false: it is not possible. NULL: never.
     */
    bool (*divert)(struct stream *stream);
    /* Appends the next piece, some KiB at most, or nothing yet; false when that was the last. A
     * call takes a millisecond at most. */
    bool (*make)(struct stream *stream, struct text *text);
};

struct stream {
    const struct stream_kind *kind;
    struct request *request;
    struct result *result; /* a reference of its own, where the request has one */

    /* Members that open may change. */
    const char *media_type; /* chosen of those that the route offers */
    unsigned http_status;   /* 200 */
    uint64_t size;          /* of the whole answer, in bytes; 0: unknown */
    bool without_gzip;      /* it costs more than it saves */
    bool as_it_is;          /* no coding at all */
    char etag[24];          /* that the tag is made from; empty: the result's */
    char representation[24];

    uint64_t position;      /* of make, from 0 */
    struct problem problem; /* of make, why it failed; zero: no memory */
    struct coder *coder;    /* NULL: it is sent as it is made */
    struct text made;       /* not yet encoded */
    struct text text;       /* not yet sent, from byte `sent` on */
    size_t sent;
    double flushed_s; /* when the last block was complete */
    bool ended;
    _Alignas(max_align_t) char context[]; /* of the kind */
};

/* Ends the answer within make, which returns the false of this: STATUS_CORRUPT, STATUS_NO_MEMORY;
 * the problem may have been set by another. */
bool stream_fail(struct stream *stream, struct text *text, enum status status);
/* Answers with what the kind makes, or refuses the request when open fails, or make within the
 * first block. An answer of one block has a Content-Length, and one to POST that is too small to
 * gain from a coding has none. */
void stream_answer(struct request *request, const struct stream_kind *kind);
/* NULL is accepted. */
void stream_destroy(struct stream *stream);
