/* A long answer made piece by piece while it is sent, with bounded memory. */
#pragma once

#include "server/http/exchange.h"

struct stream {
    struct result *result;             /* a reference of its own, where the exchange has one */
    struct vertex_names *stored_names; /* its own, of a graph without a result; may be NULL */
    uint64_t position;                 /* of the maker, from 0 */
    /* Appends the next piece, some KiB at most, and moves position on; false when that was the
     * last. */
    bool (*make)(struct stream *stream, struct text *text);
    struct text text; /* made and not yet sent */
    size_t sent;
    bool ended;
};

/* Answers 200 with what make makes of the exchange's result. */
void stream_answer(struct exchange *exchange, const char *media_type,
                   bool (*make)(struct stream *stream, struct text *text));
/* The same of a graph that has no result; takes the names. */
void stream_answer_names(struct exchange *exchange, const char *media_type,
                         struct vertex_names *names,
                         bool (*make)(struct stream *stream, struct text *text));
