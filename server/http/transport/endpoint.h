/* An endpoint: one HTTP thread with a libuv loop and a libmicrohttpd daemon, which has neither a
 * thread nor a listening socket of its own. The loop polls the listener and the daemon's epoll
 * descriptor, accepts and limits connections, checks deadlines and resumes suspended requests.
 * Everything that touches a connection happens on this thread, through documented calls of
 * libmicrohttpd; directly on a socket the endpoint only uses shutdown(), SO_LINGER and TCP_INFO.
 *
 * The service's thread creates, stops and destroys endpoints; other threads only post messages. */
#pragma once

#include "server/config.h"
#include "server/http/transport/conn_limits.h"
#include "server/http/transport/deadlines.h"
#include "server/http/transport/listener.h"
#include "server/http/transport/tls.h"
#include "server/worker/mailbox.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <sys/queue.h>

/* Memory of a connection for headers and the read buffer. The size is small, because a connection
 * keeps all of it after its first request, and because uploads are slower with a larger buffer. */
#define ENDPOINT_CONNECTION_BYTES ((size_t)24 << 10)

struct endpoint;

/* A connection. The struct lives as long as libmicrohttpd's connection. */
struct conn {
    TAILQ_ENTRY(conn) place;
    struct endpoint *endpoint;
    int descriptor;
    enum conn_verdict verdict;
    uint32_t address; /* index of the address's counter in struct conn_limits */
    bool is_suspended;
    bool is_last; /* close the connection after the current answer */
    /* The next four members are valid while the answer is being computed. */
    TAILQ_ENTRY(conn) turn;
    struct MHD_Connection *connection;
    bool (*compute)(void *context, double end_s); /* NULL: no answer is being computed */
    void *compute_context;
    bool is_abandoned; /* the computation of its answer was cancelled: close the connection */
    struct deadlines deadlines;
    struct request *request; /* current request or NULL; set by the callbacks */
};

/* A listener shared by several endpoints; the last user closes it. */
struct shared_listener {
    struct listener listener;
    atomic_uint users;
};

struct endpoint_rules {
    const struct config *config;
    bool is_encrypted; /* connections use TLS with the certificate of tls.h */
    struct conn_limits *limits;
    void *context; /* first argument of the three libmicrohttpd callbacks */
    /* Callbacks of libmicrohttpd, called on the endpoint's thread. */
    MHD_AccessHandlerCallback request_came;
    void *(*request_started)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback request_ended;
    /* Called when the client of a suspended connection has disconnected. */
    void (*client_left)(struct request *request);
    /* Called when the connection is closed. request: a request whose headers never became complete,
     * because libmicrohttpd does not call request_ended for it; else NULL. */
    void (*conn_closed)(struct request *request);
};

/* Starts an endpoint, which accepts connections at once. After a failure the caller still owns the
 * listener. */
MUST_CHECK enum status endpoint_create(const struct endpoint_rules *rules, unsigned number,
                                       struct shared_listener *listener,
                                       struct endpoint **ret_endpoint);
/* Posts a message, to be delivered on the endpoint's thread. Any thread. */
void endpoint_post(struct endpoint *endpoint, struct message *message);
/* Stops accepting connections; requests on open connections are still answered. */
void endpoint_quiesce(struct endpoint *endpoint);
/* Returns whether the thread has processed the quiesce, and so has posted its last call. */
bool endpoint_is_quiesced(const struct endpoint *endpoint);
/* Ends the thread once all requests are answered or the grace period is over, and closes the
 * connections. No message may be posted afterwards. endpoint_destroy joins the thread; the two are
 * separate so that several endpoints can stop in parallel. */
void endpoint_stop(struct endpoint *endpoint);
void endpoint_destroy(struct endpoint *endpoint);

/* Returns whether libmicrohttpd parses request heads leniently. Version 0.9 does, so framing.c
 * inspects the head and refuses deviations with the service's messages. From 1.0 on libmicrohttpd
 * itself refuses folded headers, tabs and bare LFs as delimiters, and spaces in the target. */
bool endpoint_parses_leniently(void);

/* ---- On the endpoint's thread ---- */

struct conn *endpoint_conn(struct MHD_Connection *connection);
/* Changes the phase of a connection. now_s (clock_monotonic_s()) is used for PHASE_HEADERS only. */
void endpoint_enter_phase(struct conn *conn, enum conn_phase phase, double now_s);
void endpoint_suspend(struct conn *conn, struct MHD_Connection *connection);
void endpoint_resume(struct conn *conn, struct MHD_Connection *connection);
/* Runs work(context) on libuv's thread pool, then done(context) on the endpoint's thread. work must
 * take only a few milliseconds, because uploads use the same pool. Fails with STATUS_NO_MEMORY. */
MUST_CHECK enum status endpoint_work(struct endpoint *endpoint, void (*work)(void *context),
                                     void (*done)(void *context), void *context);
/* Suspends the connection and resumes it once compute(context, end_s) returns true. Connections
 * take turns, so compute must return soon after the time end_s (clock_monotonic_s()). The answer is
 * cancelled when the client disconnects or the endpoint stops. Call from libmicrohttpd's callbacks
 * only. */
void endpoint_compute(struct conn *conn, struct MHD_Connection *connection,
                      bool (*compute)(void *context, double end_s), void *context);
