#include "server/http/http.h"

#include "server/clock.h"
#include "server/http/body.h"
#include "server/http/exchange.h"
#include "server/http/gate.h"
#include "server/http/request.h"
#include "server/metrics.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* Requests under way at the stop have this long to end. */
#define STOP_GRACE_S 5.0

/* Beyond connection_limit some are let in to be told. */
#define WAITING_ROOM(limit) ((limit) / 8 + 64)
/* Of the admin's door, which nobody can crowd who cannot reach it. */
#define ADMIN_CONNECTION_LIMIT 64
/* So many connections keep, while they wait, what a request takes: thousands that do little have it
 * only while they ask. */
#define KEPT_EXCHANGES 512

struct http {
    struct exchange_house house;
    struct gate main;
    struct gate admin;
    struct upload_memory upload_memory;
    struct credentials *credentials; /* NULL: no TLS */
    atomic_uint kept_exchanges;
    int idle_event; /* written when a request ends, during the stop */
    bool has_ready_answers;
};

/* ---- Callbacks of libmicrohttpd, on its pool threads ---- */

/* What a connection has for its life. It is small, as many only wait; the kilobytes for the request
 * under way come with it. */
struct seat {
    struct reaper_place *place;
    enum turnstile_verdict verdict;
    uint32_t counter;          /* of its address; TURNSTILE_UNCOUNTED */
    struct exchange *exchange; /* NULL before, and mostly between two requests */
    bool keeps_exchange;       /* counted in kept_exchanges */
};

static struct seat *seat_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
}

static struct exchange *exchange_of(struct seat *seat, struct exchange_house *house)
{
    if (seat != NULL && seat->exchange == NULL) {
        seat->exchange = malloc(sizeof *seat->exchange);
        if (seat->exchange != NULL) {
            exchange_open(seat->exchange, house);
        }
    }
    return seat == NULL ? NULL : seat->exchange;
}

/* Without memory the request is refused, by the end of the connection. */
static void *request_started(void *context, const char *target, struct MHD_Connection *connection)
{
    const struct gate *gate = context;
    struct exchange_house *house = &gate->http->house;
    struct seat *seat = seat_of(connection);
    struct exchange *exchange = exchange_of(seat, house);

    if (exchange == NULL ||
        exchange_init(exchange, house, connection, target == NULL ? "" : target) != STATUS_OK) {
        return NULL;
    }
    exchange->doors = gate->doors;
    exchange->seat = seat;
    exchange->address_counter = seat->counter;
    return exchange;
}

static void begin_in(const struct seat *seat, struct exchange *exchange,
                     const struct guard_request *line)
{
    reaper_rest(seat->place);
    if (seat->verdict != TURNSTILE_OPEN) {
        request_turn_away(exchange, seat->verdict);
        return;
    }
    request_begin(exchange, line);
    if (exchange->closing && !exchange->answered) {
        reaper_expect_body(seat->place);
    }
}

static enum MHD_Result request_came(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload_data, size_t *upload_data_size,
                                    void **request_context)
{
    struct exchange *exchange = *request_context;

    (void)context;
    (void)connection;
    if (exchange == NULL) {
        return MHD_NO;
    }
    exchange->outcome = MHD_YES;
    if (!exchange->begun) {
        const struct guard_request line = {.method = method, .version = version, .url = url};
        begin_in(exchange->seat, exchange, &line);
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
        if (exchange->closing) {
            reaper_rest(exchange->seat->place); /* its body is here */
        }
        request_go_on(exchange);
    }
    return exchange->outcome;
}

static void close_exchange(struct seat *seat)
{
    if (seat->exchange != NULL) {
        exchange_close(seat->exchange);
    }
    free(seat->exchange);
    seat->exchange = NULL;
}

/* Between two requests. */
static void rest(struct http *http, struct seat *seat)
{
    if (!seat->keeps_exchange) {
        seat->keeps_exchange = atomic_fetch_add(&http->kept_exchanges, 1) < KEPT_EXCHANGES;
    }
    if (!seat->keeps_exchange) {
        atomic_fetch_sub(&http->kept_exchanges, 1);
        close_exchange(seat);
    }
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request_context,
                          enum MHD_RequestTerminationCode reason)
{
    struct http *http = ((struct gate *)context)->http;
    struct exchange *exchange = *request_context;
    const double now_s = clock_monotonic_s();
    uint64_t one = 1;

    (void)connection;
    (void)reason;
    *request_context = NULL;
    /* Without one, for want of memory, the connection ends with the request. */
    if (exchange != NULL) {
        struct seat *seat = exchange->seat;

        request_account(exchange, now_s);
        exchange_finish(exchange);
        reaper_watch(seat->place, now_s);
        rest(http, seat);
    }
    if (atomic_load(&http->house.asks_refused)) {
        (void)!write(http->idle_event, &one, sizeof one);
    }
}

