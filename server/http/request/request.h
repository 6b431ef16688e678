/* One request and its answer, from the first line to the last byte sent.
 *
 * Belongs to the thread of its connection, which has one at a time; while its call is with the
 * scheduler the connection is suspended, and the answered call comes back to that thread by its
 * mailbox. A client that leaves meanwhile is noticed by the endpoint, and the scheduler answers at
 * once. A handler ends in exactly one of request_answer, request_answer_text, request_answer_json,
 * request_refuse and request_call.
 */
#pragma once

#include "server/http/request/auth.h"
#include "server/http/request/body.h"
#include "server/http/request/failed_logins.h"
#include "server/http/request/headers.h"
#include "server/http/request/query.h"
#include "server/http/request/router.h"
#include "server/http/request/upload.h"
#include "server/http/transport/endpoint.h"
#include "server/store/graph_cache.h"
#include "server/store/result.h"
#include "server/store/store.h"

#include <microhttpd.h>
#include <stdatomic.h>

#define HEADER_VALUE_SIZE 192
#define HEADER_LIMIT 12
/* Room for a tag with its quotes and the name of its representation. */
#define TAG_SIZE (ETAG_SIZE + 24)

/* The state that all requests share. */
struct http_context {
    const struct config *config;
    struct scheduler *scheduler;
    struct result_table *results;
    const struct store *store;
    struct graph_cache *graph_cache;
    struct conn_limits *conn_limits;
    struct failed_logins failed_logins;
    struct keyring *keyring; /* NULL: whoever reaches the service may do everything */
    struct upload_memory *upload_memory;
    bool is_unix; /* requests come over a Unix socket */
    uint64_t id_seed;
    atomic_ullong request_count; /* so far */
    atomic_uint watchers;        /* streams of events that are open */
};

struct answer_header {
    const char *name;
    char value[HEADER_VALUE_SIZE];
};

/* The life of a request. Only the thread of its connection moves it. */
enum request_state {
    REQUEST_NEW,      /* its headers come */
    REQUEST_BODY,     /* its headers were checked; its body comes, if it has one */
    REQUEST_DRAINING, /* its body was refused, and the rest of it is read and dropped */
    REQUEST_WAITING,  /* its call is with the scheduler, and its connection suspended */
    REQUEST_ANSWERED  /* an answer is on its way */
};

struct request {
    struct http_context *http_context;
    struct MHD_Connection *connection;
    struct conn *conn;
    struct grant grant;       /* of its key */
    uint32_t address_counter; /* of conn_limits.h */
    enum MHD_Result outcome;  /* of the callback under way */
    enum request_state state;
    unsigned http_status; /* of the answer; 0 before */

    enum method method;
    size_t header_count;
    enum coding coding; /* of the answer, if it is streamed */

    struct upload *upload; /* owned; NULL: the body, if any, is a document */
    struct text document;
    size_t document_limit;
    struct upload_share share; /* what the document is charged */
    struct text line;          /* room for a small answer */
    uint64_t body_bytes;       /* all that came */

    struct call *call;
    void (*resume)(
        struct request *request); /* once the call is answered, or the first block made */
    struct stream *pending;       /* whose first block is being made; owned */
    size_t offer;          /* index of the chosen media type, of those that the route offers */
    struct result *result; /* a reference, held until the answer has been sent */
    /* Called with the graph or the result, and once more if that is found damaged; then NULL. */
    void (*serve)(struct request *request);

    /* From here on nothing is zeroed at the beginning: each is written before it is read. */
    double began_s; /* monotonic: its headers were there */
    char request_id[REQUEST_ID_SIZE];
    char tag[TAG_SIZE]; /* of the answer, with its quotes, once that has one */
    struct query query;
    struct router_match match;
    struct answer_header headers[HEADER_LIMIT]; /* of the answer */
    struct problem refusal;                     /* found at the headers or in the body */
    struct job_request job_request;             /* of an upload */
    char target[]; /* the request target as it came; cut up by the query */
};

/* target is copied. NULL: there is no memory. */
struct request *request_create(struct http_context *http_context, struct MHD_Connection *connection,
                               const char *target);
/* NULL is accepted. */
void request_destroy(struct request *request);

/* The id of the request, which answers carry: the client's X-Request-Id, or one of ours. Once the
 * headers are there. */
