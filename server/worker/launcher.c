#include "server/worker/launcher.h"

#include "server/worker/child.h"
#include "server/worker/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Grace period for ranks, which may be on other hosts, to exit before the launcher is killed. */
#define GRACE_MS 5000
#define RANK_PROGRAM "apsp-mpi"
#define NAME_SIZE 32
/* Wait status of a shell that cannot start a program. */
#define NOT_STARTED (126 << 8)

/* Commands to the helper process, which replies to START with the wait status of the ranks. */
#define START 's'
#define KILL 'k'

/* Returns whether the peer of the socket runs as the same user as this process. */
static bool has_our_user(int socket)
{
    struct ucred other;
    socklen_t size = sizeof(other);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == geteuid();
}

/* Listens on an abstract socket: the kernel chooses its name, and it leaves no file behind. */
static int listen_for_rank(char ret_name[NAME_SIZE])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr *named = (struct sockaddr *)&address;
    socklen_t size = sizeof(address.sun_family);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, named, size) != 0 || listen(listener, 1) != 0) {
        close(listener);
        return -1;
    }
    size = sizeof(address);
    CHECK(getsockname(listener, named, &size) == 0);
    const size_t length = size - offsetof(struct sockaddr_un, sun_path) - 1;
    snprintf(ret_name, NAME_SIZE, "%.*s", (int)length, address.sun_path + 1);
    return listener;
}

int worker_launcher_accept(const struct worker_launcher *launcher)
{
    const int socket = accept4(launcher->listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket >= 0 && !has_our_user(socket)) {
        close(socket);
        return -1;
    }
    return socket;
}

int worker_launcher_connect(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(name);
    const size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + length;
    const int daemon = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (daemon >= 0 && length < sizeof(address.sun_path)) {
        memcpy(address.sun_path + 1, name, length);
        if (connect(daemon, (struct sockaddr *)&address, (socklen_t)size) == 0 &&
            has_our_user(daemon)) {
            return daemon;
        }
    }
    close(daemon);
    return -1;
}

/* Waits for the launcher and returns its wait status. After KILL or the daemon's end, sends SIGTERM
 * and, GRACE_MS later, SIGKILL, because only the launcher can end ranks on other hosts. */
static int watch_ranks(int channel, pid_t pid)
{
    enum { CHANNEL, LAUNCHER };
    struct pollfd files[] = {{.fd = channel, .events = POLLIN},
                             {.fd = pidfd_open(pid, 0), .events = POLLIN}};
    int status = NOT_STARTED;
    int next = SIGTERM;
    char order;
    while (files[LAUNCHER].fd >= 0 && files[LAUNCHER].revents == 0) {
        const int ready = poll(files, 2, next == SIGKILL ? GRACE_MS : -1);
        /* KILL was received, the daemon has ended, or GRACE_MS have passed since either event. */
        if (ready == 0 || (ready > 0 && files[CHANNEL].revents != 0)) {
            if (ready > 0 && read(channel, &order, 1) <= 0) {
                files[CHANNEL].fd = -1;
            }
            kill(-pid, next);
            next = next == SIGTERM ? SIGKILL : 0;
        }
    }
    close(files[LAUNCHER].fd);
    kill(-pid, SIGKILL); /* the rest of the launcher's process group */
    waitpid(pid, &status, 0);
    return status;
}

static _Noreturn void run_launcher(int channel, const char *command, char *program, char *name)
{
    char shell[] = "sh";
    char option[] = "-c";
    char flag[] = WORKER_RANK_FLAG;
    char *text = NULL;
    char order;
    /* Like a worker process, the helper process ends only when the daemon closes the socket. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    CHECK(asprintf(&text, "exec %s \"$@\"", command) > 0);
    CHECK(dup2(channel, WORKER_SOCKET) == WORKER_SOCKET);
    CHECK(fcntl(WORKER_SOCKET, F_SETFD, FD_CLOEXEC) == 0);
    close_range(WORKER_SOCKET + 1, UINT_MAX, 0);
    while (read(WORKER_SOCKET, &order, 1) == 1) {
        char *const arguments[] = {shell, option, text, shell, program, flag, name, NULL};
        pid_t pid;
        int status = NOT_STARTED;
        /* KILL is ignored here: it may arrive after the ranks have ended. */
        if (order == START) {
            if (program_start("/bin/sh", arguments, -1, &pid) == 0) {
                status = watch_ranks(WORKER_SOCKET, pid);
            }
            (void)!write(WORKER_SOCKET, &status, sizeof(status));
        }
    }
    _exit(0);
}

static enum status find_program(char ret_path[PATH_MAX], struct problem *reterr)
{
    const ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - sizeof(RANK_PROGRAM));
    char *slash = size > 0 ? memrchr(ret_path, '/', (size_t)size) : NULL;
    if (slash == NULL) {
        return problem_set(reterr, STATUS_CONFIG, "The folder of this program cannot be found.");
    }
    memcpy(slash + 1, RANK_PROGRAM, sizeof(RANK_PROGRAM));
    if (access(ret_path, X_OK) != 0) {
        return problem_refuse(reterr, STATUS_CONFIG, "install a build of apspd with Open MPI",
                              "solver.launcher needs %s, which is missing", ret_path);
    }
    return STATUS_OK;
}

enum status worker_launcher_start(const char *command, struct worker_launcher *ret_launcher,
                                  struct problem *reterr)
{
    char path[PATH_MAX];
    char name[NAME_SIZE];
    int sockets[2];
    STATUS_TRY(find_program(path, reterr));
    const int listener = listen_for_rank(name);
    if (listener < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        close(listener);
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "The socket of the launcher cannot be opened.");
    }
    const pid_t pid = fork();
    if (pid == 0) {
        run_launcher(sockets[1], command, path, name);
    }
    close(sockets[1]);
    if (pid < 0) {
        close(sockets[0]);
        close(listener);
        return problem_set(reterr, STATUS_NO_MEMORY, "The launcher process cannot be started.");
    }
    *ret_launcher = (struct worker_launcher){sockets[0], listener, pid};
    return STATUS_OK;
}

void worker_launcher_stop(struct worker_launcher *launcher)
{
    if (launcher->channel >= 0) {
        close(launcher->channel);
        close(launcher->listener);
        while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

static bool send_order(const struct worker_launcher *launcher, char order)
{
    return send(launcher->channel, &order, 1, MSG_NOSIGNAL) == 1;
}

int worker_launcher_run(const struct worker_launcher *launcher)
{
    return send_order(launcher, START) ? fcntl(launcher->channel, F_DUPFD_CLOEXEC, 0) : -1;
}

void worker_launcher_kill(const struct worker_launcher *launcher)
{
    (void)send_order(launcher, KILL);
}
