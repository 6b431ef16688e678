/* Small answers that a connection gives again and again: libmicrohttpd takes longer to put the
 * headers of an answer together than finding a distance takes, so those that stay the same are put
 * together once, and only the bytes and the id of the request are changed from answer to answer.
 *
 * Lies with its connection and belongs to its pool thread. A connection has one answer at a time
 * and libmicrohttpd is done with it when the next request begins, so nobody reads what is changed.
 * Holds no reference to a result: what it keeps of one is its tag. */
#pragma once

#include "server/http/request_id.h"
#include "server/store/catalogue.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer answers are not kept. */
#define READY_ANSWER_SIZE 120
/* One for each size, of as many sizes; which is more than distances of one graph have. */
#define READY_ANSWER_COUNT 8

/* What all such answers of a result have in common. */
struct ready_answer_head {
    const char *media_type; /* lives for good, and is told apart by its address */
    const char *etag;       /* of the result */
    const char *tag;        /* the same with its quotes and representation; to make one */
};

struct ready_answer {
    struct MHD_Response *response; /* NULL: none; it sends bytes */
    size_t size;
    const char *media_type;
    char *request_id; /* the value of its header, in libmicrohttpd's copy */
    size_t id_size;
    char etag[ETAG_SIZE];
    char bytes[READY_ANSWER_SIZE];
};

struct ready_answers {
    struct ready_answer of_size[READY_ANSWER_COUNT];
};

void ready_answers_init(struct ready_answers *answers);
void ready_answers_finish(struct ready_answers *answers);

/* Whether one of this size is there. */
bool ready_answers_has(const struct ready_answers *answers, const struct ready_answer_head *head,
                       size_t size);
/* An answer with these bytes, which are copied. Borrowed until the next one; NULL when it is too
 * long, or without memory. */
struct MHD_Response *ready_answers_take(struct ready_answers *answers,
                                        const struct ready_answer_head *head,
                                        const char *request_id, const char *bytes, size_t size);
