#include "server/http/transport/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Length of the queue of connections that are not accepted yet. If the queue is full, the client's
 * kernel retries after a second. The kernel's default limit is the same. */
#define BACKLOG SOMAXCONN

static int open_one(const struct addrinfo *info)
{
    int on = 1;
    int descriptor = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return -1;
    }
    /* SO_REUSEADDR lets a restart bind before connections of the previous process time out. */
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(descriptor, info->ai_addr, info->ai_addrlen) == 0 &&
        listen(descriptor, BACKLOG) == 0) {
        return descriptor;
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

/* Sets address and is_local from the bound address, whatever name was configured. */
static bool describe_socket(int descriptor, struct listener *listener)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof(bound);
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getsockname(descriptor, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    const bool is_v6 = bound.ss_family == AF_INET6;
    listener->is_local = is_v6 ? strcmp(host, "::1") == 0 : strncmp(host, "127.", 4) == 0;
    int length = snprintf(listener->address, sizeof(listener->address), "%s%s%s:%s",
                          is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    return length > 0 && (size_t)length < sizeof(listener->address);
}

enum status listener_adopt(int descriptor, struct listener *ret_listener, struct problem *reterr)
{
    struct listener listener = {.socket = descriptor, .lock = -1};
    if (!describe_socket(descriptor, &listener)) {
        listener_close(&listener);
        return problem_set(reterr, STATUS_CONFIG, "Cannot determine the address of the socket.");
    }
    *ret_listener = listener;
    return STATUS_OK;
}

static enum status open_tcp(const char *address, struct listener *listener, struct problem *reterr)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(address, ':');
    const bool is_bracketed = address[0] == '[';
    char host[NI_MAXHOST];
    CHECK(colon != NULL && colon > address + is_bracketed);
    snprintf(host, sizeof(host), "%.*s", (int)(colon - address) - 2 * is_bracketed,
             address + is_bracketed);
    const int failed = getaddrinfo(host, colon + 1, &hints, &found);
    if (failed != 0) {
        return problem_set(reterr, STATUS_CONFIG, "Cannot resolve the address \"%s\": %s.", address,
                           gai_strerror(failed));
    }
    for (const struct addrinfo *at = found; at != NULL && listener->socket < 0; at = at->ai_next) {
        listener->socket = open_one(at);
    }
    int reason = errno;
    freeaddrinfo(found);
    if (listener->socket < 0) {
        return problem_set(reterr, STATUS_CONFIG, "Cannot listen on %s: %s.", address,
                           strerror(reason));
    }
    if (!describe_socket(listener->socket, listener)) {
        return problem_set(reterr, STATUS_CONFIG, "Cannot determine the address of %s.", address);
    }
    return STATUS_OK;
}

static enum status refuse_path(const char *path, const char *what, struct problem *reterr)
{
    return problem_set(reterr, STATUS_CONFIG, "Cannot %s %s: %s.", what, path, strerror(errno));
}

/* Locks PATH.lock, whose holder owns PATH. The file is never removed, because another process may
 * have it open. */
static enum status acquire_lock(const char *path, struct listener *listener, struct problem *reterr)
{
    char lock[sizeof(listener->path) + sizeof(".lock")];
    snprintf(lock, sizeof(lock), "%s.lock", path);
    listener->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (listener->lock < 0) {
        return refuse_path(lock, "create", reterr);
    }
    if (flock(listener->lock, LOCK_EX | LOCK_NB) != 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s is in use by another process.", path);
    }
    return STATUS_OK;
}

/* Creates a socket that only its owner can use, so that nobody connects before its mode is set. */
static enum status bind_unix(const char *path, unsigned mode, struct listener *listener,
                             struct problem *reterr)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    listener->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->socket < 0 || fchmod(listener->socket, S_IRUSR | S_IWUSR) != 0 ||
        bind(listener->socket, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return refuse_path(path, "bind", reterr);
    }
    memcpy(listener->path, path, strlen(path) + 1);
    if (chmod(path, mode) != 0 || listen(listener->socket, BACKLOG) != 0) {
        return refuse_path(path, "listen on", reterr);
    }
    return STATUS_OK;
}

static enum status open_unix(const char *path, unsigned mode, struct listener *listener,
                             struct problem *reterr)
{
    enum status status = STATUS_OK;
    struct stat about;
    if (path[0] == '\0' || strlen(path) >= sizeof(listener->path)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The path of a Unix socket must have 1 to %zu bytes.",
                           sizeof(listener->path) - 1);
    }
    STATUS_TRY(acquire_lock(path, listener, reterr));
    /* Remove only a stale socket, never another file. */
    if (lstat(path, &about) != 0) {
        status = errno == ENOENT ? STATUS_OK : refuse_path(path, "examine", reterr);
    } else if (!S_ISSOCK(about.st_mode)) {
        status = problem_set(reterr, STATUS_CONFIG, "%s exists and is not a socket.", path);
    } else if (unlink(path) != 0) {
        status = refuse_path(path, "remove", reterr);
    }
    STATUS_THEN(status, bind_unix(path, mode, listener, reterr));
    listener->is_local = listener->is_unix = true;
    snprintf(listener->address, sizeof(listener->address), LISTENER_UNIX_PREFIX "%s", path);
    return status;
}

enum status listener_open(const char *address, unsigned mode, struct listener *ret_listener,
                          struct problem *reterr)
{
    struct listener listener = {.socket = -1, .lock = -1};
    const size_t prefix_size = strlen(LISTENER_UNIX_PREFIX);
    const enum status status = strncmp(address, LISTENER_UNIX_PREFIX, prefix_size) == 0
                                   ? open_unix(address + prefix_size, mode, &listener, reterr)
                                   : open_tcp(address, &listener, reterr);
    if (status != STATUS_OK) {
        listener_close(&listener);
        return status;
    }
    *ret_listener = listener;
    return STATUS_OK;
}

void listener_close(struct listener *listener)
{
    if (listener->path[0] != '\0') {
        unlink(listener->path);
        listener->path[0] = '\0';
    }
    if (listener->socket >= 0) {
        close(listener->socket);
    }
    if (listener->lock >= 0) {
        close(listener->lock);
    }
    listener->socket = listener->lock = -1;
}
