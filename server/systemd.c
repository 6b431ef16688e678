#include "server/systemd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

/* A path with this prefix names a credential. */
#define CREDENTIAL "credential:"
#define NOTIFY_LIMIT_US 100000

enum status systemd_receive_socket(int *ret_socket, struct problem *reterr)
{
    const int first = SD_LISTEN_FDS_START;
    const int count = sd_listen_fds(true);
    if (count < 0) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The sockets of the service manager cannot be used: %s.",
                           strerror(-count));
    }
    if (count > 1) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The service manager passed %d sockets; apspd uses only one.", count);
    }
    if (count == 1 && (sd_is_socket_inet(first, 0, SOCK_STREAM, true, 0) <= 0 ||
                       fcntl(first, F_SETFL, fcntl(first, F_GETFL) | O_NONBLOCK) != 0)) {
        return problem_set(reterr, STATUS_CONFIG,
                           "The socket of the service manager is not a listening TCP socket.");
    }
    *ret_socket = count == 1 ? first : -1;
    return STATUS_OK;
}

enum status systemd_find_credential(char *path, size_t size, struct problem *reterr)
{
    const char *name = path + strlen(CREDENTIAL);
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char found[PATH_MAX];
    if (strncmp(path, CREDENTIAL, strlen(CREDENTIAL)) != 0) {
        return STATUS_OK;
    }
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL) {
        return problem_set(
            reterr, STATUS_CONFIG,
            "%s: a credential name must not be empty, contain a slash or begin with a dot", path);
    }
    if (folder == NULL || folder[0] != '/') {
        return problem_refuse(reterr, STATUS_CONFIG,
                              "specify a file, or add LoadCredential= to the unit of the service",
                              "%s: the service manager has passed no credentials", path);
    }
    const int length = snprintf(found, sizeof(found), "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof(found) || (size_t)length >= size) {
        return problem_set(reterr, STATUS_CONFIG, "%s: the path of the credential is too long",
                           path);
    }
    memcpy(path, found, (size_t)length + 1);
    return STATUS_OK;
}

/* NOTIFY_SOCKET with an initial "@" is an abstract socket, whose address begins with NUL. */
void systemd_notify(const char *state)
{
    const struct timeval limit = {.tv_usec = NOTIFY_LIMIT_US};
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t length = name != NULL ? strlen(name) : 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (length < 2 || length > sizeof(address.sun_path)) {
        return;
    }
    memcpy(address.sun_path, name, length);
    address.sun_path[0] = (char)(name[0] == '@' ? '\0' : name[0]);
    const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (descriptor >= 0) {
        (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        (void)!sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                      size);
        close(descriptor);
    }
}
