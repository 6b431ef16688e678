/* A listening socket: of TCP, or of Unix. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>
#include <sys/un.h>

#define LISTENER_ADDRESS_SIZE 160

struct listener {
    int socket;
    int lock;      /* of a Unix socket: PATH.lock, held; -1 */
    bool is_local; /* only this machine reaches it */
    bool is_unix;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a Unix socket that is ours */
    char address[LISTENER_ADDRESS_SIZE]; /* "HOST:PORT" with the port really taken, "unix:PATH" */
};

#define LISTENER_CLOSED ((struct listener){.socket = -1, .lock = -1})
#define LISTENER_UNIX_PREFIX "unix:"

/* address: HOST:PORT, [IPv6]:PORT, or :PORT for every interface, port 0 takes a free one; or
 * unix:PATH, mode in octal. A socket that nobody holds any more is replaced: PATH.lock, which
 * stays, tells. STATUS_CONFIG with words. */
MUST_CHECK enum status listener_open(const char *address, unsigned mode,
                                     struct listener *ret_listener, struct problem *reterr);
/* Takes a socket that listens already, opened by another, to whom the file of a Unix one belongs.
 * STATUS_CONFIG with words, and it is closed. */
MUST_CHECK enum status listener_adopt(int descriptor, struct listener *ret_listener,
                                      struct problem *reterr);
/* Accepts one that is closed already, or was never opened: LISTENER_CLOSED. */
void listener_close(struct listener *listener);
