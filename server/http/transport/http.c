#include "server/http/transport/http.h"

#include "server/clock.h"
#include "server/http/request/body.h"
#include "server/http/request/lifecycle.h"
#include "server/http/request/request.h"
#include "server/http/transport/endpoint.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* So many connections beyond connection_limit are accepted, to be answered with a refusal. */
#define REFUSED_CONNECTIONS(limit) ((limit) / 8 + 64)
/* The admin listener has a limit of its own, so that clients of the main one cannot fill it. */
#define ADMIN_CONNECTION_LIMIT 64
/* A thread keeps the memory of so many requests for the next ones: it is kilobytes each, and a
 * connection has it only from its request line to the end of the answer. */
#define SPARE_REQUESTS 64
#define URL_SIZE 192

/* An address that is listened on. */
struct http_listener {
    struct http *http;
    struct shared_listener shared;
    unsigned doors; /* which routes are answered here */
    bool is_encrypted;
    char url[URL_SIZE]; /* "http://HOST:PORT" with the port really taken, "unix:PATH"; or empty */
};

/* An HTTP thread. */
struct http_thread {
    struct http_listener *listener;
    struct endpoint *endpoint;
    struct request *spares[SPARE_REQUESTS];
    size_t spare_count;
};

struct http {
    struct http_context http_context;
    struct http_listener main;
    struct http_listener admin;
    struct upload_memory upload_memory;
    struct credentials *credentials; /* NULL: no TLS */
    size_t thread_count;             /* that run */
    struct http_thread *threads;
};

/* ---- Callbacks of libmicrohttpd, on the thread of the endpoint ---- */

static struct request *take_request(struct http_thread *thread)
{
    struct request *request;

    if (thread->spare_count > 0) {
        return thread->spares[--thread->spare_count];
    }
    request = malloc(sizeof(*request));
    if (request != NULL) {
        request_open(request, &thread->listener->http->http_context);
    }
    return request;
}

static void give_request_back(struct http_thread *thread, struct request *request)
{
    if (thread->spare_count < SPARE_REQUESTS) {
        thread->spares[thread->spare_count++] = request;
        return;
    }
    request_close(request);
    free(request);
}

/* Without memory the request is refused, by the end of the connection. */
static void *request_started(void *context, const char *target, struct MHD_Connection *connection)
{
    struct http_thread *thread = endpoint_context(context);
    struct conn *conn = endpoint_conn(connection);
    struct request *request = take_request(thread);

    if (request == NULL) {
        return NULL;
    }
    if (request_init(request, &thread->listener->http->http_context, connection,
                     target == NULL ? "" : target) != STATUS_OK) {
        give_request_back(thread, request);
        return NULL;
    }
    request->doors = thread->listener->doors;
    request->is_unix = thread->listener->shared.listener.is_unix;
    request->conn = conn;
    request->address_counter = conn->address;
    conn->request = request;
    return request;
}

static enum MHD_Result begin(struct request *request, const struct guard_request *line)
{
    struct conn *conn = request->conn;

    endpoint_enter_phase(conn, PHASE_HANDLER, 0);
    if (conn->verdict != LIMITS_OK) {
        request_turn_away(request, conn->verdict);
    } else {
        request_begin(request, line);
    }
    if (request->answered) {
        endpoint_enter_phase(conn, PHASE_ANSWER, 0);
    } else if (request->closing) {
        endpoint_enter_phase(conn, PHASE_BODY, 0);
    }
    return request->outcome;
}

static enum MHD_Result request_came(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload_data, size_t *upload_data_size,
                                    void **request_context)
{
    struct request *request = *request_context;

    (void)context;
    (void)connection;
    if (request == NULL) {
        return MHD_NO;
    }
    request->outcome = MHD_YES;
    if (!request->begun) {
        const struct guard_request line = {.method = method, .version = version, .url = url};
        return begin(request, &line);
    }
    if (*upload_data_size > 0) {
        size_t size = *upload_data_size;

        *upload_data_size = 0;
        request->conn->deadlines.received += size;
        return body_feed(request, upload_data, size);
    }
    if (request->answered_early) {
        return MHD_NO; /* the connection ends with an early refusal */
    }
    if (!request->answered) {
        endpoint_enter_phase(request->conn, PHASE_HANDLER, 0); /* a body is here */
        request_go_on(request);
    }
    if (request->answered) {
        endpoint_enter_phase(request->conn, PHASE_ANSWER, 0);
    }
    return request->outcome;
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request_context,
                          enum MHD_RequestTerminationCode reason)
{
    struct request *request = *request_context;
    const double now_s = clock_monotonic_s();