static void close_seat(const struct gate *gate, struct seat *seat)
{
    if (seat == NULL) {
        return;
    }
    reaper_close(seat->place);
    if (gate->is_counted) {
        turnstile_leave(gate->http->house.turnstile, seat->counter);
    }
    if (seat->keeps_exchange) {
        atomic_fetch_sub(&gate->http->kept_exchanges, 1);
    }
    close_exchange(seat);
    free(seat);
}

/* Where all are taken, one that waits for its next request gives way. */
static void enter(const struct gate *gate, struct MHD_Connection *connection, struct seat *seat)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    seat->verdict = TURNSTILE_OPEN;
    seat->counter = TURNSTILE_UNCOUNTED;
    if (gate->is_counted) {
        seat->verdict = turnstile_enter(gate->http->house.turnstile,
                                        info == NULL ? NULL : info->client_addr, &seat->counter);
    }
    if (seat->verdict == TURNSTILE_FULL &&
        reaper_shed(gate->http->house.reaper, clock_monotonic_s())) {
        seat->verdict = TURNSTILE_OPEN;
    }
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    const struct gate *gate = context;
    struct seat *seat = *socket_context;

    gate_count_connection(code != MHD_CONNECTION_NOTIFY_CLOSED);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        close_seat(gate, seat);
        *socket_context = NULL;
        metrics_add(METRIC_CONNECTIONS, -1);
        return;
    }
    metrics_add(METRIC_CONNECTIONS, 1);
    /* Without memory its requests are refused one by one, by the end of the connection. */
    seat = calloc(1, sizeof *seat);
    *socket_context = seat;
    if (seat == NULL) {
        return;
    }
    enter(gate, connection, seat);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    seat->place = info == NULL ? NULL
                               : reaper_open(gate->http->house.reaper, info->connect_fd,
                                             gate->is_encrypted, clock_monotonic_s());
}

/* What a late client is told, past libmicrohttpd. */
static size_t print_farewell(void *context, char bytes[REAPER_FAREWELL_SIZE])
{
    char request_id[REQUEST_ID_SIZE];
    struct problem problem;
    struct text answer = {0};
    size_t size = 0;

    exchange_make_id(context, request_id);
    problem_set(&problem, STATUS_REQUEST_TIMEOUT, "The request came too slowly.");
    exchange_print_refusal(&problem, request_id, &answer);
    if (text_status(&answer) == STATUS_OK && answer.size <= REAPER_FAREWELL_SIZE) {
        size = answer.size;
        memcpy(bytes, answer.bytes, size);
    }
    text_finish(&answer);
    return size;
}

/* ---- Life ---- */

static void destroy(struct http *http)
{
    if (http->idle_event >= 0) {
        close(http->idle_event);
    }
    listener_close(&http->main.listener);
    listener_close(&http->admin.listener);
    reaper_destroy(http->house.reaper);
    turnstile_destroy(http->house.turnstile);
    adjacency_cache_destroy(http->house.adjacencies);
    keyring_destroy(http->house.keyring);
    credentials_destroy(http->credentials);
    device_monitor_destroy(http->house.monitor);
    if (http->has_ready_answers) {
        ready_answers_close(http->house.ready_answers);
    }
    free(http);
}

static bool is_given(const char *text)
{
    return strcmp(text, CONFIG_NONE) != 0;
}

static enum status make_tenant(void *context, const char *name, struct tenant **ret_tenant)
{
    return desk_tenant(context, name, ret_tenant);
}

static enum status open_secrets(struct http *http, struct problem *reterr)
{
    const struct config *config = http->house.config;
    enum status status = STATUS_OK;

