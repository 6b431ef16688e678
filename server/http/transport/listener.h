/* A listening socket, TCP or Unix: opened by address, or inherited from a service manager. */
#pragma once

#include "proto/problem.h"

#include <sys/un.h>

#define LISTENER_ADDRESS_SIZE 160

struct listener {
    int socket;
    int lock;      /* locked file PATH.lock of a Unix socket; else -1 */
    bool is_local; /* reachable from this machine only */
    bool is_unix;
    char path[sizeof(
        ((struct sockaddr_un *)0)->sun_path)]; /* Unix socket that this process bound; else empty */
    char address[LISTENER_ADDRESS_SIZE]; /* "HOST:PORT" with the actual port, or "unix:PATH" */
};

#define LISTENER_CLOSED ((struct listener){.socket = -1, .lock = -1})
#define LISTENER_UNIX_PREFIX "unix:"

/* Opens a socket. address, which the configuration has checked, is HOST:PORT or [IPv6]:PORT, where
 * port 0 chooses a free port; or unix:PATH with the file mode. A stale Unix socket is replaced: the
 * lock on PATH.lock, which is never removed, shows whether its process still runs. STATUS_CONFIG
 * with a message. */
MUST_CHECK enum status listener_open(const char *address, unsigned mode,
                                     struct listener *ret_listener, struct problem *reterr);
/* Adopts a TCP socket that another process has opened and that already listens. On failure closes
 * it: STATUS_CONFIG with a message. */
MUST_CHECK enum status listener_adopt(int descriptor, struct listener *ret_listener,
                                      struct problem *reterr);
/* Also accepts LISTENER_CLOSED and a listener that is already closed. */
void listener_close(struct listener *listener);
