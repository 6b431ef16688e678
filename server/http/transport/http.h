/* The HTTP front end: the only user of libmicrohttpd.
 *
 * Its threads (transport/endpoint.h) guard, route and stream requests, answer reads from published
 * results themselves, and hand everything else to the scheduler with the connection suspended. */
#pragma once

#include "server/config.h"
#include "server/http/transport/listener.h"
#include "server/scheduler/scheduler.h"
#include "server/store/result.h"

struct http;

/* Borrows all for its life, but the listeners, which it takes even when it does not start. It
 * answers at once. STATUS_CONFIG with words when keys or certificates cannot be used, or an address
 * has not what config->network asks for. */
struct http_parts {
    const struct config *config;
    struct scheduler *scheduler;
    struct result_table *results;
    struct store *store;
    uint64_t upload_memory_bytes; /* for all that come in at once */
    struct listener listener;
};
MUST_CHECK enum status http_start(const struct http_parts *parts, struct http **ret_http,
                                  struct problem *reterr);
/* "http://127.0.0.1:8080", with the port really taken; "https://..", "unix:PATH". */
const char *http_address(const struct http *http);
/* Read again what the configuration names, if it names any: STATUS_CONFIG with words when it cannot
 * be used, and what was read before stays. Loop thread. */
MUST_CHECK enum status http_load_keys(struct http *http, struct problem *reterr);
MUST_CHECK enum status http_load_certificate(struct http *http, struct problem *reterr);
/* Listens no more; open connections are answered, but the scheduler is asked nothing: what would
 * ask is answered 503 from now on. Does not wait for the HTTP threads, which may be in the middle
 * of a long answer. */
void http_quiesce(struct http *http);
/* Whether each HTTP thread knows: then every call ever made has been posted. */
bool http_is_quiesced(const struct http *http);
/* Once http_is_quiesced, or without it when no call was ever made, and after every call has been
 * answered. NULL is accepted. */
void http_stop(struct http *http);
