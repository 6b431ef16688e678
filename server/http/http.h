/* The HTTP front end: the only user of libmicrohttpd.
 *
 * Its pool threads guard, route and stream requests, answer reads from published results
 * themselves, and hand everything else to the desk with the connection suspended. */
#pragma once

#include "server/config.h"
#include "server/job/desk.h"
#include "server/store/result_table.h"

struct http;

#define HTTP_ADDRESS_SIZE 128

/* Borrows all for its life. Starts listening: STATUS_CONFIG with words when the address cannot be
 * used. */
struct http_parts {
    const struct config *config;
    struct desk *desk;
    struct result_table *results;
    struct store *store;
};
MUST_CHECK enum status http_start(const struct http_parts *parts, struct http **ret_http,
                                  struct problem *reterr);
/* "http://127.0.0.1:8080", with the port really taken. */
const char *http_address(const struct http *http);
/* Ends connections that take longer than header_timeout_s to complete the headers of a request.
 * The loop calls it each second. */
void http_reap(struct http *http);
/* No new connections; those open are answered. */
void http_quiesce(struct http *http);
/* The desk is asked nothing any more: what would ask is answered 503 from now on. When this
 * returns every ask ever made has been posted. Call it before desk_destroy. */
void http_refuse_asks(struct http *http);
/* After http_refuse_asks, and after every ask has been answered: a suspended connection must not
 * exist any more. NULL is accepted. */
void http_stop(struct http *http);
