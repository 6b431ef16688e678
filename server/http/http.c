#include "server/http/http.h"

#include "server/clock.h"
#include "server/http/body.h"
#include "server/http/exchange.h"
#include "server/http/guard.h"
#include "server/http/listener.h"
#include "server/http/routes.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* Header memory and read buffer of a connection; larger buffers make uploads slower. Longer
 * headers, a Content-Length that is no number, broken chunks and a version from 2.0 on are refused
 * by libmicrohttpd itself, with 431, 414, 400 or 505 and a line of HTML: it has no way to have it
 * said in other words. */
#define CONNECTION_MEMORY_BYTES (16 << 10)
#define GUARD_HEADER_LIMIT 100
/* Requests under way at the stop have this long to end. */
#define STOP_GRACE_MS 5000

struct http {
    struct exchange_house house;
    struct MHD_Daemon *daemon;
    int listen_socket;  /* closed by libmicrohttpd unless quiesced */
    int idle_event;     /* written when the last request under way ends */
    atomic_uint active; /* requests under way */
    char address[HTTP_ADDRESS_SIZE];
};

/* ---- One request ---- */

struct header_list {
    struct guard_header headers[GUARD_HEADER_LIMIT];
    size_t count;
};

static enum MHD_Result collect_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_size, const char *value, size_t value_size)
{
    struct header_list *list = context;

    (void)kind;
    if (list->count < GUARD_HEADER_LIMIT) {
        list->headers[list->count] = (struct guard_header){name, name_size, value, value_size};
    }
    list->count++;
    return MHD_YES;
}

static enum status guard(struct exchange *exchange, const char *method, const char *version,
                         bool *ret_body, struct problem *reterr)
{
    struct header_list list;
    struct guard_request request = {
        .method = method,
        .version = version,
        .url = exchange->target,
        .headers = list.headers,
    };

    /* The headers stay as they are: there are kilobytes of room for them. */
    list.count = 0;
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, collect_header, &list);
    if (list.count > GUARD_HEADER_LIMIT) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "The request has more than %d headers.",
                           GUARD_HEADER_LIMIT);
    }
    request.header_count = list.count;
    return guard_check(&request, ret_body, reterr);
}

static enum status route(struct exchange *exchange, struct problem *reterr)
{
    char allow[ROUTER_ALLOW_SIZE];
    char *rest = exchange->target;
    const char *path = strsep(&rest, "?");
    enum status status = router_find(routes_table, routes_count, exchange->method, path,
                                     &exchange->match, allow, reterr);

    if (allow[0] != '\0') {
        exchange_set_header(exchange, MHD_HTTP_HEADER_ALLOW, "%s", allow);
    }
    if (status == STATUS_OK) {
        status = query_parse(rest, &exchange->query, reterr);
    }
    if (status == STATUS_OK) {
        status = query_check(&exchange->query, exchange->match.route->parameters, reterr);
    }
    return status;
}

static enum status check(struct exchange *exchange, const char *method, const char *version,
                         struct problem *reterr)
{
    bool has_body = false;
    enum status status = guard(exchange, method, version, &has_body, reterr);

    /* What was refused, or had a body, may have been framed differently by a proxy. */
    exchange->closing = status != STATUS_OK || has_body;
    exchange->method = router_method(method);
    if (status == STATUS_OK) {
        status = route(exchange, reterr);
    }
    if (status == STATUS_OK && exchange->match.route->prepare != NULL) {
        status = exchange->match.route->prepare(exchange, reterr);
    }
    return status;
}

static void refuse_late(struct exchange *exchange)
{
    exchange_refuse(exchange, &exchange->refusal);
}

/* libmicrohttpd closes the connection after an answer given here, so what may go on is answered
 * when the request is complete, which without a body is at once. */
static void begin(struct exchange *exchange, const char *method, const char *version)
{
    exchange->begun = true;
    exchange_name(exchange);
    if (check(exchange, method, version, &exchange->refusal) == STATUS_OK) {
        if (exchange->closing) {
            body_begin(exchange);
        }
        return;
    }
    if (exchange->closing) {
        refuse_late(exchange);
    } else {
        exchange->resume = refuse_late;
    }
}

/* The request is complete, or an ask of it has been answered. */
static void go_on(struct exchange *exchange)
{
    void (*resume)(struct exchange * exchange) = exchange->resume;

    exchange->resume = NULL;
    if (resume != NULL) {
        resume(exchange);
    } else {
        exchange->match.route->handle(exchange);
    }
}

/* ---- Callbacks of libmicrohttpd, on its pool threads ---- */

/* What a connection has for its life: room for the one request under way. */
struct seat {
    struct reaper_place *place;
    struct exchange exchange;
};

static struct seat *seat_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
}

static void *request_started(void *context, const char *target, struct MHD_Connection *connection)
{
    struct http *http = context;
    struct seat *seat = seat_of(connection);

    atomic_fetch_add(&http->active, 1);
    if (seat == NULL || exchange_init(&seat->exchange, &http->house, connection,
                                      target == NULL ? "" : target) != STATUS_OK) {
        return NULL;
    }
    return &seat->exchange;
}

