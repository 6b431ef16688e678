#include "server/http/gate.h"

#include "server/http/strictness.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Header memory and read buffer of a connection; a connection that has asked once holds all of it,
 * and larger buffers make uploads slower. Longer
 * headers, a Content-Length that is no number, broken chunks and a version from 2.0 on are refused
 * by libmicrohttpd itself, with 431, 414, 400 or 505 and a line of HTML: it has no way to have it
 * said in other words. */
#define CONNECTION_MEMORY_BYTES (13 << 10)

/* How long a thread without connections leaves new ones be when there is no descriptor for them. */
#define STARVED_PAUSE_MS 100

/* Of this thread. */
static _Thread_local unsigned connection_count;
static _Thread_local bool is_starved; /* the last one could not be accepted, for want of anything */

/* Escapes are decoded once, by the query and the router. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void log_words(void *context, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Mostly about clients that left or sent nonsense. */
static void log_words(void *context, const char *format, va_list arguments)
{
    char words[256];

    (void)context;
    vsnprintf(words, sizeof words, format, arguments);
    words[strcspn(words, "\n")] = '\0';
    log_write(LOG_DEBUG, "libmicrohttpd", LOG_TEXT("detail", words));
}

/* libmicrohttpd gives this callback of GnuTLS no context: there is one server in a process. */
static _Atomic(struct credentials *) shown_credentials;

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
    credentials_show(atomic_load(&shown_credentials), ret_chain, ret_count, ret_key);
    return 0;
}

/* Those that only some daemons have; ends with the next free place. */
static size_t choose_options(const struct gate *gate, const struct gate_plan *plan,
                             struct MHD_OptionItem options[4])
{
    size_t count = 0;

    /* A pool of one is none. */
    if (plan->threads > 1) {
        options[count++] =
            (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)plan->threads, NULL};
    }
    if (gate->is_encrypted) {
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                                   (void *)(intptr_t)CREDENTIALS_PRIORITIES};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
                                                   (void *)(intptr_t)show_certificate};
    }
    return count;
}

static struct MHD_Daemon *start_daemon(struct gate *gate, const struct gate_plan *plan)
{
    const struct config *config = plan->config;
    const unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem options[4];

    options[choose_options(gate, plan, options)] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(
        gate->is_encrypted ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, plan->request_came, gate,
        MHD_OPTION_EXTERNAL_LOGGER, log_words, gate, MHD_OPTION_LISTEN_SOCKET,
        gate->listener.socket, MHD_OPTION_CONNECTION_LIMIT, plan->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, config->connection_timeout_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, strictness_of_parser(), MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escaped, gate, MHD_OPTION_URI_LOG_CALLBACK, plan->request_started, gate,
        MHD_OPTION_NOTIFY_COMPLETED, plan->request_ended, gate, MHD_OPTION_NOTIFY_CONNECTION,
        plan->connection_changed, gate, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* Beyond this machine nobody is let in by mistake, and no key goes in the clear. */
static enum status check_network(const struct gate *gate, const struct gate_plan *plan,
                                 struct problem *reterr)
{
    const enum config_network network = plan->config->network;
    const char *missing = NULL;

    if (gate->listener.is_local || network == NETWORK_OPEN) {
        return STATUS_OK;
    }
    if (!plan->has_keys) {
        missing = "keys (http.keys_file)";
    } else if (network == NETWORK_SECURE && !gate->is_encrypted) {
        missing = "TLS (http.tls_certificate, http.tls_key)";
    }
    if (missing == NULL) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_CONFIG, "Other machines reach %s, and it has no %s.",
                gate->listener.address, missing);
    problem_hint(reterr, "Give it that, or say that you mean it: http.network = %s.",
                 plan->has_keys ? "plain" : "open");
    return STATUS_CONFIG;
}

enum status gate_open(struct gate *gate, const struct gate_plan *plan, struct problem *reterr)
{
    gate->is_encrypted = plan->credentials != NULL && !gate->listener.is_unix;
    const enum status status = check_network(gate, plan, reterr);
    if (status != STATUS_OK) {
        listener_close(&gate->listener);
        return status;
    }
    const char *scheme = gate->is_encrypted ? "https://" : "http://";
    snprintf(gate->url, sizeof gate->url, "%s%s", gate->listener.is_unix ? "" : scheme,
             gate->listener.address);
    if (gate->is_encrypted) {
        atomic_store(&shown_credentials, plan->credentials);
    }
    gate->daemon = start_daemon(gate, plan);
    if (gate->daemon == NULL) {
        listener_close(&gate->listener);
        return problem_set(reterr, STATUS_CONFIG,
                           "The HTTP server does not start with %u threads and %u connections.",
                           plan->threads, plan->connections);
    }
    return STATUS_OK;
}

/* Stands in the place of the C library's for libmicrohttpd 0.9.75, of which two threads, the one
 * that quiesces and one that has just been woken, may take the same socket out of an epoll set. The
 * second would end the process when it is told ENOENT, or EBADF where the socket is closed by then.
 * What is not there need not be taken out. */
__attribute__((visibility("default"), used)) int epoll_ctl(int set, int operation, int descriptor,
                                                           struct epoll_event *event)
{
    const int failed = (int)syscall(SYS_epoll_ctl, set, operation, descriptor, event);
    const bool is_gone = errno == ENOENT || errno == EBADF;
    return failed != 0 && operation == EPOLL_CTL_DEL && is_gone ? 0 : failed;
}

void gate_count_connection(bool has_come)
{
    if (has_come) {
        connection_count++;
    } else if (connection_count > 0) { /* at the end another thread closes what is left */
        connection_count--;
    }
}

/* Likewise. A thread of libmicrohttpd that cannot accept, as there is no descriptor left, stops to
 * listen until one of its connections ends. One that has none would try again without a pause; no
 * event tells it when there is a descriptor, so the next epoll_wait tells it later that somebody
 * waits. */
__attribute__((visibility("default"), used)) int accept4(int listener, __SOCKADDR_ARG address,
                                                         socklen_t *size, int flags)
{
    const int accepted = (int)syscall(SYS_accept4, listener, address.__sockaddr__, size, flags);

    is_starved =
        accepted < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    return accepted;
}

/* Likewise. As many events as were asked for, and libmicrohttpd 0.9.75 waits for more before it
 * looks at those: for as long as nothing else happens, when all clients wait for just those. So
 * after a full answer the next of the same set is what is there already. */
__attribute__((visibility("default"), used)) int epoll_wait(int set, struct epoll_event *events,
                                                            int count, int timeout_ms)
{
    static _Thread_local int full_set = -1;

    if (is_starved && connection_count == 0) {
        (void)poll(NULL, 0, STARVED_PAUSE_MS);
    }
    is_starved = false;
    const int found = (int)syscall(SYS_epoll_pwait, set, events, count,
                                   set == full_set ? 0 : timeout_ms, NULL, (size_t)0);

    full_set = found == count ? set : -1;
    return found;
}

void gate_quiesce(struct gate *gate)
{
    if (gate->daemon != NULL) {
        MHD_quiesce_daemon(gate->daemon);
        listener_close(&gate->listener);
    }
}

void gate_stop(struct gate *gate)
{
    if (gate->daemon != NULL) {
        MHD_stop_daemon(gate->daemon);
    }
    gate->daemon = NULL;
}