    (void)connection;
    (void)reason;
    *request_context = NULL;
    /* Without one, for want of memory, the connection ends with the request. */
    if (request != NULL) {
        struct conn *conn = request->conn;

        request_account(request, now_s);
        request_finish(request);
        conn->request = NULL;
        endpoint_enter_phase(conn, PHASE_HEADERS, now_s);
        give_request_back(endpoint_context(context), request);
    }
}

/* Frees a request whose headers never ended: libmicrohttpd reports its end in no other way. */
static void conn_closed(struct conn *conn)
{
    if (conn->request != NULL) {
        request_finish(conn->request);
        give_request_back(endpoint_context(conn->endpoint), conn->request);
    }
}

static void client_left(struct conn *conn)
{
    request_client_left(conn->request);
}

/* ---- Life ---- */

static void destroy(struct http *http)
{
    listener_close(&http->main.shared.listener);
    listener_close(&http->admin.shared.listener);
    free(http->threads);
    limits_destroy(http->http_context.limits);
    adjacency_cache_destroy(http->http_context.adjacencies);
    auth_destroy(http->http_context.keyring);
    tls_destroy(http->credentials);
    free(http);
}

static bool is_given(const char *text)
{
    return strcmp(text, CONFIG_NONE) != 0;
}

static enum status make_tenant(void *context, const char *name, struct tenant **ret_tenant)
{
    return scheduler_tenant(context, name, ret_tenant);
}

static enum status open_secrets(struct http *http, struct problem *reterr)
{
    const struct config *config = http->http_context.config;
    enum status status = STATUS_OK;

    if (is_given(config->tls_certificate) != is_given(config->tls_key)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "http.tls_certificate and http.tls_key belong together.");
    }
    if (is_given(config->keys_file)) {
        status =
            auth_create(make_tenant, http->http_context.scheduler, &http->http_context.keyring);
    }
    if (status == STATUS_OK && is_given(config->tls_certificate)) {
        status = tls_create(&http->credentials);
    }
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "There is no memory for the HTTP server.");
    }
    status = http_load_keys(http, reterr);
    return status == STATUS_OK ? http_load_certificate(http, reterr) : status;
}

static enum status fill(const struct http_parts *parts, struct http *http, struct problem *reterr)
{
    const struct config *config = parts->config;
    const struct limits_rules rules = {
        .connections = config->connection_limit,
        .refused_connections = REFUSED_CONNECTIONS(config->connection_limit),
        .of_address = config->address_limit,
        .failed_logins = config->wrong_key_limit,
    };

    capacity_init_uploads(&http->upload_memory, parts->upload_memory_bytes);
    http->http_context.config = config;
    http->http_context.upload_memory = &http->upload_memory;
    http->http_context.scheduler = parts->scheduler;
    http->http_context.results = parts->results;
    http->http_context.store = parts->store;
    http->threads = calloc(config->http_threads + 1, sizeof(*http->threads));
    if (http->threads == NULL ||
        getrandom(&http->http_context.id_seed, sizeof(http->http_context.id_seed), 0) < 0 ||
        limits_create(&rules, &http->http_context.limits) != STATUS_OK ||
        adjacency_cache_create(store_graph_folder(parts->store), config->path_budget_bytes,
                               &http->http_context.adjacencies) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    return open_secrets(http, reterr);
}

/* Beyond this machine nobody is let in by mistake, and no key goes in the clear. */
static enum status check_network(const struct http_listener *listener, struct problem *reterr)
{
    const enum config_network network = listener->http->http_context.config->network;
    const bool has_keys = listener->http->http_context.keyring != NULL;
    const char *missing = NULL;

    if (listener->shared.listener.is_local || network == NETWORK_OPEN) {
        return STATUS_OK;
    }
    if (!has_keys) {
        missing = "keys (http.keys_file)";
    } else if (network == NETWORK_SECURE && !listener->is_encrypted) {
        missing = "TLS (http.tls_certificate, http.tls_key)";
    }
    if (missing == NULL) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_CONFIG, "Other machines reach %s, and it has no %s.",
                listener->shared.listener.address, missing);
    problem_hint(reterr, "Give it that, or say that you mean it: http.network = %s.",
                 has_keys ? "plain" : "open");
    return STATUS_CONFIG;
}