static enum MHD_Result request_came(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload_data, size_t *upload_data_size,
                                    void **request_context)
{
    struct exchange *exchange = *request_context;

    (void)context;
    (void)url;
    if (exchange == NULL) {
        return MHD_NO;
    }
    exchange->outcome = MHD_YES;
    if (!exchange->begun) {
        reaper_rest(seat_of(connection)->place);
        begin(exchange, method, version);
        return exchange->outcome;
    }
    if (*upload_data_size > 0) {
        size_t size = *upload_data_size;

        *upload_data_size = 0;
        return body_feed(exchange, upload_data, size);
    }
    if (exchange->answered_early) {
        return MHD_NO;
    }
    if (!exchange->answered) {
        go_on(exchange);
    }
    return exchange->outcome;
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request_context,
                          enum MHD_RequestTerminationCode reason)
{
    struct http *http = context;
    const struct seat *seat = seat_of(connection);
    uint64_t one = 1;

    (void)reason;
    if (*request_context != NULL) {
        exchange_finish(*request_context);
    }
    *request_context = NULL;
    if (seat != NULL) {
        reaper_watch(seat->place, clock_monotonic_s());
    }
    if (atomic_fetch_sub(&http->active, 1) == 1 && atomic_load(&http->house.asks_refused)) {
        (void)!write(http->idle_event, &one, sizeof one);
    }
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    struct seat *seat = *socket_context;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (seat != NULL) {
            reaper_close(seat->place);
        }
        free(seat);
        *socket_context = NULL;
        return;
    }
    /* Without memory its requests are refused one by one, by the end of the connection. */
    seat = malloc(sizeof *seat);
    *socket_context = seat;
    if (seat == NULL) {
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    seat->place = info == NULL
                      ? NULL
                      : reaper_open(http->house.reaper, info->connect_fd, clock_monotonic_s());
}

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

/* ---- Life ---- */

static struct MHD_Daemon *start_daemon(struct http *http)
{
    const struct config *config = http->house.config;
    struct MHD_OptionItem pool[] = {
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)config->http_threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    /* A pool of one is none. */
    if (config->http_threads < 2) {
        pool[0].option = MHD_OPTION_END;
    }
    /* Not strict: a request without Host would be refused before the guard sees it, with HTML and a
     * header block sent twice. */
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        request_came, http, MHD_OPTION_EXTERNAL_LOGGER, log_words, http, MHD_OPTION_LISTEN_SOCKET,
        http->listen_socket, MHD_OPTION_CONNECTION_LIMIT, config->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, config->connection_timeout_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, http,
        MHD_OPTION_URI_LOG_CALLBACK, request_started, http, MHD_OPTION_NOTIFY_COMPLETED,
        request_ended, http, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
        MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
}

static void destroy(struct http *http)
{
    if (http->listen_socket >= 0) {
        close(http->listen_socket);
    }
    if (http->idle_event >= 0) {
        close(http->idle_event);
    }
    reaper_destroy(http->house.reaper);
    adjacency_cache_destroy(http->house.adjacencies);
    free(http);
}

static enum status fill(const struct http_parts *parts, struct http *http, struct problem *reterr)
{
    http->house.config = parts->config;
    http->house.desk = parts->desk;
    http->house.results = parts->results;
    http->house.store = parts->store;
    http->listen_socket = -1;
    http->idle_event = eventfd(0, EFD_CLOEXEC);
    if (http->idle_event < 0 ||
        getrandom(&http->house.id_seed, sizeof http->house.id_seed, 0) < 0 ||
        reaper_create(parts->config->connection_limit, parts->config->header_timeout_s,
                      &http->house.reaper) != STATUS_OK ||
        adjacency_cache_create(store_graph_folder(parts->store), parts->config->path_budget_bytes,
                               &http->house.adjacencies) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    return listener_open(parts->config->listen, &http->listen_socket, http->address,
                         sizeof http->address, reterr);
}

enum status http_start(const struct http_parts *parts, struct http **ret_http,
                       struct problem *reterr)
{
    struct http *http = calloc(1, sizeof *http);
    enum status status;

    if (http == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    status = fill(parts, http, reterr);
    if (status == STATUS_OK) {
        http->daemon = start_daemon(http);
        if (http->daemon == NULL) {
            status =
                problem_set(reterr, STATUS_CONFIG,
                            "The HTTP server does not start with %u threads and %u connections.",
                            parts->config->http_threads, parts->config->connection_limit);
        }
    }
    if (status != STATUS_OK) {
        destroy(http);
        return status;
    }
    *ret_http = http;
    return STATUS_OK;
}

const char *http_address(const struct http *http)
{
    return http->address;
}

void http_reap(struct http *http)
{
    reaper_run(http->house.reaper, clock_monotonic_s());
}

void http_quiesce(struct http *http)
{
    MHD_socket descriptor = MHD_quiesce_daemon(http->daemon);

    /* Ours again, unless it was quiesced before. */
    http->listen_socket = -1;
    if (descriptor != MHD_INVALID_SOCKET) {
        close(descriptor);
    }
}

void http_refuse_asks(struct http *http)
{
    atomic_store(&http->house.asks_refused, true);
    while (atomic_load(&http->house.asks_entering) > 0) {
        sched_yield();
    }
}

void http_stop(struct http *http)
{
    if (http == NULL) {
        return;
    }
    http_refuse_asks(http);
    http_quiesce(http);
    struct pollfd idle = {.fd = http->idle_event, .events = POLLIN};
    if (atomic_load(&http->active) > 0) {
        (void)poll(&idle, 1, STOP_GRACE_MS);
    }
    MHD_stop_daemon(http->daemon);
    destroy(http);
}
