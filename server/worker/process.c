/* The start and the end of a worker's process, as the daemon sees it. Ranks are started and ended
 * by the process of a launcher, which was there before the sandbox: it runs what the operator has
 * named, and of the daemon it takes no more than a descriptor and the order to start or to kill. */
#include "server/worker/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a process that is told to leave: closing a device takes a while. */
#define GRACE_MS 5000
/* For one that has hung up: it is ending, or it never will. */
#define HUNG_UP_GRACE_MS 2000
/* A process that does not end within this after SIGKILL is stuck in the kernel, or takes long to
 * give back what it has: either way it goes on without it. */
#define KILL_WAIT_MS 1000
/* For a launcher that was told to end its ranks, which may be on other hosts; it is killed then. */
#define RANKS_GRACE_MS 5000
#define RANKS_KILL_WAIT_MS (2 * RANKS_GRACE_MS)
#define RANK_PROGRAM "apspd-mpi"
#define NAME_SIZE 32
/* As a shell has it, where it cannot start a program. */
#define NOT_STARTED (126 << 8)

/* The process inherits the socket, if it is not negative, and standard error; all other descriptors
 * are closed or null. Without a socket it leads a process group of its own. */
static int spawn(const char *program, char *const *arguments, int socket, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    /* In glibc these two only clear what they get. */
    CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (socket < 0 ? POSIX_SPAWN_SETPGROUP : 0)));
    int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0 && socket >= 0) {
        error = posix_spawn_file_actions_adddup2(&actions, socket, WORKER_SOCKET);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_SOCKET + (socket >= 0));
    }
    if (error == 0) {
        error = posix_spawnp(ret_pid, program, &actions, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* A process of this program. Returns its pidfd; -1 on failure. */
static int start_process(int socket, pid_t *ret_pid)
{
    char name[] = "apspd";
    char flag[] = WORKER_FLAG;
    char descriptor[16];
    char *arguments[] = {name, flag, descriptor, NULL};
    snprintf(descriptor, sizeof(descriptor), "%d", WORKER_SOCKET);
    /* The file that this process runs, whatever has taken its name since. */
    if (spawn("/proc/self/exe", arguments, socket, ret_pid) != 0) {
        return -1;
    }
    const int pidfd = pidfd_open(*ret_pid, 0);
    if (pidfd < 0) {
        kill(*ret_pid, SIGKILL);
        waitpid(*ret_pid, NULL, 0);
    }
    return pidfd;
}

/* Ranks. Returns the end of a pipe by which the launcher tells how they ended; -1 on failure. */
static int start_ranks(const struct worker_launcher *launcher, int socket)
{
    const struct wire_message message = {.type = WIRE_LAUNCH};
    int ended[2];
    if (pipe2(ended, O_CLOEXEC) != 0) {
        return -1;
    }
    const int descriptors[] = {socket, ended[1]};
    const enum status status = worker_protocol_send(launcher->channel, &message, descriptors);
    close(ended[1]);
    if (status != STATUS_OK) {
        close(ended[0]);
        return -1;
    }
    return ended[0];
}

enum status worker_process_start(struct worker_process *process)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return STATUS_NO_MEMORY;
    }
    const int pidfd = process->launcher == NULL ? start_process(sockets[1], &process->pid)
                                                : start_ranks(process->launcher, sockets[1]);
    process->pid = process->launcher == NULL ? process->pid : process->launcher->pid;
    close(sockets[1]);
    if (pidfd < 0) {
        close(sockets[0]);
        return STATUS_NO_MEMORY;
    }
    CHECK(fcntl(sockets[0], F_SETFL, O_NONBLOCK) == 0);
    process->pidfd = pidfd;
    process->socket = sockets[0];
    process->is_running = true;
    return STATUS_OK;
}

