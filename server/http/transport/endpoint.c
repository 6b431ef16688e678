#include "server/http/transport/endpoint.h"

#include "server/clock.h"
#include "server/metrics.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* Interval of the deadline checks. A late connection is closed at the next check. */
#define TICK_MS 250
#define TICK_S (TICK_MS * 1e-3)
/* If two checks are this far apart, a request kept the thread busy, and clients are not charged. */
#define BUSY_S 2.0
/* Maximum number of connections accepted per turn of the loop: few enough that other threads accept
 * connections too, and enough that the last of 4,000 simultaneous clients waits less than a
 * second. */
#define ACCEPTS_PER_TURN 32
/* Limits on evicting an idle connection: the connections examined, and the minimum idle time. */
#define EVICTION_LOOKS 1024
#define EVICTION_IDLE_S 1.0
/* Time after endpoint_stop until connections with unfinished requests are closed. */
#define STOP_GRACE_S 5.0
/* Maximum time per turn of the loop for computing answers. All other connections wait meanwhile, so
 * this limit bounds their delay, however many answers are being computed. */
#define TURN_S 5e-3

/* The stage that the service's thread has requested. */
enum endpoint_stage { ENDPOINT_SERVES, ENDPOINT_QUIESCES, ENDPOINT_STOPS };

struct endpoint {
    struct endpoint_rules rules;
    struct shared_listener *listener; /* NULL: the endpoint accepts no more connections */
    struct MHD_Daemon *daemon;
    struct mailbox *mailbox;
    pthread_t thread;
    char name[16];
    uv_loop_t loop;
    uv_poll_t accepting;  /* polls the listener's socket */
    uv_poll_t daemon_set; /* polls the daemon's epoll descriptor */
    uv_async_t posted;
    uv_timer_t tick; /* runs while there are connections or accepting is paused */
    uv_idle_t again; /* runs while there is work that no descriptor signals */
    TAILQ_HEAD(, conn) conns;
    TAILQ_HEAD(, conn) computing; /* suspended connections, in the order of their turns */
    struct conn *arriving;        /* connection being added by MHD_add_connection */
    uint32_t busy;                /* number of connections with a request in progress */
    bool is_starved;              /* accepting is paused for lack of descriptors or memory */
    double ticked_s;
    double lost_s;          /* time that the thread was busy, not charged to clients */
    double stop_s;          /* end of the grace period; 0 before the stop */
    atomic_int asked_stage; /* enum endpoint_stage */
    atomic_bool is_quiesced;
};

/* Leaves percent escapes unchanged, because the router and the query decode them. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* Logs messages of libmicrohttpd, mostly about clients that disconnected or sent garbage. */
__attribute__((format(printf, 2, 0))) static void log_words(void *context, const char *format,
                                                            va_list arguments)
{
    char words[256];
    (void)context;
    vsnprintf(words, sizeof(words), format, arguments);
    words[strcspn(words, "\n")] = '\0';
    log_write(LOG_DEBUG, "libmicrohttpd", LOG_TEXT("detail", words));
}

static int show_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                            int authority_count, const gnutls_pk_algorithm_t *algorithms,
                            int algorithm_count, gnutls_pcert_st **ret_chain, unsigned *ret_count,
                            gnutls_privkey_t *ret_key)
{
    (void)session;
    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    tls_show(ret_chain, ret_count, ret_key);
    return 0;
}

static void release_conn(struct endpoint *endpoint, struct conn *conn)
{
    conn_limits_leave(endpoint->rules.limits, conn->address);
    free(conn);
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct endpoint *endpoint = context;
    struct conn *conn = *socket_context;
    (void)connection;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = endpoint->arriving;
        TAILQ_INSERT_TAIL(&endpoint->conns, endpoint->arriving, place);
        endpoint->arriving = NULL;
        metrics_add(METRIC_CONNECTIONS, 1);
        return;
    }
    *socket_context = NULL;
    TAILQ_REMOVE(&endpoint->conns, conn, place);
    endpoint->rules.conn_closed(conn->request);
    endpoint_enter_phase(conn, PHASE_HEADERS, 0);
    release_conn(endpoint, conn);
    metrics_add(METRIC_CONNECTIONS, -1);
}

