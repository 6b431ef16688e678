/* One request and its answer, from the request line to the last byte sent.
 *
 * A request belongs to the thread of its connection. While the scheduler handles the request's
 * call, the connection is suspended; the answered call returns to the thread through its mailbox.
 * If the client disconnects meanwhile, the endpoint detects this and the scheduler answers at once.
 * A handler ends by calling exactly one of request_answer or its variants, request_refuse,
 * request_call and stream_answer.
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
#include "server/store/store.h"

#include <microhttpd.h>
#include <stdatomic.h>

#define HEADER_VALUE_SIZE 192
#define HEADER_LIMIT 12
/* Size of an ETag with its quotes and the names of representation and coding. */
#define TAG_SIZE (ETAG_SIZE + 24)

/* State shared by all requests; owned by struct http. */
struct http_context {
    const struct config *config;
    struct scheduler *scheduler;
    struct result_table *results;
    const struct store *store;
    struct graph_cache *graph_cache;
    struct conn_limits conn_limits;
    struct failed_logins failed_logins;
    struct keyring *keyring; /* NULL: no keys are configured, every client has all rights */
    struct upload_memory upload_memory;
    bool is_unix; /* requests come over a Unix socket */
    uint64_t id_seed;
    atomic_ullong request_count; /* number of request IDs generated so far */
    atomic_uint watchers;        /* number of open event streams */
};

struct answer_header {
    const char *name;
    char value[HEADER_VALUE_SIZE];
};

/* State of a request; changed only by the thread of its connection. */
enum request_state {
    REQUEST_NEW,      /* the headers are being received */
    REQUEST_BODY,     /* the headers are checked; the body, if any, is being received */
    REQUEST_DRAINING, /* the body is refused; its rest is read and dropped */
    REQUEST_WAITING,  /* the scheduler has the call; the connection is suspended */
    REQUEST_ANSWERED  /* the answer is queued or being sent */
};

struct request {
    struct http_context *http_context;
    struct MHD_Connection *connection;
    struct conn *conn;
    struct grant grant;      /* tenant, rights and quota of the key */
    enum MHD_Result outcome; /* return value of the current libmicrohttpd callback */
    enum request_state state;
    unsigned http_status; /* status code of the answer; 0 until there is one */

    enum method method;
    size_t header_count;
    enum coding coding; /* content coding of a streamed answer */

    struct upload *upload; /* owned; NULL: the body, if any, is a document */
    struct text document;
    size_t document_limit;
    struct upload_share share; /* upload memory charged for the document */
    uint64_t body_bytes;       /* bytes of the body received so far */

    struct call *call;
    void (*resume)(
        struct request *request); /* runs when the call is answered or the first block is ready */
    struct stream *pending;       /* stream whose first block is being computed; owned */
    size_t offer;                 /* index of the chosen media type in the route's offers */
    struct result *result;        /* counted reference, released with the request */
    const struct vertex_names *names;       /* vertex names, for NEEDS_NAMES */
    struct vertex_names *names_from_file;   /* owned */
    void (*serve)(struct request *request); /* runs once the graph or the result is found */

    /* request_create does not zero the members from here on: each is written before it is read. */
    double began_s; /* monotonic time when the headers were complete */
    char request_id[REQUEST_ID_SIZE];
    char tag[TAG_SIZE]; /* ETag of the answer with its quotes, set by request_tag */
    struct query query;
    struct router_match match;
    struct answer_header headers[HEADER_LIMIT]; /* headers of the answer */
    struct problem refusal;                     /* problem that request_refuse sends */
    struct job_request job_request;             /* parameters of an upload */
    char target[];                              /* request target; query_parse splits it in place */
};

/* Creates the current request of the connection, with a copy of the target. context is the struct
 * http_context. Returns NULL if memory runs out; libmicrohttpd's next callback for the request then
 * closes the connection. */
void *request_create(void *context, const char *target, struct MHD_Connection *connection);
/* Frees a request; accepts NULL. */
void request_destroy(struct request *request);

/* Sets request_id, which is echoed in the answer: the client's valid X-Request-Id or a generated
 * ID. Call once the headers are complete. */
