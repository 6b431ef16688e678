/* An endpoint: one HTTP thread with its libuv loop and one daemon of libmicrohttpd, which has no
 * thread and no listening socket of its own. The loop watches the listener and the daemon's epoll
 * descriptor, accepts, limits connections, judges deadlines and resumes suspended requests: all
 * that touches a connection happens on this thread, by documented calls of libmicrohttpd.
 * shutdown() and the kernel's counters are all that is asked of a socket besides.
 *
 * Created, told to stop and destroyed by the thread of the service; other threads only post. */
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

/* Header memory and read buffer of a connection; a connection that has asked once holds all of it,
 * and larger buffers make uploads slower. */
#define ENDPOINT_CONNECTION_BYTES ((size_t)24 << 10)

struct endpoint;

/* A connection, for as long as libmicrohttpd has it. */
struct conn {
    TAILQ_ENTRY(conn) place;
    struct endpoint *endpoint;
    int descriptor;
    enum conn_verdict verdict;
    uint32_t address; /* counter of conn_limits.h */
    bool is_suspended;
    bool is_last; /* the connection ends with the answer under way */
    /* While its answer is computed: */
    TAILQ_ENTRY(conn) turn;
    struct MHD_Connection *connection;
    bool (*compute)(void *context, double end_s); /* NULL: it is not */
    void *compute_context;
    bool is_abandoned; /* its answer was ended while it was computed: the connection ends */
    struct deadlines deadlines;
    struct request *request; /* the request under way; NULL between two; of the callbacks */
};

/* A listener that several endpoints accept from; the last that leaves closes it. */
struct shared_listener {
    struct listener listener;
    atomic_uint users;
};

struct endpoint_rules {
    const struct config *config;
    struct credentials *credentials; /* NULL: no TLS */
    struct conn_limits *limits;
    uint32_t connections; /* at most; further ones are closed at once */
    void *context;        /* endpoint_context() */
    /* Callbacks of libmicrohttpd with the endpoint as their context, on its thread. */
    MHD_AccessHandlerCallback request_came;
    void *(*request_started)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback request_ended;
    /* The client of a suspended connection has left. */
    void (*client_left)(struct conn *conn);
    void (*conn_closed)(struct conn *conn);
};

/* Answers at once. Does not take the listener when it fails. */
MUST_CHECK enum status endpoint_create(const struct endpoint_rules *rules, unsigned number,
                                       struct shared_listener *listener,
                                       struct endpoint **ret_endpoint);
/* From any thread: it is delivered on the endpoint's. */
void endpoint_post(struct endpoint *endpoint, struct message *message);
/* No new connections; open ones are answered. */
void endpoint_quiesce(struct endpoint *endpoint);
/* Whether its thread knows of the quiesce, and what it posted before is posted. */
bool endpoint_is_quiesced(const struct endpoint *endpoint);
/* Also ends the thread, once all requests under way are answered or the grace period is over; then
 * closes the connections. No further post may come; two calls, so that several end at once. NULL is
 * accepted. */
void endpoint_stop(struct endpoint *endpoint);
void endpoint_destroy(struct endpoint *endpoint);

/* Whether libmicrohttpd is told to parse leniently. Version 0.9 is: guard.c sees all that it lets
 * pass, and refuses it in our words. From 1.0 on the daemon refuses by itself what it would else
 * make the best of: folded lines, tabs and bare LFs as delimiters, a blank in the target. */
bool endpoint_parses_leniently(void);

/* ---- On the endpoint's thread ---- */

void *endpoint_context(const struct endpoint *endpoint);
struct conn *endpoint_conn(struct MHD_Connection *connection);
/* The phase of a connection; now_s by clock_monotonic_s(), of PHASE_HEADERS only. */
void endpoint_enter_phase(struct conn *conn, enum conn_phase phase, double now_s);
void endpoint_suspend(struct conn *conn, struct MHD_Connection *connection);
void endpoint_resume(struct conn *conn, struct MHD_Connection *connection);
/* Has a thread of libuv's pool call work(context), then the endpoint's thread done(context). A call
 * takes no longer than a turn. STATUS_NO_MEMORY. */
MUST_CHECK enum status endpoint_work(struct endpoint *endpoint, void (*work)(void *context),
                                     void (*done)(void *context), void *context);
/* Suspends the connection, which goes on once compute(context) has returned true. compute is called
 * in turn with that of other connections, and returns soon after end_s (clock_monotonic_s()). The
 * answer is abandoned when its client leaves or the endpoint stops. From callbacks of
 * libmicrohttpd.
 */
void endpoint_compute(struct conn *conn, struct MHD_Connection *connection,
                      bool (*compute)(void *context, double end_s), void *context);