/* Starts so many threads on it. */
static enum status serve(struct http_listener *listener, unsigned threads, struct limits *limits,
                         uint32_t connections, struct problem *reterr)
{
    struct http *http = listener->http;
    const struct listener *socket = &listener->shared.listener;

    listener->is_encrypted = http->credentials != NULL && !socket->is_unix;
    enum status status = check_network(listener, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    const char *scheme = listener->is_encrypted ? "https://" : "http://";
    snprintf(listener->url, sizeof(listener->url), "%s%s", socket->is_unix ? "" : scheme,
             socket->address);
    atomic_store(&listener->shared.users, 1); /* this function */
    for (unsigned i = 0; status == STATUS_OK && i < threads; i++) {
        struct http_thread *thread = &http->threads[http->thread_count];
        const struct endpoint_rules rules = {
            .config = http->http_context.config,
            .credentials = listener->is_encrypted ? http->credentials : NULL,
            .limits = limits,
            .connections = connections,
            .context = thread,
            .request_came = request_came,
            .request_started = request_started,
            .request_ended = request_ended,
            .client_left = client_left,
            .conn_closed = conn_closed,
        };

        thread->listener = listener;
        status = endpoint_create(&rules, (unsigned)http->thread_count, &listener->shared,
                                 &thread->endpoint);
        if (status == STATUS_OK) {
            http->thread_count++;
        }
    }
    atomic_fetch_sub(&listener->shared.users, 1);
    return status == STATUS_OK
               ? status
               : problem_set(reterr, STATUS_CONFIG,
                             "The HTTP server does not start with %u threads and %u connections.",
                             threads, connections);
}

static enum status serve_all(struct http *http, struct problem *reterr)
{
    const struct config *config = http->http_context.config;
    const uint32_t limit = config->connection_limit;

    http->main.doors = DOOR_MAIN | DOOR_ONLY;
    http->admin.doors = DOOR_ADMIN;
    if (http->admin.shared.listener.socket >= 0) {
        http->main.doors = DOOR_MAIN;
        enum status status = serve(&http->admin, 1, NULL, ADMIN_CONNECTION_LIMIT, reterr);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return serve(&http->main, config->http_threads, http->http_context.limits,
                 limit + REFUSED_CONNECTIONS(limit), reterr);
}

/* Ends the threads. */
static void stop_threads(struct http *http)
{
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_stop(http->threads[i].endpoint);
    }
    for (size_t i = 0; i < http->thread_count; i++) {
        struct http_thread *thread = &http->threads[i];

        endpoint_destroy(thread->endpoint);
        while (thread->spare_count > 0) {
            struct request *spare = thread->spares[--thread->spare_count];

            request_close(spare);
            free(spare);
        }
    }
}

enum status http_start(const struct http_parts *parts, struct http **ret_http,
                       struct problem *reterr)
{
    struct http *http = calloc(1, sizeof(*http));
    enum status status;

    if (http == NULL) {
        struct listener listeners[] = {parts->listener, parts->admin_listener};

        listener_close(&listeners[0]);
        listener_close(&listeners[1]);
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    http->main.http = http->admin.http = http;
    http->main.shared.listener = parts->listener;
    http->admin.shared.listener = parts->admin_listener;
    status = fill(parts, http, reterr);
    if (status == STATUS_OK) {
        status = serve_all(http, reterr);
    }
    if (status != STATUS_OK) {
        stop_threads(http);
        destroy(http);
        return status;
    }
    *ret_http = http;
    return STATUS_OK;
}

const char *http_address(const struct http *http)
{
    return http->main.url;
}

const char *http_admin_address(const struct http *http)
{
    return http->admin.url;
}

enum status http_load_keys(struct http *http, struct problem *reterr)
{
    return http->http_context.keyring == NULL
               ? STATUS_OK
               : auth_load_keys(http->http_context.keyring, http->http_context.config->keys_file,
                                reterr);
}

enum status http_load_certificate(struct http *http, struct problem *reterr)
{
    const struct config *config = http->http_context.config;

    return http->credentials == NULL
               ? STATUS_OK
               : tls_load(http->credentials, config->tls_certificate, config->tls_key, reterr);
}

void http_quiesce(struct http *http)
{
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_quiesce(http->threads[i].endpoint);
    }
    atomic_store(&http->http_context.calls_refused, true);
    while (atomic_load(&http->http_context.calls_entering) > 0) {
        sched_yield();
    }
}

void http_stop(struct http *http)
{
    if (http != NULL) {
        stop_threads(http);
        destroy(http);
    }
}
