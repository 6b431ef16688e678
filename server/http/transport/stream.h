/* A long answer made piece by piece while it is sent, with bounded memory, in the coding that the
 * request has negotiated. Pieces that take long are made in turn with those of other connections
 * (endpoint_compute), and a client that leaves ends its answer. */
#pragma once

#include "server/http/request/request.h"

struct stream;

/* An answer, and how it is made. */
struct stream_plan {
    const char *media_type;
    unsigned http_status; /* 0: 200 */
    uint64_t size;        /* of the whole answer, in bytes; 0: unknown */
    bool keeps_question;  /* make reads the body of the request */
    void *context;        /* of make; owned, freed by destroy */
    void (*destroy)(void *context);
    /* Appends the next piece, some KiB at most, or nothing yet; false when that was the last. A
     * call takes a millisecond at most. */
    bool (*make)(struct stream *stream, struct text *text);
};

struct stream {
    struct stream_plan plan;
    struct request *request;
    struct result *result;  /* a reference of its own, where the request has one */
    uint64_t position;      /* of make, from 0 */
    struct problem problem; /* of make, why it failed; zero: no memory */
    struct coder *coder;    /* NULL: it is sent as it is made */
    struct text made;       /* not yet encoded */
    struct text text;       /* not yet sent, from byte `sent` on */
    size_t sent;
    double flushed_s; /* when the last block was complete */
    bool ended;
};

/* Ends the answer within make, which returns the false of this: STATUS_CORRUPT, STATUS_NO_MEMORY;
 * the problem may have been set by another. */
bool stream_fail(struct stream *stream, struct text *text, enum status status);
/* Answers with what plan.make makes; moves the context. If make fails within the first block, the
 * problem is answered instead. An answer of one block has a Content-Length, and one to POST that is
 * too small to gain from a coding has none. */
void stream_answer(struct request *request, const struct stream_plan *plan);
