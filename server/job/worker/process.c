/* The start and the end of a worker's process, as the daemon sees it. */
#include "server/job/worker/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* For a process that is told to leave: closing a device takes a while. */
#define GRACE_MS 5000
/* For one that has hung up: it is ending, or it never will. */
#define HUNG_UP_GRACE_MS 2000
/* A process that does not end within this after SIGKILL is stuck in the kernel, or takes long to
 * give back what it has: either way it goes on without it. */
#define KILL_WAIT_MS 1000

/* The process inherits the socket and standard error; all other descriptors are closed or null. */
static int spawn(int socket, pid_t *ret_pid)
{
    char name[] = "apspd";
    char flag[] = WORKER_FLAG;
    char descriptor[16];
    char *arguments[] = {name, flag, descriptor, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    snprintf(descriptor, sizeof(descriptor), "%d", WORKER_SOCKET);
    sigemptyset(&none);
    sigfillset(&all);
    /* In glibc these two only clear what they get. */
    CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, socket, WORKER_SOCKET);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_SOCKET + 1);
    }
    if (error == 0) {
        /* The file that this process runs, whatever has taken its name since. */
        error = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

enum status worker_process_start(struct worker_process *process)
{
    int sockets[2];
    int pidfd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return STATUS_NO_MEMORY;
    }
    const int error = spawn(sockets[1], &process->pid);
    close(sockets[1]);
    if (error == 0) {
        pidfd = pidfd_open(process->pid, 0);
        if (pidfd < 0) {
            kill(process->pid, SIGKILL);
            waitpid(process->pid, NULL, 0);
        }
    }
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
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(process->pidfd);
    return status;
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
        kill(process->pid, SIGKILL);
        process->is_stuck = !has_ended(process, KILL_WAIT_MS);
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
