/* One request and its answer, from the first line to the last byte sent.
 *
 * Lies with its connection, which has one at a time. Belongs to the pool thread of its connection;
 * while its ask is with the desk the connection is suspended, and the only thing done to it is
 * answered() resuming it. A client that leaves meanwhile is noticed by the desk, which then answers
 * the ask at once. A handler ends in exactly one of exchange_answer, exchange_answer_text,
 * exchange_answer_json, exchange_refuse and exchange_ask.
 */
#pragma once

#include "server/http/coding.h"
#include "server/http/job_request.h"
#include "server/http/keyring.h"
#include "server/http/ready_answer.h"
#include "server/http/reaper.h"
#include "server/http/router.h"
#include "server/http/upload.h"
#include "server/job/device_monitor.h"
#include "server/store/adjacency_cache.h"
#include "server/store/result_table.h"
#include "server/store/store.h"

#include <microhttpd.h>
#include <stdatomic.h>

#define HEADER_VALUE_SIZE 192
#define HEADER_LIMIT 12
/* Longer request targets have memory of their own. */
#define TARGET_SIZE 256
/* Room for a tag with its quotes and the name of its representation. */
#define TAG_SIZE (ETAG_SIZE + 24)

/* What every request shares. */
struct exchange_house {
    const struct config *config;
    struct desk *desk;
    struct result_table *results;
    const struct store *store;
    struct adjacency_cache *adjacencies;
    struct device_monitor *monitor;
    struct reaper *reaper;
    struct keyring *keyring; /* NULL: whoever reaches the service may do everything */
    struct upload_memory *upload_memory;
    pthread_key_t ready_answers;
    uint64_t id_seed;
    atomic_uint connection_count; /* so far */
    atomic_bool asks_refused;
    atomic_uint asks_entering; /* between the look at asks_refused and the post */
    atomic_uint watchers;      /* streams of events that are open */
};

struct exchange_header {
    const char *name;
    char value[HEADER_VALUE_SIZE];
};

struct seat;

struct exchange {
    struct exchange_house *house;
    struct MHD_Connection *connection;
    struct seat *seat;       /* of its connection; of http.c */
    struct grant grant;      /* of its key */
    unsigned doors;          /* through which it may have come */
    enum MHD_Result outcome; /* of the callback under way */
    bool begun;
    bool closing;         /* the connection ends with this answer */
    bool answered;        /* an answer is on its way */
    unsigned http_status; /* of it; 0 before */
    bool answered_early;  /* it was sent while the body still came */

    enum method method;
    char *target;      /* the request target as it came; cut up by the query; short ones in place */
    uint32_t initials; /* of the request's headers: a bit for each letter that one begins with */
    size_t header_count;
    bool negotiated;    /* its coding was asked for */
    enum coding coding; /* and is this one, if it is streamed */

    bool has_upload;
    struct text document; /* a body that is no upload */
    size_t document_limit;
    uint64_t body_bytes;      /* all that came */
    uint64_t swallowed_bytes; /* after an early answer */

    struct ask *ask;
    void (*resume)(struct exchange *exchange); /* once the ask is answered */
    size_t offer;               /* of the handler: which of its media types was chosen */
    struct result *result;      /* a reference, held until the answer has been sent */
    struct ready_answer *ready; /* lent until then; NULL: the answer is another */
    void (*serve)(struct exchange *exchange); /* with the result */
    bool asked_again; /* that result was damaged: this is about the one solved in its place */

    /* From here on nothing is zeroed at the beginning: each is written before it is read. */
    double began_s; /* monotonic: its headers were there */
    char request_id[REQUEST_ID_SIZE];
    char tag[TAG_SIZE]; /* of the answer, with its quotes, once that has one */
    struct query query;
    struct router_match match;
    struct exchange_header headers[HEADER_LIMIT]; /* of the answer */
    struct problem refusal;                       /* found at the headers */
    struct job_request request;                   /* of an upload */
    struct upload upload;                         /* when there is one */
    char short_target[TARGET_SIZE];

    /* Of the connection, from one request to the next. */
    uint64_t next_id;
    struct text line; /* room for a small answer */
};

/* With the connection that it lies with. */
void exchange_open(struct exchange *exchange, struct exchange_house *house);
void exchange_close(struct exchange *exchange);