static bool has_ended(const struct worker_process *process, int wait_ms)
{
    struct pollfd look = {.fd = process->pidfd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&look, 1, wait_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static int reap(const struct worker_process *process)
{
    int status = 0;
    if (process->launcher != NULL) {
        /* Nothing comes where the launcher itself is gone. */
        const ssize_t size = read(process->pidfd, &status, sizeof(status));
        status = size == sizeof(status) ? status : SIGKILL;
    } else {
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    close(process->pidfd);
    return status;
}

static void kill_process(const struct worker_process *process)
{
    const struct wire_message message = {.type = WIRE_KILL};
    if (process->launcher == NULL) {
        kill(process->pid, SIGKILL);
    } else if (worker_protocol_send(process->launcher->channel, &message, NULL) != STATUS_OK) {
        return; /* it is gone, and whom it has started with it */
    }
}

void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code)
{
    const int grace_ms = *loss == TASK_LOSS_NONE   ? GRACE_MS
                         : *loss == TASK_LOSS_EXIT ? HUNG_UP_GRACE_MS
                                                   : 0;
    *ret_code = 0;
    process->is_running = false;
    close(process->socket);
    process->is_stuck = !has_ended(process, grace_ms);
    if (process->is_stuck) {
        kill_process(process);
        process->is_stuck =
            !has_ended(process, process->launcher == NULL ? KILL_WAIT_MS : RANKS_KILL_WAIT_MS);
    }
    if (process->is_stuck) {
        return;
    }
    const int status = reap(process);
    *ret_code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (*loss == TASK_LOSS_EXIT && WIFSIGNALED(status)) {
        *loss = TASK_LOSS_SIGNAL;
    }
}

bool worker_process_wait(struct worker_process *process, int wait_ms)
{
    struct pollfd files[] = {{.fd = process->is_stuck ? process->pidfd : -1, .events = POLLIN},
                             {.fd = process->wakeup, .events = POLLIN}};
    if (poll(files, 2, process->is_stuck ? -1 : wait_ms) <= 0 || files[0].revents == 0) {
        return false;
    }
    reap(process);
    process->is_stuck = false;
    return true;
}

/* ---- The process of a launcher ---- */

bool worker_process_is_ours(int socket)
{
    struct ucred other;
    socklen_t size = sizeof(other);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == geteuid();
}

/* The kernel chooses a name that no other socket has, and that leaves no file behind. */
static int listen_for_rank(char ret_name[NAME_SIZE])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr *named = (struct sockaddr *)&address;
    socklen_t size = sizeof(address.sun_family);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
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

/* Returns whether the one who has connected got it. */
static bool pass_socket(int listener, int socket)
{
    const struct wire_message message = {.type = WIRE_SOCKET};
    const int rank = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const bool passed = rank >= 0 && worker_process_is_ours(rank) &&
                        worker_protocol_send(rank, &message, &socket) == STATUS_OK;
    close(rank);
    return passed;
}

/* Returns how the launcher ended. It is asked to end by SIGTERM, as only it reaches ranks on other
 * hosts, and killed when it takes long. */
static int watch_ranks(int channel, int listener, int *socket, pid_t pid)
{
    enum { CHANNEL, LISTENER, LAUNCHER };
    struct pollfd files[] = {{.fd = channel, .events = POLLIN},
                             {.fd = listener, .events = POLLIN},
                             {.fd = pidfd_open(pid, 0), .events = POLLIN}};
    struct wire_message message;
    int status = NOT_STARTED;
    int next = SIGTERM;
    while (files[LAUNCHER].fd >= 0 && files[LAUNCHER].revents == 0) {
        const int ready = poll(files, 3, next == SIGKILL ? RANKS_GRACE_MS : -1);
        if (ready < 0) {
            continue;
        }
        if (files[LISTENER].revents != 0 && pass_socket(listener, *socket)) {
            files[LISTENER].fd = -1;
            close(*socket);
            *socket = -1;
        }
        /* KILL, or the end of the daemon; or the time after it is up. */
        if (ready == 0 || files[CHANNEL].revents != 0) {
            if (ready > 0 && worker_protocol_receive(channel, &message, NULL) == STATUS_IO) {
                files[CHANNEL].fd = -1;
            }
            kill(-pid, next);
            next = next == SIGTERM ? SIGKILL : 0;
        }
    }
    close(files[LAUNCHER].fd);
    kill(-pid, SIGKILL); /* whom it has left in its process group */
    waitpid(pid, &status, 0);
    return status;
}

static void run_ranks(int channel, const char *command, char *program, int socket, int ended)
{
    char shell[] = "sh";
    char option[] = "-c";
    char text[CONFIG_TEXT_SIZE + sizeof("exec  \"$@\"")];
    char flag[] = WORKER_RANK_FLAG;
    char name[NAME_SIZE];
    char *const arguments[] = {shell, option, text, shell, program, flag, name, NULL};
    pid_t pid;
    int status = NOT_STARTED;
    const int listener = listen_for_rank(name);
    snprintf(text, sizeof(text), "exec %s \"$@\"", command);
    if (listener >= 0 && spawn("/bin/sh", arguments, -1, &pid) == 0) {
        status = watch_ranks(channel, listener, &socket, pid);
    }
    close(listener);
    close(socket);
    const ssize_t ignored = write(ended, &status, sizeof(status));
    (void)ignored;
    close(ended);
}

static _Noreturn void run_launcher(int channel, const char *command, char *program)
{
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    enum status status;
    /* As of a worker's process: the daemon says when. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    CHECK(dup2(channel, WORKER_SOCKET) == WORKER_SOCKET);
    CHECK(fcntl(WORKER_SOCKET, F_SETFD, FD_CLOEXEC) == 0);
    close_range(WORKER_SOCKET + 1, UINT_MAX, 0);
    while ((status = worker_protocol_receive(WORKER_SOCKET, &message, descriptors)) != STATUS_IO) {
        /* A KILL may have come too late for the ranks that it meant. */
        if (status == STATUS_OK && message.type == WIRE_LAUNCH) {
            run_ranks(WORKER_SOCKET, command, program, descriptors[0], descriptors[1]);
        }
    }
    _exit(0);
}

/* The program of the ranks is beside that of this process. */
static enum status find_program(char ret_path[PATH_MAX], struct problem *reterr)
{
    const ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - sizeof(RANK_PROGRAM));
    char *slash = size > 0 ? memrchr(ret_path, '/', (size_t)size) : NULL;
    if (slash == NULL) {
        return problem_set(reterr, STATUS_CONFIG, "The folder of this program is not known.");
    }
    memcpy(slash + 1, RANK_PROGRAM, sizeof(RANK_PROGRAM));
    if (access(ret_path, X_OK) != 0) {
        problem_set(reterr, STATUS_CONFIG, "solver.launcher needs %s, which is not there",
                    ret_path);
        problem_hint(reterr, "a build with Open MPI has it");
        return STATUS_CONFIG;
    }
    return STATUS_OK;
}

enum status worker_launcher_start(const char *command, struct worker_launcher *ret_launcher,
                                  struct problem *reterr)
{
    char path[PATH_MAX];
    int sockets[2];
    const enum status status = find_program(path, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no socket for the launcher.");
    }
    const pid_t pid = fork();
    if (pid == 0) {
        run_launcher(sockets[1], command, path);
    }
    close(sockets[1]);
    if (pid < 0) {
        close(sockets[0]);
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no process for the launcher.");
    }
    *ret_launcher = (struct worker_launcher){sockets[0], pid};
    return STATUS_OK;
}

void worker_launcher_stop(struct worker_launcher *launcher)
{
    if (launcher->channel >= 0) {
        close(launcher->channel);
        while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}
