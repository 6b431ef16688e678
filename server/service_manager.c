#include "server/service.h"

#include "proto/number.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The first that is handed over: SD_LISTEN_FDS_START. */
#define FIRST_SOCKET 3
/* How a path says that it is the name of a credential. */
#define CREDENTIAL "credential:"

/* A path, or a name in the abstract namespace, written with an @ in place of its NUL. */
static bool find_address(struct sockaddr_un *ret_address, socklen_t *ret_size)
{
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t size = name != NULL ? strlen(name) : 0;
    if (size < 2 || size >= sizeof(ret_address->sun_path) || (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    memset(ret_address, 0, sizeof(*ret_address));
    ret_address->sun_family = AF_UNIX;
    memcpy(ret_address->sun_path, name, size);
    *ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (name[0] == '@') {
        ret_address->sun_path[0] = '\0';
    } else {
        ++*ret_size;
    }
    return true;
}

int service_manager_open(void)
{
    struct sockaddr_un address;
    socklen_t size;
    return find_address(&address, &size) ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
}

void service_manager_notify(int manager, const char *state)
{
    struct sockaddr_un address;
    socklen_t size;
    if (manager >= 0 && find_address(&address, &size)) {
        (void)!sendto(manager, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
                      (const struct sockaddr *)&address, size);
    }
}

/* A variable as a number above 0; 0 when it is none. */
static int64_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    int64_t number;
    return text != NULL && number_parse_integer(text, strlen(text), &number) && number > 0 ? number
                                                                                           : 0;
}

/* Meant for this process, not for one that it was started by. */
static bool is_for_us(const char *variable)
{
    return number_of(variable) == getpid();
}

uint64_t service_manager_watchdog_ms(void)
{
    const uint64_t limit_us = (uint64_t)number_of("WATCHDOG_USEC");
    if (limit_us == 0 || (getenv("WATCHDOG_PID") != NULL && !is_for_us("WATCHDOG_PID"))) {
        return 0;
    }
    return limit_us < 2000 ? 1 : limit_us / 2000;
}

static enum status check_socket(int descriptor, struct problem *reterr)
{
    int listening = 0;
    int family = AF_UNSPEC;
    socklen_t size = sizeof(listening);
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || !listening ||
        getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
        (family != AF_INET && family != AF_INET6)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The socket that the service manager handed over is not a listening TCP "
                           "socket.");
    }
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The socket that the service manager handed over cannot be used.");
    }
    return STATUS_OK;
}

enum status service_manager_take_socket(int *ret_socket, struct problem *reterr)
{
    const int64_t count = is_for_us("LISTEN_PID") ? number_of("LISTEN_FDS") : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (count == 0) {
        *ret_socket = -1;
        return STATUS_OK;
    }
    if (count > 1) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The service manager handed over %lld sockets; one is used.",
                           (long long)count);
    }
    const enum status status = check_socket(FIRST_SOCKET, reterr);
    if (status == STATUS_OK) {
        *ret_socket = FIRST_SOCKET;
    }
    return status;
}

enum status service_manager_find_credential(char *path, size_t size, struct problem *reterr)
{
    const char *name = path + strlen(CREDENTIAL);
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char found[PATH_MAX];
    if (strncmp(path, CREDENTIAL, strlen(CREDENTIAL)) != 0) {
        return STATUS_OK;
    }
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL) {
        return problem_set(reterr, STATUS_CONFIG, "%s: a credential has a name without slashes",
                           path);
    }
    if (folder == NULL || folder[0] != '/') {
        problem_set(reterr, STATUS_CONFIG, "%s: the service manager has handed over no credentials",
                    path);
        problem_hint(reterr, "name a file, or LoadCredential= in the unit of the service");
        return STATUS_CONFIG;
    }
    const int length = snprintf(found, sizeof(found), "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof(found) || (size_t)length >= size) {
        return problem_set(reterr, STATUS_CONFIG, "%s: its path is too long", path);
    }
    memcpy(path, found, (size_t)length + 1);
    return STATUS_OK;
}
