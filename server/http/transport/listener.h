/* A listening socket, TCP or Unix: opened by address, or inherited from a service manager. */
#pragma once

#include "proto/problem.h"

#include <sys/un.h>

#define LISTENER_ADDRESS_SIZE 160

struct listener {
    int socket;
    int lock;      /* descriptor of the locked file PATH.lock of a Unix socket; else -1 */
    bool is_local; /* reachable from this machine only */
    bool is_unix;
    /* Path of the Unix socket that this process bound; else empty. */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char address[LISTENER_ADDRESS_SIZE]; /* "HOST:PORT" with the actual port, or "unix:PATH" */
};

#define LISTENER_CLOSED ((struct listener){.socket = -1, .lock = -1})
#define LISTENER_UNIX_PREFIX "unix:"

/* Opens a listening socket. address, whose syntax the configuration has checked, is HOST:PORT,
 * [IPv6]:PORT or unix:PATH. Port 0 chooses a free port; mode is the file mode of a Unix socket. A
 * stale Unix socket is replaced: the lock on PATH.lock, which is never removed, shows whether its
 * process still runs. Fails with STATUS_CONFIG and a message. */
MUST_CHECK enum status listener_open(const char *address, unsigned mode,
                                     struct listener *ret_listener, struct problem *reterr);
/* Adopts a TCP socket that another process has opened and that already listens. On failure closes
 * the socket and returns STATUS_CONFIG with a message. */
MUST_CHECK enum status listener_adopt(int descriptor, struct listener *ret_listener,
                                      struct problem *reterr);
/* Closes the socket. Accepts LISTENER_CLOSED and a listener that is already closed. */
void listener_close(struct listener *listener);
