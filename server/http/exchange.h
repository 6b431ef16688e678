/* One request and its answer, from the first line to the last byte sent.
 *
 * Belongs to the pool thread of its connection; while its ask is with the desk the connection is
 * suspended, and the only thing done to it is answered() resuming it. A client that leaves
 * meanwhile is noticed when the ask is answered: within wait_limit_s. A handler ends in exactly one
 * of exchange_answer, exchange_answer_text, exchange_answer_json, exchange_refuse and exchange_ask.
 */
#pragma once

#include "server/http/job_request.h"
#include "server/http/reaper.h"
#include "server/http/router.h"
#include "server/http/upload.h"
#include "server/store/result_table.h"
#include "server/store/store.h"

#include <microhttpd.h>
#include <stdatomic.h>

#define REQUEST_ID_SIZE 65
#define HEADER_VALUE_SIZE 192
#define HEADER_LIMIT 12
/* Room for a tag with its quotes and the name of its representation. */
#define TAG_SIZE (ETAG_SIZE + 16)

/* What every request shares. */
struct exchange_house {
    const struct config *config;
    struct desk *desk;
    struct result_table *results;
    const struct store *store;
    struct reaper *reaper;
    uint64_t id_seed;
    atomic_ullong id_count;
    atomic_bool asks_refused;
    atomic_uint asks_entering; /* between the look at asks_refused and the post */
};

struct exchange_header {
    const char *name;
    char value[HEADER_VALUE_SIZE];
};

struct exchange {
    struct exchange_house *house;
    struct MHD_Connection *connection;
    enum MHD_Result outcome; /* of the callback under way */
    bool begun;
    bool closing;        /* the connection ends with this answer */
    bool answered;       /* an answer is on its way */
    bool answered_early; /* it was sent while the body still came */

    enum method method;
    char *target; /* the request target as it came; cut up by the query */
    struct query query;
    struct router_match match;
    char request_id[REQUEST_ID_SIZE];
    struct exchange_header headers[HEADER_LIMIT]; /* of the answer */
    size_t header_count;

    bool has_upload;
    struct upload upload;
    struct text document; /* a body that is no upload */
    size_t document_limit;
    uint64_t body_bytes;      /* all that came */
    uint64_t swallowed_bytes; /* after an early answer */

    struct problem refusal; /* found at the headers */
    struct job_request request;
    struct ask *ask;
    void (*resume)(struct exchange *exchange); /* once the ask is answered */
    struct result *result;                    /* a reference, held until the answer has been sent */
    void (*serve)(struct exchange *exchange); /* with the result */
};

/* target is copied. NULL when there is no memory. */
struct exchange *exchange_create(struct exchange_house *house, struct MHD_Connection *connection,
                                 const char *target);
void exchange_destroy(struct exchange *exchange);

/* The id of the request, which answers carry: the client's X-Request-Id, or one of ours. Once the
 * headers are there. */
void exchange_name(struct exchange *exchange);
const char *exchange_request_header(const struct exchange *exchange, const char *name);
/* A header of the answer to come. name is borrowed for good. */
void exchange_set_header(struct exchange *exchange, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The seconds that the client is ready to wait: of the Prefer header, which the answer then says
 * was obeyed; 0 without one. */
double exchange_preferred_wait(struct exchange *exchange);

/* Takes the response; NULL is out of memory. */
void exchange_answer(struct exchange *exchange, unsigned http_status,
                     struct MHD_Response *response);
/* Moves the text out. */
void exchange_answer_text(struct exchange *exchange, unsigned http_status, const char *media_type,
                          struct text *text);
struct json_t;
/* Takes the reference; NULL is out of memory. */
void exchange_answer_json(struct exchange *exchange, unsigned http_status, struct json_t *root);
void exchange_refuse(struct exchange *exchange, const struct problem *problem);
/* The same while the body still comes, past libmicrohttpd, which cannot answer then. */
void exchange_refuse_early(struct exchange *exchange, const struct problem *problem);

/* A zeroed ask of this kind for the handler to fill, owned by the exchange; NULL after the request
 * has been refused for want of memory. */
struct ask *exchange_create_ask(struct exchange *exchange, enum ask_kind kind);
/* Suspends the connection and posts the ask; resume runs on a pool thread once it is answered. */
void exchange_ask(struct exchange *exchange, void (*resume)(struct exchange *exchange));
/* The usual resume: the body or the problem of the ask, with Location and Retry-After. */
void exchange_answer_ask(struct exchange *exchange);

/* Finds the result that the path names, waiting for it as the client prefers, and calls serve. */
void exchange_find_result(struct exchange *exchange, void (*serve)(struct exchange *exchange));