static struct MHD_Daemon *start_daemon(struct endpoint *endpoint)
{
    const struct endpoint_rules *rules = &endpoint->rules;
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_ERROR_LOG | (rules->is_encrypted ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(intptr_t)TLS_PRIORITIES},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)show_certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    /* MHD_OPTION_SIGPIPE_HANDLED_BY_APP: libmicrohttpd uses sendfile() only with this option. */
    return MHD_start_daemon(
        flags, 0, NULL, NULL, rules->request_came, rules->context, MHD_OPTION_EXTERNAL_LOGGER,
        log_words, endpoint, MHD_OPTION_CONNECTION_LIMIT,
        rules->limits->connections + rules->limits->refused_connections,
        MHD_OPTION_CONNECTION_TIMEOUT, rules->config->connection_timeout_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, ENDPOINT_CONNECTION_BYTES,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_STRICT_FOR_CLIENT,
        endpoint_parses_leniently() ? 0 : 1, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, endpoint,
        MHD_OPTION_URI_LOG_CALLBACK, rules->request_started, rules->context,
        MHD_OPTION_NOTIFY_COMPLETED, rules->request_ended, rules->context,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, endpoint, MHD_OPTION_ARRAY,
        rules->is_encrypted ? tls : &tls[2], MHD_OPTION_END);
}

static void run_again(uv_idle_t *idle);

/* Runs the daemon. The tick checks the daemon's own timeouts. */
static void run_daemon(struct endpoint *endpoint)
{
    MHD_UNSIGNED_LONG_LONG left_ms;
    MHD_run(endpoint->daemon);
    if (!TAILQ_EMPTY(&endpoint->computing) ||
        (MHD_get_timeout(endpoint->daemon, &left_ms) == MHD_YES && left_ms == 0)) {
        uv_idle_start(&endpoint->again, run_again);
    } else {
        uv_idle_stop(&endpoint->again);
    }
}

static void end_computing(struct conn *conn)
{
    TAILQ_REMOVE(&conn->endpoint->computing, conn, turn);
    conn->compute = NULL;
    metrics_add(METRIC_COMPUTING, -1);
    endpoint_resume(conn, conn->connection);
}

/* Computes answers in turn for at most TURN_S seconds. */
static void compute_answers(struct endpoint *endpoint)
{
    const double end_s = clock_monotonic_s() + TURN_S;
    struct conn *conn;
    while ((conn = TAILQ_FIRST(&endpoint->computing)) != NULL && clock_monotonic_s() < end_s) {
        if (conn->compute(conn->compute_context, end_s)) {
            end_computing(conn);
        } else {
            TAILQ_REMOVE(&endpoint->computing, conn, turn);
            TAILQ_INSERT_TAIL(&endpoint->computing, conn, turn);
        }
    }
}

static void run_again(uv_idle_t *idle)
{
    compute_answers(idle->data);
    run_daemon(idle->data);
}

static void daemon_is_ready(uv_poll_t *poll, int failed, int events)
{
    (void)failed;
    (void)events;
    run_daemon(poll->data);
}

static void check_deadlines(uv_timer_t *timer);

static void start_ticking(struct endpoint *endpoint)
{
    if (!uv_is_active((const uv_handle_t *)&endpoint->tick)) {
        endpoint->ticked_s = clock_monotonic_s();
        uv_timer_start(&endpoint->tick, check_deadlines, TICK_MS, TICK_MS);
    }
}

/* Shuts the connection down; libmicrohttpd detects this and closes the socket. SO_LINGER with zero
 * seconds makes the kernel discard unsent bytes on close instead of keeping them for minutes. */
