#include "server/http/transport/http.h"

#include "proto/status.h"
#include "server/http/request/lifecycle.h"
#include "server/http/transport/endpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* So many connections beyond connection_limit are accepted, to be answered with a refusal. */
#define REFUSED_CONNECTIONS(limit) ((limit) / 8 + 64)
/* The admin listener has a limit of its own, so that clients of the main one cannot fill it. */
#define ADMIN_CONNECTION_LIMIT 64
#define URL_SIZE 192

/* An address that is listened on. */
struct http_listener {
    struct http *http;
    struct request_origin origin;
    struct shared_listener shared;
    bool is_encrypted;
    char url[URL_SIZE]; /* "http://HOST:PORT" with the port really taken, "unix:PATH"; or empty */
};

struct http {
    struct http_context http_context;
    struct http_listener main;
    struct http_listener admin;
    struct upload_memory upload_memory;
    struct credentials *credentials; /* NULL: no TLS */
    size_t thread_count;             /* that run */
    struct endpoint **endpoints;     /* one for each thread */
};

static void destroy(struct http *http)
{
    listener_close(&http->main.shared.listener);
    listener_close(&http->admin.shared.listener);
    free(http->endpoints);
    conn_limits_destroy(http->http_context.conn_limits);
    graph_cache_destroy(http->http_context.graph_cache);
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
    STATUS_TRY(http_load_keys(http, reterr));
    return http_load_certificate(http, reterr);
}

static enum status fill(const struct http_parts *parts, struct http *http, struct problem *reterr)
{
    const struct config *config = parts->config;
    const struct conn_limits_rules rules = {
        .connections = config->connection_limit,
        .refused_connections = REFUSED_CONNECTIONS(config->connection_limit),
        .of_address = config->address_limit,
    };

    upload_memory_init(&http->upload_memory, parts->upload_memory_bytes);
    http->http_context.config = config;
    http->http_context.failed_logins.limit = config->wrong_key_limit;
    http->http_context.upload_memory = &http->upload_memory;
    http->http_context.scheduler = parts->scheduler;
    http->http_context.results = parts->results;
    http->http_context.store = parts->store;
    http->endpoints = calloc(config->http_threads + 1, sizeof(*http->endpoints));
    if (http->endpoints == NULL ||
        getrandom(&http->http_context.id_seed, sizeof(http->http_context.id_seed), 0) < 0 ||
        conn_limits_create(&rules, &http->http_context.conn_limits) != STATUS_OK ||
        graph_cache_create(store_graph_folder(parts->store), store_coordinates_folder(parts->store),
                           config->path_budget_bytes,
                           &http->http_context.graph_cache) != STATUS_OK) {
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
static enum status serve(struct http_listener *listener, unsigned threads,
                         struct conn_limits *limits, uint32_t connections, struct problem *reterr)
{
    struct http *http = listener->http;
    const struct listener *socket = &listener->shared.listener;

    listener->origin.http_context = &http->http_context;
    listener->origin.is_unix = socket->is_unix;
    listener->is_encrypted = http->credentials != NULL && !socket->is_unix;
    enum status status = check_network(listener, reterr);
    STATUS_TRY(status);
    const char *scheme = listener->is_encrypted ? "https://" : "http://";
    snprintf(listener->url, sizeof(listener->url), "%s%s", socket->is_unix ? "" : scheme,
             socket->address);
    atomic_store(&listener->shared.users, 1); /* this function */
    for (unsigned i = 0; status == STATUS_OK && i < threads; i++) {
        struct endpoint_rules rules = {
            .config = http->http_context.config,
            .credentials = listener->is_encrypted ? http->credentials : NULL,
            .limits = limits,
            .connections = connections,
            .context = &listener->origin,
        };

        request_set_callbacks(&rules);
        status = endpoint_create(&rules, (unsigned)http->thread_count, &listener->shared,
                                 &http->endpoints[http->thread_count]);
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

/* Ends the threads. */
static void stop_threads(struct http *http)
{
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_stop(http->endpoints[i]);
    }
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_destroy(http->endpoints[i]);
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
    const bool has_admin = parts->admin_listener.socket >= 0;
    const uint32_t limit = parts->config->connection_limit;

    http->main.http = http->admin.http = http;
    http->main.shared.listener = parts->listener;
    http->admin.shared.listener = parts->admin_listener;
    http->main.origin.listeners = has_admin ? ON_MAIN : ON_MAIN | ON_SOLE;
    http->admin.origin.listeners = ON_ADMIN;
    status = fill(parts, http, reterr);
    if (status == STATUS_OK && has_admin) {
        status = serve(&http->admin, 1, NULL, ADMIN_CONNECTION_LIMIT, reterr);
    }
    if (status == STATUS_OK) {
        status = serve(&http->main, parts->config->http_threads, http->http_context.conn_limits,
                       limit + REFUSED_CONNECTIONS(limit), reterr);
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
    const struct http_context *http_context = &http->http_context;
    struct keyring *keyring = http_context->keyring;

    if (keyring == NULL) {
        return STATUS_OK;
    }
    const enum status status = auth_load_keys(keyring, http_context->config->keys_file, reterr);

    scheduler_share_queue(http_context->scheduler, auth_count_submitters(keyring));
    return status;
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
        endpoint_quiesce(http->endpoints[i]);
    }
}

bool http_is_quiesced(const struct http *http)
{
    for (size_t i = 0; i < http->thread_count; i++) {
        if (!endpoint_is_quiesced(http->endpoints[i])) {
            return false;
        }
    }
    return true;
}

void http_stop(struct http *http)
{
    if (http != NULL) {
        stop_threads(http);
        destroy(http);
    }
}
