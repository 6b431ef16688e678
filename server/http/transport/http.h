/* The HTTP front end; only server/http uses libmicrohttpd.
 *
 * HTTP threads (endpoint.h) check and route requests, answer reads from published results
 * themselves, and post everything else to the scheduler while the connection is suspended. */
#pragma once

#include "server/config.h"
#include "server/http/transport/listener.h"

struct http;

/* Arguments of http_start. Everything is borrowed for the life of the front end, except the
 * listener, which http_start owns even when it fails. http_start returns STATUS_CONFIG with a
 * message if the keys or the certificate are unusable, or if the address lacks the security that
 * config->network requires. */
struct http_parts {
    const struct config *config;
    struct scheduler *scheduler;
    struct result_table *results;
    struct store *store;
    uint64_t upload_memory_bytes; /* memory for all uploads in progress */
    struct listener listener;
};
MUST_CHECK enum status http_start(const struct http_parts *parts, struct http **ret_http,
                                  struct problem *reterr);
/* Returns "http://127.0.0.1:8080" with the actual port, "https://...", or "unix:PATH". */
const char *http_address(const struct http *http);
/* Reload the configured keys or certificate, if any. If a file is unusable, return STATUS_CONFIG
 * with a message and keep the old keys or certificate in use. Loop thread. */
MUST_CHECK enum status http_load_keys(struct http *http, struct problem *reterr);
MUST_CHECK enum status http_load_certificate(struct http *http, struct problem *reterr);
/* Stops listening. Open connections are still answered, but a request that needs the scheduler
 * receives status 503. Does not wait for the HTTP threads, which may be computing a long answer. */
void http_quiesce(struct http *http);
/* Returns whether every HTTP thread has processed the quiesce, and so has posted its last call. */
bool http_is_quiesced(const struct http *http);
/* Stops the threads and frees everything. Every call to the scheduler must have been answered, and
 * http_is_quiesced must be true unless no call was ever posted. Accepts NULL. */
void http_stop(struct http *http);