static void end_connection(const struct conn *conn)
{
    const struct linger none = {.l_onoff = 1};
    if (deadlines_is_sending(conn->descriptor)) {
        (void)!setsockopt(conn->descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    }
    shutdown(conn->descriptor, SHUT_RDWR);
}

/* Cancels an answer that is being computed, because the client left or the endpoint stops. */
static void abandon_answer(struct conn *conn)
{
    conn->is_abandoned = true;
    end_connection(conn);
    end_computing(conn);
}

static void stop_if_idle(struct endpoint *endpoint);
static void accept_connections(uv_poll_t *poll, int failed, int events);

static void check_deadlines(uv_timer_t *timer)
{
    struct endpoint *endpoint = timer->data;
    const double now_s = clock_monotonic_s();
    const double passed_s = now_s - endpoint->ticked_s;
    struct conn *conn;
    endpoint->lost_s += passed_s > BUSY_S ? passed_s - TICK_S : 0;
    endpoint->ticked_s = now_s;
    TAILQ_FOREACH(conn, &endpoint->conns, place)
    {
        if (conn->is_suspended) {
            if (deadlines_peer_has_left(conn->descriptor)) {
                conn->compute != NULL ? abandon_answer(conn)
                                      : endpoint->rules.client_left(conn->request);
            }
            continue;
        }
        if (deadlines_are_missed(&conn->deadlines, endpoint->rules.config, conn->descriptor,
                                 now_s - endpoint->lost_s)) {
            end_connection(conn);
        }
    }
    run_daemon(endpoint);
    if (endpoint->is_starved && endpoint->listener != NULL) {
        endpoint->is_starved = false;
        uv_poll_start(&endpoint->accepting, UV_READABLE, accept_connections);
    } else if (TAILQ_EMPTY(&endpoint->conns) && endpoint->stop_s == 0) {
        uv_timer_stop(&endpoint->tick);
    }
    stop_if_idle(endpoint);
}

/* Closes the longest idle of the EVICTION_LOOKS oldest connections; false if none is idle. */
static bool evict_idle(struct endpoint *endpoint)
{
    double since_s = clock_monotonic_s() - endpoint->lost_s - EVICTION_IDLE_S;
    struct conn *oldest = NULL;
    struct conn *conn;
    unsigned looks = 0;
    TAILQ_FOREACH(conn, &endpoint->conns, place)
    {
        if (looks++ == EVICTION_LOOKS) {
            break;
        }
        if (conn->deadlines.phase == PHASE_HEADERS && conn->deadlines.since_s <= since_s) {
            oldest = conn;
            since_s = conn->deadlines.since_s;
        }
    }
    if (oldest == NULL) {
        return false;
    }
    end_connection(oldest);
    oldest->deadlines.since_s = INFINITY; /* so that it is not chosen again */
    return true;
}

/* Adds an accepted connection to the daemon. Takes ownership of the descriptor. */
static void admit_connection(struct endpoint *endpoint, int descriptor,
                             const struct sockaddr *address, socklen_t size)
{
    struct conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL) {
        close(descriptor);
        return;
    }
    conn->endpoint = endpoint;
    conn->descriptor = descriptor;
    conn->verdict = conn_limits_enter(endpoint->rules.limits, address, &conn->address);
    if (conn->verdict == CONN_OVERFLOW) {
        close(descriptor);
        release_conn(endpoint, conn);
        return;
    }
    if (conn->verdict == CONN_FULL && evict_idle(endpoint)) {
        conn->verdict = CONN_OK;
    }
    start_ticking(endpoint);
    deadlines_start_phase(&conn->deadlines, PHASE_HEADERS, clock_monotonic_s() - endpoint->lost_s);
    endpoint->arriving = conn;
    /* MHD_add_connection closes the socket when it fails. Version 1.0 may only queue the
     * connection, and calls connection_changed in its next run. */
    if (MHD_add_connection(endpoint->daemon, descriptor, address, size) == MHD_YES &&
        endpoint->arriving != NULL) {
        MHD_run(endpoint->daemon);
    }
    if (endpoint->arriving != NULL) {
        endpoint->arriving = NULL;
        release_conn(endpoint, conn);
    }
}

static void accept_connections(uv_poll_t *poll, int failed, int events)
{
    struct endpoint *endpoint = poll->data;
    union {
        struct sockaddr any;
        struct sockaddr_storage storage;
    } address;
    (void)events;
    for (int i = 0; failed == 0 && i < ACCEPTS_PER_TURN; i++) {
        socklen_t size = sizeof(address);
        const int descriptor = accept4(endpoint->listener->listener.socket, &address.any, &size,
                                       SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor >= 0) {
            admit_connection(endpoint, descriptor, &address.any, size);
            continue;
        }
        /* Stop polling, because a connection that cannot be accepted would keep waking the loop. */
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            uv_poll_stop(poll);
            endpoint->is_starved = true;
            start_ticking(endpoint);
        }
        return;
    }
}

