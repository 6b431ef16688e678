#include "server/http/listener.h"

#include "proto/number.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

static bool copy(const char *bytes, size_t size, char *to, size_t to_size)
{
    if (size >= to_size) {
        return false;
    }
    memcpy(to, bytes, size);
    to[size] = '\0';
    return true;
}

/* False when it is not an address. */
static bool split(const char *address, char *ret_host, size_t host_size, char *ret_port,
                  size_t port_size)
{
    const char *colon = strrchr(address, ':');
    const char *first = address;
    const char *end = colon;
    int64_t port;

    if (colon == NULL || !number_parse_integer(colon + 1, strlen(colon + 1), &port) || port < 0 ||
        port > 65535) {
        return false;
    }
    if (address[0] == '[') {
        if (end - first < 2 || end[-1] != ']') {
            return false;
        }
        first++;
        end--;
    }
    /* A bare IPv6 address would leave it open where the port starts. */
    if (address[0] != '[' && memchr(first, ':', (size_t)(end - first)) != NULL) {
        return false;
    }
    return copy(first, (size_t)(end - first), ret_host, host_size) &&
           copy(colon + 1, strlen(colon + 1), ret_port, port_size);
}

static int open_one(const struct addrinfo *info)
{
    int on = 1;
    int descriptor = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor < 0) {
        return -1;
    }
    /* A restart must not wait for the connections of the process before it. */
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(descriptor, info->ai_addr, info->ai_addrlen) == 0 &&
        listen(descriptor, BACKLOG) == 0) {
        return descriptor;
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static bool print_url(int descriptor, char *ret_url, size_t url_size)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];

    if (getsockname(descriptor, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    bool is_v6 = strchr(host, ':') != NULL;
    int length = snprintf(ret_url, url_size, "http://%s%s%s:%s", is_v6 ? "[" : "", host,
                          is_v6 ? "]" : "", port);
    return length > 0 && (size_t)length < url_size;
}

enum status listener_open(const char *address, int *ret_socket, char *ret_url, size_t url_size,
                          struct problem *reterr)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[NI_MAXHOST];
    char port[8];
    int descriptor = -1;

    if (!split(address, host, sizeof host, port, sizeof port)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "http.listen is \"%s\", which is not HOST:PORT or [IPv6]:PORT.",
                           address);
    }
    int failed = getaddrinfo(host[0] == '\0' ? NULL : host, port, &hints, &found);
    if (failed != 0) {
        return problem_set(reterr, STATUS_CONFIG, "Cannot find the address \"%s\": %s.", address,
                           gai_strerror(failed));
    }
    for (const struct addrinfo *at = found; at != NULL && descriptor < 0; at = at->ai_next) {
        descriptor = open_one(at);
    }
    int reason = errno;
    freeaddrinfo(found);
    if (descriptor < 0) {
        return problem_set(reterr, STATUS_CONFIG, "Cannot listen on %s: %s.", address,
                           strerror(reason));
    }
    if (!print_url(descriptor, ret_url, url_size)) {
        close(descriptor);
        return problem_set(reterr, STATUS_CONFIG, "Cannot tell the address of %s.", address);
    }
    *ret_socket = descriptor;
    return STATUS_OK;
}