void request_assign_id(struct request *request);
const char *request_header(const struct request *request, const char *name);
/* A header of the answer to come. name is borrowed for good. */
void request_set_header(struct request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a value that is there. */
void request_add_header(struct request *request, const char *name, const char *value);
/* The Content-Type; text is UTF-8, and says so. */
void request_add_type(struct request *request, const char *media_type);
/* Chooses the coding of an answer that will be streamed; before its tag is made. */
void request_negotiate(struct request *request, bool without_gzip);
/* Chooses, of the media types (NULL-terminated), the one that the client likes best:
 * STATUS_NOT_ACCEPTABLE, with a hint that lists them. */
MUST_CHECK enum status request_choose_type(const struct request *request, const char *const *offers,
                                           size_t *ret_index, struct problem *reterr);
/* Puts the list of media types into the hint. */
void request_hint_types(const char *label, const char *const *types, struct problem *problem);
/* Says on which headers of the request an answer may depend. */
void request_vary(struct request *request);
/* Gives the answer the tag of this representation of what has the tag etag, such as the result, to
 * be asked for again by it: what a name means may change. True after an answer: as
 * request_answer_condition. */
bool request_tag(struct request *request, const char *etag, const char *representation);
/* Answers 412 where the tag of the answer is none of If-Match, and 304 where it is one of
 * If-None-Match: true after that. RFC 9110 section 13.2.2. */
bool request_answer_condition(struct request *request);
/* The seconds that the client is ready to wait: of the Prefer header, which the answer then says
 * was obeyed; 0 without one. */
double request_preferred_wait(struct request *request);

/* Before an answer of unknown length: libmicrohttpd ends one with its last chunk also after HEAD,
 * where it would be read as the beginning of the next answer, so there must be none. */
void request_expect_stream(struct request *request, struct MHD_Response *response);
/* Takes the response; NULL is out of memory. */
void request_answer(struct request *request, unsigned http_status, struct MHD_Response *response);
/* Moves the text out. */
void request_answer_text(struct request *request, unsigned http_status, const char *media_type,
                         struct text *text);
/* 200 with a few bytes of the result in this representation, or 304. The text stays as it is until
 * the end of the request: that of the request, mostly. */
void request_answer_small(struct request *request, const char *representation,
                          const char *media_type, const struct text *text);
/* Takes the reference; NULL is out of memory. */
void request_answer_json(struct request *request, unsigned http_status, struct json_t *root);
void request_refuse(struct request *request, const struct problem *problem);
/* hint: NULL for none. */
void request_refuse_with(struct request *request, enum status status, const char *words,
                         const char *hint);
/* Refuses it with the problem that was found at its headers or in its body. */
void request_answer_refusal(struct request *request);

/* ---- Calls of the scheduler ---- */

/* A call of this kind for the handler to fill, owned by the request, for the key that the path has
 * captured; else zeroed. NULL after the request has been refused for want of memory. */
struct call *request_create_call(struct request *request, enum call_kind kind);
/* Suspends the connection and posts the call; resume runs on a pool thread once it is answered. */
void request_call(struct request *request, void (*resume)(struct request *request));
/* Suspends the connection and posts the call, once more perhaps; false when the scheduler takes
 * none any more. */
bool request_post(struct request *request);
/* The client has closed its side while the scheduler has its call: it is answered at once. */
void request_client_left(struct request *request);
/* request_create_call and request_call, answered as the call is. */
void request_ask(struct request *request, enum call_kind kind);
/* The usual resume: the body or the problem of the call, with Location and Retry-After. */
void request_answer_call(struct request *request);

/* The result that the path names, of who asks, as far as there is one: a reference; else NULL.
 * Every look into the table of results goes through here. */
struct result *request_look_up(const struct request *request);
/* Frees the document that the question was, unless it has to be asked once more. */
void request_forget_question(struct request *request);
/* Calls the handler of the route, or streams its answer. */
void request_serve(struct request *request);
/* Finds the graph that the path names, and calls serve once the call of the request knows it. */
void request_find_graph(struct request *request, void (*serve)(struct request *request));
/* Finds the result that the path names, waiting for it as the client prefers, and calls serve. When
 * serve is refused, or fails, for a result that proves damaged, the same is done once more: it is
 * being solved again. */
void request_find_result(struct request *request, void (*serve)(struct request *request));