/* target is copied. STATUS_NO_MEMORY: there is nothing to finish. */
MUST_CHECK enum status exchange_init(struct exchange *exchange, struct exchange_house *house,
                                     struct MHD_Connection *connection, const char *target);
void exchange_finish(struct exchange *exchange);

/* The id of the request, which answers carry: the client's X-Request-Id, or one of ours. Once the
 * headers are there. */
void exchange_name(struct exchange *exchange);
/* Says that the request has a header of such a name; all are told before any is asked for. */
void exchange_note_header(struct exchange *exchange, const char *name, size_t name_size);
/* One of ours, for an answer without a request. */
void exchange_make_id(struct exchange_house *house, char ret_id[REQUEST_ID_SIZE]);
const char *exchange_request_header(const struct exchange *exchange, const char *name);
/* A header of the answer to come. name is borrowed for good. */
void exchange_set_header(struct exchange *exchange, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a value that is there. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
/* Chooses the coding of an answer that will be streamed; before its tag is made. without_gzip: it
 * costs more than it saves. */
void exchange_negotiate(struct exchange *exchange, bool without_gzip);
/* Says on which headers of the request the answer depends. */
void exchange_vary(struct exchange *exchange);
/* Gives the answer the tag of this representation of the result, to be asked for again by it: what
 * a name means may change. True after 304, when the client has it. */
bool exchange_not_modified(struct exchange *exchange, const char *representation);
/* The seconds that the client is ready to wait: of the Prefer header, which the answer then says
 * was obeyed; 0 without one. */
double exchange_preferred_wait(struct exchange *exchange);

/* Before an answer of unknown length: libmicrohttpd ends one with its last chunk also after HEAD,
 * where it would be read as the beginning of the next answer, so there must be none. */
void exchange_expect_stream(struct exchange *exchange, struct MHD_Response *response);
/* Takes the response; NULL is out of memory. */
void exchange_answer(struct exchange *exchange, unsigned http_status,
                     struct MHD_Response *response);
/* Moves the text out. */
void exchange_answer_text(struct exchange *exchange, unsigned http_status, const char *media_type,
                          struct text *text);
/* 200 with a few bytes of the result in this representation, or 304. The text stays the caller's.
 * media_type lives for good. */
void exchange_answer_small(struct exchange *exchange, const char *representation,
                           const char *media_type, const struct text *text);
struct json_t;
/* Takes the reference; NULL is out of memory. */
void exchange_answer_json(struct exchange *exchange, unsigned http_status, struct json_t *root);
void exchange_refuse(struct exchange *exchange, const struct problem *problem);
/* The whole answer, head and body, as it goes over the wire; the connection ends with it. */
void exchange_print_refusal(const struct problem *problem, const char *request_id,
                            struct text *answer);
/* The same while the body still comes, past libmicrohttpd, which cannot answer then. */
void exchange_refuse_early(struct exchange *exchange, const struct problem *problem);

/* A zeroed ask of this kind for the handler to fill, owned by the exchange; NULL after the request
 * has been refused for want of memory. */
struct ask *exchange_create_ask(struct exchange *exchange, enum ask_kind kind);
/* Suspends the connection and posts the ask; resume runs on a pool thread once it is answered. */
void exchange_ask(struct exchange *exchange, void (*resume)(struct exchange *exchange));
/* Suspends the connection and posts the ask, once more perhaps; false when the desk takes none any
 * more. */
bool exchange_post(struct exchange *exchange);
/* The usual resume: the body or the problem of the ask, with Location and Retry-After. */
void exchange_answer_ask(struct exchange *exchange);

/* The result that the path names, of who asks, as far as there is one: a reference; else NULL.
 * Every look into the table of results goes through here. */
struct result *exchange_look_up(const struct exchange *exchange);
/* Asks the desk for the result that the path names, and goes on with serve. */
void exchange_ask_result(struct exchange *exchange);
/* Frees the document that the question was, unless it has to be asked once more. */
void exchange_forget_question(struct exchange *exchange);
/* Finds the result that the path names, waiting for it as the client prefers, and calls serve. When
 * serve is refused, or fails, for a result that proves damaged, the same is done once more: it is
 * being solved again. */
void exchange_find_result(struct exchange *exchange, void (*serve)(struct exchange *exchange));