static void listener_left(uv_handle_t *handle)
{
    struct shared_listener *shared = handle->data;
    if (atomic_fetch_sub(&shared->users, 1) == 1) {
        listener_close(&shared->listener);
    }
}

static void stop_accepting(struct endpoint *endpoint)
{
    if (endpoint->listener != NULL) {
        endpoint->accepting.data = endpoint->listener;
        endpoint->listener = NULL;
        uv_close((uv_handle_t *)&endpoint->accepting, listener_left);
    }
}

static void deliver_messages(uv_async_t *async)
{
    struct endpoint *endpoint = async->data;
    struct message *message;
    while ((message = mailbox_pop(endpoint->mailbox)) != NULL) {
        message->deliver(message);
    }
    const int asked = atomic_load(&endpoint->asked_stage);
    if (asked != ENDPOINT_SERVES) {
        stop_accepting(endpoint);
        atomic_store(&endpoint->is_quiesced, true);
    }
    if (asked == ENDPOINT_STOPS && endpoint->stop_s == 0) {
        endpoint->stop_s = clock_monotonic_s() + STOP_GRACE_S;
        start_ticking(endpoint);
    }
    run_daemon(endpoint);
    stop_if_idle(endpoint);
}

static void close_handles(struct endpoint *endpoint)
{
    while (!TAILQ_EMPTY(&endpoint->computing)) {
        abandon_answer(TAILQ_FIRST(&endpoint->computing));
    }
    stop_accepting(endpoint);
    uv_close((uv_handle_t *)&endpoint->daemon_set, NULL);
    uv_close((uv_handle_t *)&endpoint->posted, NULL);
    uv_close((uv_handle_t *)&endpoint->tick, NULL);
    uv_close((uv_handle_t *)&endpoint->again, NULL);
}

static void stop_if_idle(struct endpoint *endpoint)
{
    if (endpoint->stop_s > 0 && !uv_is_closing((const uv_handle_t *)&endpoint->posted) &&
        (endpoint->busy == 0 || clock_monotonic_s() >= endpoint->stop_s)) {
        close_handles(endpoint);
    }
}

static void *run_loop(void *context)
{
    struct endpoint *endpoint = context;
    pthread_setname_np(pthread_self(), endpoint->name);
    uv_run(&endpoint->loop, UV_RUN_DEFAULT);
    MHD_stop_daemon(endpoint->daemon);
    return NULL;
}

static void wake_loop(void *context)
{
    struct endpoint *endpoint = context;
    uv_async_send(&endpoint->posted);
}

/* Initialises the handles of the loop, which close_handles closes. */
static enum status open_handles(struct endpoint *endpoint)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(endpoint->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    const int listening = endpoint->listener->listener.socket;
    uv_loop_t *loop = &endpoint->loop;
    if (info == NULL || uv_async_init(loop, &endpoint->posted, deliver_messages) != 0) {
        return STATUS_NO_MEMORY;
    }
    CHECK(uv_timer_init(loop, &endpoint->tick) == 0 && uv_idle_init(loop, &endpoint->again) == 0);
    CHECK(uv_poll_init(loop, &endpoint->daemon_set, info->epoll_fd) == 0);
    CHECK(uv_poll_init(loop, &endpoint->accepting, listening) == 0);
    endpoint->posted.data = endpoint->tick.data = endpoint->again.data = endpoint;
    endpoint->daemon_set.data = endpoint->accepting.data = endpoint;
    CHECK(uv_poll_start(&endpoint->daemon_set, UV_READABLE, daemon_is_ready) == 0);
    CHECK(uv_poll_start(&endpoint->accepting, UV_READABLE, accept_connections) == 0);
    return STATUS_OK;
}

