/* The listening socket. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

/* address: HOST:PORT, [IPv6]:PORT, or :PORT for every interface; port 0 takes a free one.
 * ret_url: "http://HOST:PORT" with the port really taken. STATUS_CONFIG with words. */
MUST_CHECK enum status listener_open(const char *address, int *ret_socket, char *ret_url,
                                     size_t url_size, struct problem *reterr);