    if (is_given(config->tls_certificate) != is_given(config->tls_key)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "http.tls_certificate and http.tls_key belong together.");
    }
    if (is_given(config->keys_file)) {
        status = keyring_create(make_tenant, http->house.desk, &http->house.keyring);
    }
    if (status == STATUS_OK && is_given(config->tls_certificate)) {
        status = credentials_create(&http->credentials);
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
    const uint32_t connections =
        config->connection_limit + WAITING_ROOM(config->connection_limit) + ADMIN_CONNECTION_LIMIT;
    const struct reaper_rules rules = {
        .connection_limit = connections,
        .header_timeout_s = config->header_timeout_s,
        .rate_floor = config->rate_floor,
        .stall_timeout_s = config->stall_timeout_s,
        .farewell = print_farewell,
        .context = &http->house,
    };
    const struct turnstile_rules doorkeeping = {
        .limit = config->connection_limit,
        .address_limit = config->address_limit,
        .miss_limit = config->wrong_key_limit,
    };

    upload_memory_init(&http->upload_memory, parts->upload_memory_bytes);
    http->house.config = config;
    http->house.upload_memory = &http->upload_memory;
    http->house.desk = parts->desk;
    http->house.results = parts->results;
    http->house.store = parts->store;
    http->idle_event = eventfd(0, EFD_CLOEXEC);
    http->has_ready_answers = ready_answers_open(&http->house.ready_answers) == STATUS_OK;
    if (http->idle_event < 0 || !http->has_ready_answers ||
        getrandom(&http->house.id_seed, sizeof http->house.id_seed, 0) < 0 ||
        reaper_create(&rules, &http->house.reaper) != STATUS_OK ||
        turnstile_create(&doorkeeping, &http->house.turnstile) != STATUS_OK ||
        adjacency_cache_create(store_graph_folder(parts->store), config->path_budget_bytes,
                               &http->house.adjacencies) != STATUS_OK ||
        device_monitor_create(NVML_LIBRARY, &http->house.monitor) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    return open_secrets(http, reterr);
}

static enum status open_gates(struct http *http, struct problem *reterr)
{
    const struct config *config = http->house.config;
    struct gate_plan plan = {
        .config = config,
        .credentials = http->credentials,
        .has_keys = http->house.keyring != NULL,
        .threads = 1,
        .connections = ADMIN_CONNECTION_LIMIT,
        .request_came = request_came,
        .request_started = request_started,
        .request_ended = request_ended,
        .connection_changed = connection_changed,
    };
    enum status status = STATUS_OK;

    http->main.doors = DOOR_MAIN | DOOR_ONLY;
    http->main.is_counted = true;
    http->admin.doors = DOOR_ADMIN;
    if (http->admin.listener.socket >= 0) {
        http->main.doors = DOOR_MAIN;
        status = gate_open(&http->admin, &plan, reterr);
    }
    if (status == STATUS_OK) {
        plan.threads = config->http_threads;
        plan.connections = config->connection_limit + WAITING_ROOM(config->connection_limit);
        status = gate_open(&http->main, &plan, reterr);
    }
    return status;
}

static void close_listeners(const struct http_parts *parts)
{
    struct listener listeners[] = {parts->listener, parts->admin_listener};

    listener_close(&listeners[0]);
    listener_close(&listeners[1]);
}

enum status http_start(const struct http_parts *parts, struct http **ret_http,
                       struct problem *reterr)
{
    struct http *http = calloc(1, sizeof *http);
    enum status status;

    if (http == NULL) {
        close_listeners(parts);
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the HTTP server.");
    }
    http->main.http = http->admin.http = http;
    http->main.listener = parts->listener;
    http->admin.listener = parts->admin_listener;
    http->idle_event = -1;
    status = fill(parts, http, reterr);
    if (status == STATUS_OK) {
        status = open_gates(http, reterr);
    }
    if (status != STATUS_OK) {
        http_quiesce(http);
        gate_stop(&http->main);
        gate_stop(&http->admin);
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
    return http->house.keyring == NULL
               ? STATUS_OK
               : keyring_load(http->house.keyring, http->house.config->keys_file, reterr);
}

enum status http_load_certificate(struct http *http, struct problem *reterr)
{
    const struct config *config = http->house.config;

    return http->credentials == NULL ? STATUS_OK
                                     : credentials_load(http->credentials, config->tls_certificate,
                                                        config->tls_key, reterr);
}

void http_reap(struct http *http)
{
    reaper_run(http->house.reaper, clock_monotonic_s());
}

void http_quiesce(struct http *http)
{
    gate_quiesce(&http->main);
    gate_quiesce(&http->admin);
}

void http_refuse_asks(struct http *http)
{
    atomic_store(&http->house.asks_refused, true);
    while (atomic_load(&http->house.asks_entering) > 0) {
        sched_yield();
    }
}

/* Each request that ends writes the event, from the moment that no more asks are taken. */
static void wait_until_idle(struct http *http)
{
    const double end_s = clock_monotonic_s() + STOP_GRACE_S;
    struct pollfd idle = {.fd = http->idle_event, .events = POLLIN};
    uint64_t count;

    while (reaper_count_resting(http->house.reaper) > 0) {
        const double left_s = end_s - clock_monotonic_s();

        if (left_s <= 0) {
            return;
        }
        if (poll(&idle, 1, (int)(left_s * 1000) + 1) > 0) {
            (void)!read(http->idle_event, &count, sizeof count);
        }
    }
}

void http_stop(struct http *http)
{
    if (http == NULL) {
        return;
    }
    http_refuse_asks(http);
    http_quiesce(http);
    wait_until_idle(http);
    gate_stop(&http->main);
    gate_stop(&http->admin);
    destroy(http);
}
