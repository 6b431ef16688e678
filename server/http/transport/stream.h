/* A long answer made piece by piece while it is sent, with bounded memory, in the coding that the
 * request has negotiated. */
#pragma once

#include "server/http/request/request.h"

struct stream {
    struct result *result; /* a reference of its own, where the request has one */
    void *context;         /* of the maker, who sets both; freed by free_context */
    void (*free_context)(void *context);
    uint64_t position; /* of the maker, from 0 */
    /* Appends the next piece, some KiB at most, and moves position on; false when that was the
     * last. */
    bool (*make)(struct stream *stream, struct text *text);
    bool paused;            /* by the maker: the piece took long, so it is sent before the next */
    struct problem problem; /* of the maker, why it failed; zero: for want of memory */
    struct coder *coder;    /* NULL: it is sent as it is made */
    struct text made;       /* and not yet encoded */
    struct text text;       /* not yet sent */
    size_t sent;
    uint64_t *produced; /* of limits.h */
    bool ended;
};

/* Answers 200 with what make makes of the request's result; the problem, where that fails in the
 * first block. An answer of one block has its length said, and one to POST that is too small to
 * gain from a coding goes without. */
void stream_answer(struct request *request, const char *media_type,
                   bool (*make)(struct stream *stream, struct text *text));
/* The same with a context for the maker; takes it. size: of all that is made, where the maker
 * knows it; else 0. */
void stream_answer_context(struct request *request, const char *media_type, void *context,
                           void (*free_context)(void *context),
                           bool (*make)(struct stream *stream, struct text *text), uint64_t size);
