#include "server/http/transport/http.h"

#include "proto/status.h"
#include "server/http/request/lifecycle.h"
#include "server/http/transport/endpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Number of connections beyond connection_limit that are accepted only to send a refusal. */
#define REFUSED_CONNECTIONS(limit) ((limit) / 8 + 64)
#define URL_SIZE 192

struct http {
    struct http_context http_context;
    struct shared_listener shared;
    char url[URL_SIZE];          /* "http://HOST:PORT" with the actual port, or "unix:PATH" */
    size_t thread_count;         /* number of running threads */
    struct endpoint **endpoints; /* one per thread */
};

static bool is_given(const char *text)
{
    return strcmp(text, CONFIG_NONE) != 0;
}

static enum status open_secrets(struct http *http, struct problem *reterr)
{
    const struct config *config = http->http_context.config;
    if (is_given(config->tls_certificate) != is_given(config->tls_key)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "http.tls_certificate and http.tls_key must be set together.");
    }
    if (is_given(config->keys_file)) {
        STATUS_TRY(problem_explain(reterr,
                                   auth_create(scheduler_tenants(http->http_context.scheduler),
                                               &http->http_context.keyring),
                                   "There is not enough memory for the HTTP server."));
    }
    STATUS_TRY(http_load_keys(http, reterr));
    return http_load_certificate(http, reterr);
}

static enum status fill_context(const struct http_parts *parts, struct http *http,
                                struct problem *reterr)
{
    const struct config *config = parts->config;
    struct conn_limits *limits = &http->http_context.conn_limits;
    uint64_t seeds[2] = {0};
    limits->connections = config->connection_limit;
    limits->refused_connections = REFUSED_CONNECTIONS(config->connection_limit);
    limits->of_address = config->address_limit;
    http->http_context.upload_memory.limit_bytes = parts->upload_memory_bytes;
    http->http_context.config = config;
    http->http_context.failed_logins.limit = config->wrong_key_limit;
    http->http_context.scheduler = parts->scheduler;
    http->http_context.results = parts->results;
    http->http_context.store = parts->store;
    http->http_context.graph_cache = store_graph_cache(parts->store);
    http->http_context.is_unix = parts->listener.is_unix;
    label_cache_set_budget(config->label_budget_bytes);
    http->endpoints = calloc(config->http_threads, sizeof(*http->endpoints));
    if (http->endpoints == NULL || getrandom(seeds, sizeof(seeds), 0) != sizeof(seeds)) {
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the HTTP server.");
    }
    limits->seed = seeds[0];
    http->http_context.id_seed = seeds[1];
    return open_secrets(http, reterr);
}

/* Checks that an address reachable from other machines has the security that http.network requires,
 * so that nobody exposes the service without keys, or sends keys unencrypted, by mistake. */
static enum status check_network(const struct http *http, bool is_encrypted, struct problem *reterr)
{
    const enum config_network network = http->http_context.config->network;
    const bool has_keys = http->http_context.keyring != NULL;
    if (http->shared.listener.is_local || network == NETWORK_OPEN ||
        (has_keys && (is_encrypted || network != NETWORK_SECURE))) {
        return STATUS_OK;
    }
    return problem_refuse(
        reterr, STATUS_CONFIG,
        has_keys ? "Set http.tls_certificate and http.tls_key, or http.network = plain."
                 : "Set http.keys_file, or http.network = open.",
        "%s is reachable from other machines but has no %s.", http->shared.listener.address,
        has_keys ? "TLS" : "keys");
}

static enum status start_endpoints(struct http *http, struct problem *reterr)
{
    const struct config *config = http->http_context.config;
    const struct listener *socket = &http->shared.listener;
    const bool is_encrypted = is_given(config->tls_certificate) && !socket->is_unix;
    struct endpoint_rules rules = {
        .config = config,
        .is_encrypted = is_encrypted,
        .limits = &http->http_context.conn_limits,
        .context = &http->http_context,
    };
    const char *scheme = is_encrypted ? "https://" : "http://";
    enum status status = check_network(http, is_encrypted, reterr);
    STATUS_TRY(status);
    snprintf(http->url, sizeof(http->url), "%s%s", socket->is_unix ? "" : scheme, socket->address);
    request_set_callbacks(&rules);
    atomic_store(&http->shared.users, 1); /* counts this function as a user */
    while (status == STATUS_OK && http->thread_count < config->http_threads) {
        status = endpoint_create(&rules, (unsigned)http->thread_count, &http->shared,
                                 &http->endpoints[http->thread_count]);
        http->thread_count += status == STATUS_OK;
    }
    atomic_fetch_sub(&http->shared.users, 1);
    return status == STATUS_OK
               ? status
               : problem_set(reterr, STATUS_CONFIG,
                             "The HTTP server cannot start with %u threads and %u connections.",
                             config->http_threads, config->connection_limit);
}

enum status http_start(const struct http_parts *parts, struct http **ret_http,
                       struct problem *reterr)
{
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL) {
        struct listener listener = parts->listener;
        listener_close(&listener);
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the HTTP server.");
    }
    http->shared.listener = parts->listener;
    enum status status = fill_context(parts, http, reterr);
    STATUS_THEN(status, start_endpoints(http, reterr));
    if (status != STATUS_OK) {
        http_stop(http);
        return status;
    }
    *ret_http = http;
    return STATUS_OK;
}

const char *http_address(const struct http *http)
{
    return http->url;
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
    return is_given(config->tls_certificate)
               ? tls_load(config->tls_certificate, config->tls_key, reterr)
               : STATUS_OK;
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
    if (http == NULL) {
        return;
    }
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_stop(http->endpoints[i]);
    }
    for (size_t i = 0; i < http->thread_count; i++) {
        endpoint_destroy(http->endpoints[i]);
    }
    listener_close(&http->shared.listener);
    free(http->endpoints);
    auth_destroy(http->http_context.keyring);
    tls_unload();
    free(http);
}
