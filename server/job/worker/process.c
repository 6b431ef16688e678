#include "server/job/worker/process.h"

#include "server/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
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

/* A solver opens within this, and the driver compiles its kernels. */
#define OPEN_ALLOWANCE_S 300
/* The time allowed outside the rounds of a task, as a multiple of its expected time in all. */
#define EXPECTED_FACTOR 20.0
/* Reading graphs, writing results, and the sums of certificates and of negative cycles. */
#define BYTES_PER_S 20e6
#define STEPS_PER_S 20e6

/* A tick of the watch: an eighth of the least time in which anything is judged. */
#define TICK_MS_MAX 1000
#define TICKS_PER_STALL 8

#define GAP_FACTOR 20.0
#define HURRIED_S 5.0
#define ELAPSED_FACTOR 4.0
/* A dense plan has a round for every so many vertices, at most. */
#define ROUND_VERTICES_MAX 256

/* ---- Its start and its end ---- */

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

/* ---- The watch ---- */

void worker_watch_begin(struct worker_watch *watch, const struct task *task, double stall_s,
                        double allowance_s)
{
    *watch = (struct worker_watch){.task = task,
                                   .stall_s = stall_s,
                                   .allowance_s = allowance_s,
                                   .is_hurried = watch->is_hurried,
                                   .heartbeats = watch->heartbeats,
                                   .progress = UINT64_MAX};
}

static enum task_loss check_progress(struct worker_watch *watch, const struct task_signal *signal,
                                     double stall_s, double tick_s)
{
    const uint32_t done = atomic_load(&signal->rounds_done);
    const uint32_t total = atomic_load(&signal->rounds_total);
    /* A number that changes with every step of the task. */
    const uint64_t progress =
        (uint64_t)done + total + (atomic_load(&signal->begun_at_s) > 0 ? 1 : 0);
    const double among_s = fmax(stall_s, GAP_FACTOR * watch->longest_gap_s);
    double limit_s = among_s;
    watch->elapsed_s += tick_s;
    watch->gap_s += tick_s;
    if (progress != watch->progress) {
        /* The gap before the first round tells nothing about the others. */
        if (done > 1) {
            watch->longest_gap_s = fmax(watch->longest_gap_s, watch->gap_s - tick_s);
        }
        watch->progress = progress;
        watch->gap_s = 0;
        return TASK_LOSS_NONE;
    }
    if (done == 0 || done >= total) {
        limit_s = fmax(among_s, watch->allowance_s);
    } else if ((uint64_t)total * ROUND_VERTICES_MAX < watch->task->vertex_count) {
        limit_s = fmax(among_s, ELAPSED_FACTOR * watch->elapsed_s);
    }
    return watch->gap_s > limit_s ? TASK_LOSS_STALLED : TASK_LOSS_NONE;
}

enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s)
{
    const uint32_t heartbeats = atomic_load(&shared->heartbeats);
    const double stall_s = watch->is_hurried ? fmin(watch->stall_s, HURRIED_S) : watch->stall_s;
    watch->silence_s = heartbeats != watch->heartbeats ? 0 : watch->silence_s + tick_s;
    watch->heartbeats = heartbeats;
    if (watch->silence_s > stall_s) {
        return TASK_LOSS_SILENT;
    }
    if (watch->task != NULL) {
        return check_progress(watch, &shared->signal, stall_s, tick_s);
    }
    watch->elapsed_s += tick_s;
    return watch->allowance_s > 0 && watch->elapsed_s > fmin(watch->allowance_s, stall_s)
               ? TASK_LOSS_STALLED
               : TASK_LOSS_NONE;
}

static void watch_from_now(struct worker_process *process, const struct task *task, double stall_s,
                           double allowance_s)
{
    process->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&process->watch, task, stall_s, allowance_s);
}

/* Until the socket is ready for events, or has hung up; or, with wakeup, until that is readable.
 * Ticks are counted, not time: one that lasted long because this thread did not run is a short
 * one. */
static enum task_loss await(struct worker_process *process, short events, bool wakeup)
{
    struct pollfd files[] = {{.fd = process->socket, .events = events},
                             {.fd = process->wakeup, .events = POLLIN}};
    const uint32_t tick = process->stall_s * 1000 / TICKS_PER_STALL;
    const int tick_ms = tick < TICK_MS_MAX ? (int)tick : TICK_MS_MAX;
    enum task_loss loss = TASK_LOSS_NONE;
    int ready = 0;
    while (ready <= 0 && loss == TASK_LOSS_NONE) {
        ready = poll(files, wakeup ? 2 : 1, tick_ms);
        const double now_s = clock_monotonic_s();
        const double tick_s = fmin(now_s - process->looked_at_s, 2e-3 * tick_ms);
        process->looked_at_s = now_s;
        process->watch.is_hurried = atomic_load(&process->is_hurried);
        loss = worker_watch_tick(&process->watch, process->shared, tick_s);
    }
    return loss;
}

