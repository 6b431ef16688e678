#include "server/job/worker/process.h"

#include "server/job/worker/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that does not end within this after SIGKILL is stuck in the kernel, or takes long to
 * give back what it has: either way it goes on without it. */
#define KILL_WAIT_MS 1000

/* The process inherits the socket and standard error; all other descriptors are closed or null. */
static int fill_actions(posix_spawn_file_actions_t *actions, int socket)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, socket, WORKER_PROCESS_SOCKET);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(actions, WORKER_PROCESS_SOCKET + 1);
    }
    return error;
}

static int fill_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(int socket, pid_t *ret_pid)
{
    char descriptor[16];
    char name[] = "apspd";
    char flag[] = WORKER_PROCESS_FLAG;
    char *arguments[] = {name, flag, descriptor, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    snprintf(descriptor, sizeof(descriptor), "%d", WORKER_PROCESS_SOCKET);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = fill_actions(&actions, socket);
        error = error != 0 ? error : fill_attributes(&attributes);
        /* The file that this process runs, whatever has taken its name since. */
        error = error != 0 ? error
                           : posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes,
                                         arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* It is nobody's yet: no other thread waits for it. */
static void give_up(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

enum status worker_process_start(struct worker_process *ret_process)
{
    int sockets[2];
    struct worker_process process = {.pidfd = -1};
    if (worker_protocol_pair(sockets) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    const int error = spawn(sockets[1], &process.pid);
    close(sockets[1]);
    if (error == 0) {
        process.pidfd = pidfd_open(process.pid, 0);
    }
    if (error == 0 && process.pidfd < 0) {
        give_up(process.pid);
    }
    if (process.pidfd < 0 || fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0) {
        close(sockets[0]);
        return STATUS_NO_MEMORY;
    }
    process.socket = sockets[0];
    *ret_process = process;
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

static void reap(const struct worker_process *process, enum task_loss *ret_loss, int *ret_code)
{
    int status = 0;
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    *ret_loss = WIFSIGNALED(status) ? TASK_LOSS_SIGNAL : TASK_LOSS_EXIT;
    *ret_code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

enum status worker_process_end(struct worker_process *process, int grace_ms,
                               enum task_loss *ret_loss, int *ret_code)
{
    close(process->socket);
    bool ended = has_ended(process, grace_ms);
    if (!ended) {
        kill(process->pid, SIGKILL);
        ended = has_ended(process, KILL_WAIT_MS);
    }
    if (!ended) {
        return STATUS_DEVICE_LOST;
    }
    reap(process, ret_loss, ret_code);
    close(process->pidfd);
    return STATUS_OK;
}

bool worker_process_await(struct worker_process *process, int bell)
{
    struct pollfd files[] = {{.fd = process->pidfd, .events = POLLIN},
                             {.fd = bell, .events = POLLIN}};
    enum task_loss loss;
    int code;
    if (poll(files, 2, -1) <= 0 || files[0].revents == 0) {
        return false;
    }
    reap(process, &loss, &code);
    close(process->pidfd);
    return true;
}

void worker_process_leave_behind(struct worker_process *process)
{
    close(process->pidfd);
}