enum status endpoint_create(const struct endpoint_rules *rules, unsigned number,
                            struct shared_listener *listener, struct endpoint **ret_endpoint)
{
    struct endpoint *endpoint = calloc(1, sizeof(*endpoint));
    if (endpoint == NULL || uv_loop_init(&endpoint->loop) != 0) {
        free(endpoint);
        return STATUS_NO_MEMORY;
    }
    TAILQ_INIT(&endpoint->conns);
    TAILQ_INIT(&endpoint->computing);
    endpoint->rules = *rules;
    endpoint->listener = listener;
    snprintf(endpoint->name, sizeof(endpoint->name), "http-%u", number);
    endpoint->daemon = start_daemon(endpoint);
    if (endpoint->daemon != NULL &&
        mailbox_create(wake_loop, endpoint, &endpoint->mailbox) == STATUS_OK &&
        open_handles(endpoint) == STATUS_OK) {
        atomic_fetch_add(&listener->users, 1);
        if (pthread_create(&endpoint->thread, NULL, run_loop, endpoint) == 0) {
            *ret_endpoint = endpoint;
            return STATUS_OK;
        }
        /* This does not close the listener, because the caller counts as a user of it. */
        close_handles(endpoint);
        uv_run(&endpoint->loop, UV_RUN_DEFAULT);
    }
    if (endpoint->daemon != NULL) {
        MHD_stop_daemon(endpoint->daemon);
    }
    CHECK(uv_loop_close(&endpoint->loop) == 0);
    mailbox_destroy(endpoint->mailbox);
    free(endpoint);
    return STATUS_NO_MEMORY;
}

void endpoint_post(struct endpoint *endpoint, struct message *message)
{
    mailbox_post(endpoint->mailbox, message);
}

void endpoint_quiesce(struct endpoint *endpoint)
{
    atomic_store(&endpoint->asked_stage, ENDPOINT_QUIESCES);
    wake_loop(endpoint);
}

void endpoint_stop(struct endpoint *endpoint)
{
    atomic_store(&endpoint->asked_stage, ENDPOINT_STOPS);
    wake_loop(endpoint);
}

void endpoint_destroy(struct endpoint *endpoint)
{
    pthread_join(endpoint->thread, NULL);
    CHECK(uv_loop_close(&endpoint->loop) == 0);
    mailbox_destroy(endpoint->mailbox);
    free(endpoint);
}

/* ---- Functions called by requests ---- */

bool endpoint_parses_leniently(void)
{
    return strncmp(MHD_get_version(), "0.9.", 4) == 0;
}

bool endpoint_is_quiesced(const struct endpoint *endpoint)
{
    return atomic_load(&endpoint->is_quiesced);
}

struct conn *endpoint_conn(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void endpoint_enter_phase(struct conn *conn, enum conn_phase phase, double now_s)
{
    struct endpoint *endpoint = conn->endpoint;
    endpoint->busy -= conn->deadlines.phase != PHASE_HEADERS;
    endpoint->busy += phase != PHASE_HEADERS;
    deadlines_start_phase(&conn->deadlines, phase, now_s - endpoint->lost_s);
}

void endpoint_suspend(struct conn *conn, struct MHD_Connection *connection)
{
    conn->is_suspended = true;
    MHD_suspend_connection(connection);
}

void endpoint_resume(struct conn *conn, struct MHD_Connection *connection)
{
    conn->is_suspended = false;
    conn->deadlines.checked_s = -1; /* the time of the suspension is not charged to the client */
    MHD_resume_connection(connection);
}

void endpoint_compute(struct conn *conn, struct MHD_Connection *connection,
                      bool (*compute)(void *context, double end_s), void *context)
{
    struct endpoint *endpoint = conn->endpoint;
    conn->connection = connection;
    conn->compute = compute;
    conn->compute_context = context;
    metrics_add(METRIC_COMPUTING, 1);
    TAILQ_INSERT_TAIL(&endpoint->computing, conn, turn);
    endpoint_suspend(conn, connection);
    uv_idle_start(&endpoint->again, run_again);
}

struct pool_work {
    uv_work_t request;
    void (*work)(void *context);
    void (*done)(void *context);
    void *context;
};

static void run_work(uv_work_t *request)
{
    struct pool_work *work = request->data;
    work->work(work->context);
}

static void end_work(uv_work_t *request, int status)
{
    struct pool_work *work = request->data;
    (void)status;
    work->done(work->context);
    free(work);
}

enum status endpoint_work(struct endpoint *endpoint, void (*work)(void *context),
                          void (*done)(void *context), void *context)
{
    struct pool_work *queued = malloc(sizeof(*queued));
    if (queued == NULL) {
        return STATUS_NO_MEMORY;
    }
    *queued = (struct pool_work){{.data = queued}, work, done, context};
    CHECK(uv_queue_work(&endpoint->loop, &queued->request, run_work, end_work) == 0);
    return STATUS_OK;
}