/* ---- Its messages ---- */

static enum task_loss send_message(struct worker_process *process,
                                   const struct wire_message *message, const int *descriptors)
{
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_send(process->socket, message, descriptors)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(process, POLLOUT, false);
    }
    return status == STATUS_IO ? TASK_LOSS_EXIT : loss;
}

/* No message of a worker's has descriptors. */
static enum task_loss receive_message(struct worker_process *process,
                                      struct wire_message *ret_message)
{
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_receive(process->socket, ret_message, NULL)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(process, POLLIN, false);
    }
    return status == STATUS_IO        ? TASK_LOSS_EXIT
           : status == STATUS_CORRUPT ? TASK_LOSS_PROTOCOL
                                      : loss;
}

enum task_loss worker_process_open(struct worker_process *process, const struct worker_setup *setup,
                                   struct wire_opened *ret_opened)
{
    struct wire_message message = {.type = WIRE_SETUP, .body.setup = *setup};
    *ret_opened = (struct wire_opened){0};
    watch_from_now(process, NULL, OPEN_ALLOWANCE_S, OPEN_ALLOWANCE_S);
    enum task_loss loss = send_message(process, &message, &process->shared_descriptor);
    if (loss == TASK_LOSS_NONE) {
        loss = receive_message(process, &message);
    }
    worker_watch_begin(&process->watch, NULL, process->stall_s, 0);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    if (message.type != WIRE_OPENED ||
        worker_protocol_take_opened(&message.body.opened, setup, &ret_opened->facts) != STATUS_OK) {
        return TASK_LOSS_PROTOCOL;
    }
    ret_opened->figures = message.body.opened.figures;
    return TASK_LOSS_NONE;
}

/* Time outside the rounds: reading, writing, and all that is computed beside them. */
static double allow_s(const struct solver *model, const struct task *task)
{
    /* 16 bits take the pace of i4, whichever way they are computed. */
    const enum kind kind = task->kind == KIND_U2 ? KIND_I4 : task->kind;
    const struct solve_options plain = {0};
    struct solver_estimate estimate = {0};
    const double n = task->vertex_count;
    const double m = (double)task->edge_count;
    const double rows = fmin(n, SOLVE_VERIFY_ROWS);
    if (solver_supports(model, kind)) {
        solver_estimate(model, task->vertex_count, task->edge_count, kind, &plain, &estimate);
    }
    return EXPECTED_FACTOR * fmax(estimate.seconds, 0) +
           (16 * m + (double)result_file_bytes(task->file)) / BYTES_PER_S +
           (task->verify ? rows * (n + m) : 0) / STEPS_PER_S +
           (task->negative ? n * m : 0) / STEPS_PER_S;
}

enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                    struct solver *model)
{
    const int descriptors[] = {task->graph_descriptor, result_file_descriptor(task->file)};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){
        .vertex_count = task->vertex_count, .kind = (uint32_t)task->kind, .verify = task->verify};
    memcpy(message.body.task.graph_id, task->graph_id, sizeof(task->graph_id));
    watch_from_now(process, task, process->stall_s, allow_s(model, task));
    enum task_loss loss = send_message(process, &message, descriptors);
    while (loss == TASK_LOSS_NONE) {
        loss = receive_message(process, &message);
        if (loss != TASK_LOSS_NONE) {
            break;
        }
        enum status status = STATUS_CORRUPT;
        if (message.type == WIRE_CYCLE) {
            status = worker_protocol_take_cycle(&message.body.cycle, task);
        } else if (message.type == WIRE_DONE) {
            status = worker_protocol_take_done(&message.body.done, task);
        }
        /* A process that has lost its device says so by its exit code. */
        if (status != STATUS_OK ||
            (message.type == WIRE_DONE && task->status == STATUS_DEVICE_LOST)) {
            loss = TASK_LOSS_PROTOCOL;
        } else if (message.type == WIRE_DONE) {
            solver_set_figures(model, &message.body.done.figures);
            break;
        }
    }
    worker_watch_begin(&process->watch, NULL, process->stall_s, 0);
    return loss;
}

enum task_loss worker_process_idle(struct worker_process *process)
{
    struct pollfd socket = {.fd = process->socket, .events = POLLIN};
    const enum task_loss loss = await(process, POLLIN, true);
    if (loss != TASK_LOSS_NONE || poll(&socket, 1, 0) <= 0) {
        return loss;
    }
    /* Nobody asked it anything: whatever it says is wrong. */
    return (socket.revents & POLLHUP) != 0 ? TASK_LOSS_EXIT : TASK_LOSS_PROTOCOL;
}
