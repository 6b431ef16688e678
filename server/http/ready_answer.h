/* Small answers that are given again and again: libmicrohttpd takes longer to put the headers of an
 * answer together than finding a distance takes, so those that stay the same are put together once,
 * and only the bytes and the id of the request are changed from answer to answer.
 *
 * Each pool thread has some of its own, for all of its connections, so that they are few and lie in
 * its cache. One is lent to an exchange until that ends, when libmicrohttpd is done with it: nobody
 * reads what is changed. Holds no reference to a result: what it keeps of one is its tag. */
#pragma once

#include "server/http/request_id.h"
#include "server/store/catalogue.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer answers are not kept. */
#define READY_ANSWER_SIZE 120
/* Distances of one graph have some sizes. */
#define READY_ANSWER_COUNT 128

/* What all such answers of a result have in common. */
struct ready_answer_head {
    const char *media_type; /* lives for good, and is told apart by its address */
    const char *etag;       /* of the result; two bytes at least */
    const char *tag;        /* the same with its quotes and representation; to make one */
};

struct ready_answer {
    struct MHD_Response *response; /* NULL: none; it sends bytes */
    size_t size;
    const char *media_type;
    char *request_id; /* the value of its header, in libmicrohttpd's copy */
    size_t id_size;
    bool is_lent;
    char etag[ETAG_SIZE];
    char bytes[READY_ANSWER_SIZE];
};

struct ready_answers {
    struct ready_answer places[READY_ANSWER_COUNT];
};

/* key: under it each thread finds its own, which end with it. Closed once the other threads have
 * ended; destroys those of the one that calls. */
MUST_CHECK enum status ready_answers_open(pthread_key_t *ret_key);
void ready_answers_close(pthread_key_t key);
/* Those of the calling thread; NULL without memory. */
struct ready_answers *ready_answers_of_thread(pthread_key_t key);

/* The one of this size; NULL: it is not there, or lent. */
struct ready_answer *ready_answers_find(struct ready_answers *answers,
                                        const struct ready_answer_head *head, size_t size);
/* Makes it; NULL when it is too long, its place is lent, or without memory. */
struct ready_answer *ready_answers_make(struct ready_answers *answers,
                                        const struct ready_answer_head *head, size_t size);
/* Lends it, with so many bytes, which are copied. NULL without memory: then it is not lent. */
struct MHD_Response *ready_answer_lend(struct ready_answer *answer, const char *request_id,
                                       const char *bytes);
/* It has been sent, or never will be. */
void ready_answer_give_back(struct ready_answer *answer);