void request_assign_id(struct request *request);
const char *request_header(const struct request *request, const char *name);
/* Adds a header to the answer. name must live as long as the request. A header whose value does not
 * fit HEADER_VALUE_SIZE is left out. */
void request_set_header(struct request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a header whose value needs no formatting. */
void request_add_header(struct request *request, const char *name, const char *value);
/* Adds Content-Type, with charset=utf-8 for text types. */
void request_add_type(struct request *request, const char *media_type);
/* Chooses the media type (offers is NULL-terminated) that the client prefers. If it accepts none,
 * returns STATUS_NOT_ACCEPTABLE with a hint that lists the offers. */
MUST_CHECK enum status request_choose_type(const struct request *request, const char *const *offers,
                                           size_t *ret_index, struct problem *reterr);
/* Sets ETag to "etag-representation[-coding]", together with Vary and Cache-Control: no-cache,
 * since a name may refer to another graph later. etag identifies the content, such as the result.
 * Returns true if the request has been answered: see request_answer_condition. */
bool request_tag(struct request *request, const char *etag, const char *representation);
/* Responds with 412 if the answer's tag is not in If-Match, or with 304 if it is in If-None-Match,
 * and returns true; otherwise returns false. RFC 9110 section 13.2.2. */
bool request_answer_condition(struct request *request);
/* Returns the seconds that the client prefers to wait (header Prefer), at most
 * config->wait_limit_s, and reports them in Preference-Applied. Returns 0 without the header. */
double request_preferred_wait(struct request *request);

/* Must be called before a response of unknown length is queued. libmicrohttpd would end an answer
 * to HEAD with a chunk that the client would read as the start of the next answer. The answer to
 * HEAD is therefore sent without chunked coding, and its connection closes. */
void request_expect_stream(struct request *request, struct MHD_Response *response);
/* Queues the response and takes ownership of it. NULL (out of memory) closes the connection. */
void request_answer(struct request *request, unsigned http_status, struct MHD_Response *response);
/* Answers with the bytes of the text, which move into the response. */
void request_answer_text(struct request *request, unsigned http_status, const char *media_type,
                         struct text *text);
/* Answers with a JSON document, which caches must not store, and releases it; NULL means out of
 * memory. */
void request_answer_json(struct request *request, struct json_t *root);
/* Refuses the request with the problem in request->refusal. */
void request_refuse(struct request *request);
/* Refuses the request with this status and message; hint may be NULL. */
void request_refuse_with(struct request *request, enum status status, const char *words,
                         const char *hint);

/* ---- Calls to the scheduler ---- */

/* Creates a call of this kind, owned by the request. Key, tenant, quota, request ID and conditional
 * headers are set, the rest zeroed. Returns NULL after refusing the request for lack of memory. */
struct call *request_create_call(struct request *request, enum call_kind kind);
/* Suspends the connection and posts the call to the scheduler; resume runs on the thread of the
 * connection once the call is answered. */
void request_call(struct request *request, void (*resume)(struct request *request));
/* Like request_call, but keeps request->resume; an answered call may be posted again. Returns false
 * when the endpoint is quiesced and the scheduler accepts no more calls. */
bool request_post(struct request *request);
/* Tells the scheduler that the client of a waiting call has disconnected, so that the call is
 * answered at once. */
void request_client_left(struct request *request);
/* The default resume function: sends the call's body or problem, with Location and Retry-After. */
void request_answer_call(struct request *request);

/* Calls the route's handler, streams the answer, or posts the route's call to the scheduler. */
void request_serve(struct request *request);
/* Asks the scheduler for the graph in the path, and calls serve once request->call is answered. */
void request_find_graph(struct request *request, void (*serve)(struct request *request));
/* Finds the names of the vertices of the graph in the path, and calls request_serve. */
void request_find_names(struct request *request);
/* Finds the result that the path names, waits for it as long as the client prefers, and calls
 * serve. If serve finds the result damaged, request_refuse responds with 409. */
void request_find_result(struct request *request, void (*serve)(struct request *request));
