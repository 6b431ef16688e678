#include "server/worker/process.h"

#include "server/clock.h"
#include "server/worker/child.h"
#include "server/worker/estimate.h"
#include "server/worker/program.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time that a process has to exit after its socket is closed, because devices close slowly. */
#define GRACE_MS 5000
/* A process that does not end within this time after SIGKILL is stuck in the kernel or slow to free
 * memory; the worker continues without it. Ranks get longer, as they are first asked to end. */
#define KILL_WAIT_MS 1000
#define RANKS_KILL_WAIT_MS 10000
/* Time that a solver may take to open, including the driver's compilation of kernels. */
#define OPEN_ALLOWANCE_S 300
/* Time that one round may take, as a multiple of the expected time of the whole task: if a plan has
 * few rounds, the last round takes most of that time. */
#define EXPECTED_FACTOR 20.0
/* Lower bounds on the speed of file access, and of certificates and cycle searches. */
#define BYTES_PER_S 20e6
#define STEPS_PER_S 20e6
/* Seconds that a slow processor takes per vertex and per edge to compute a hierarchy. */
#define HIERARCHY_STEP_S 2e-5
/* A tick of the watch is an eighth of the shortest deadline, at most TICK_MS_MAX. */
#define TICK_MS_MAX 1000
#define TICKS_PER_STALL 8

/* Starts this program as a worker process. Returns its pidfd, or -1 on failure. */
static int start_process(int socket, pid_t *ret_pid)
{
    char name[] = "apspd";
    char flag[] = WORKER_FLAG;
    char descriptor[16];
    char *arguments[] = {name, flag, descriptor, NULL};
    snprintf(descriptor, sizeof(descriptor), "%d", WORKER_SOCKET);
    /* /proc/self/exe is the running program, even if another file now has its name. */
    if (program_start("/proc/self/exe", arguments, socket, ret_pid) != 0) {
        return -1;
    }
    const int pidfd = pidfd_open(*ret_pid, 0);
    if (pidfd < 0) {
        kill(*ret_pid, SIGKILL);
        waitpid(*ret_pid, NULL, 0);
    }
    return pidfd;
}

enum status worker_process_start(struct worker_process *process)
{
    int sockets[2];
    if (process->launcher != NULL) {
        process->socket = -1;
        process->pid = process->launcher->pid;
        process->pidfd = worker_launcher_run(process->launcher);
    } else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return STATUS_NO_MEMORY;
    } else {
        process->socket = sockets[0];
        process->pidfd = start_process(sockets[1], &process->pid);
        close(sockets[1]);
    }
    if (process->pidfd < 0) {
        close(process->socket);
        return STATUS_NO_MEMORY;
    }
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

static int reap_process(const struct worker_process *process)
{
    int status = 0;
    if (process->launcher != NULL) {
        /* A helper process that has ended sends no status; this counts as SIGKILL. */
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
    if (process->launcher == NULL) {
        kill(process->pid, SIGKILL);
    } else {
        worker_launcher_kill(process->launcher);
    }
}

void worker_process_end(struct worker_process *process, enum task_loss *loss, int *ret_code)
{
    const bool is_leaving = *loss == TASK_LOSS_NONE || *loss == TASK_LOSS_EXIT;
    *ret_code = 0;
    process->is_running = false;
    close(process->socket); /* asks the process to exit */
    process->is_stuck = !has_ended(process, is_leaving ? GRACE_MS : 0);
    if (process->is_stuck) {
        kill_process(process);
        process->is_stuck =
            !has_ended(process, process->launcher == NULL ? KILL_WAIT_MS : RANKS_KILL_WAIT_MS);
    }
    if (process->is_stuck) {
        return;
    }
    const int status = reap_process(process);
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
    reap_process(process);
    process->is_stuck = false;
    return true;
}

static void watch_from_now(struct worker_process *process, double stall_s, double allowance_s)
{
    process->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&process->watch, stall_s, allowance_s);
}

/* Waits until the socket is readable or closed, or until process->wakeup is readable if `wakeup` is
 * set. Before the ranks have connected, waits until they connect or end. Counts an interval between
 * two checks as at most two ticks, because this thread may have been unable to run. */
static enum task_loss await_message(struct worker_process *process, bool wakeup)
{
    const bool is_connected = process->socket >= 0;
    struct pollfd files[] = {
        {.fd = is_connected ? process->socket : process->launcher->listener, .events = POLLIN},
        {.fd = wakeup ? process->wakeup : -1, .events = POLLIN},
        {.fd = is_connected ? -1 : process->pidfd, .events = POLLIN}};
    const uint32_t tick = process->stall_s * 1000 / TICKS_PER_STALL;
    const int tick_ms = tick < TICK_MS_MAX ? (int)tick : TICK_MS_MAX;
    enum task_loss loss = TASK_LOSS_NONE;
    int ready = 0;
    while (ready <= 0 && loss == TASK_LOSS_NONE) {
        ready = poll(files, 3, tick_ms);
        const double now_s = clock_monotonic_s();
        const double tick_s = fmin(now_s - process->looked_at_s, 2e-3 * tick_ms);
        process->looked_at_s = now_s;
        process->watch.is_hurried = atomic_load(&process->is_hurried);
        loss = files[2].revents != 0 ? TASK_LOSS_EXIT
                                     : worker_watch_tick(&process->watch, process->shared, tick_s);
    }
    return loss;
}

/* Sends a message and receives the reply, which has no descriptors. */
static enum task_loss exchange_messages(struct worker_process *process,
                                        struct wire_message *message, const int *descriptors)
{
    if (wire_send(process->socket, message, descriptors) != STATUS_OK) {
        return TASK_LOSS_EXIT;
    }
    const enum task_loss loss = await_message(process, false);
    const enum status status =
        loss == TASK_LOSS_NONE ? wire_receive(process->socket, message, NULL) : STATUS_OK;
    return status == STATUS_IO        ? TASK_LOSS_EXIT
           : status == STATUS_CORRUPT ? TASK_LOSS_PROTOCOL
                                      : loss;
}

static enum task_loss accept_rank(struct worker_process *process)
{
    enum task_loss loss = TASK_LOSS_NONE;
    while (process->socket < 0 && loss == TASK_LOSS_NONE) {
        loss = await_message(process, false);
        if (loss == TASK_LOSS_NONE) {
            process->socket = worker_launcher_accept(process->launcher);
        }
    }
    return loss;
}

enum task_loss worker_process_open(struct worker_process *process, const struct worker_setup *setup,
                                   struct wire_opened *ret_opened)
{
    struct wire_message message = {.type = WIRE_SETUP, .body.setup = *setup};
    *ret_opened = (struct wire_opened){0};
    watch_from_now(process, OPEN_ALLOWANCE_S, 0);
    enum task_loss loss = process->launcher != NULL ? accept_rank(process) : TASK_LOSS_NONE;
    if (loss == TASK_LOSS_NONE) {
        loss = exchange_messages(process, &message, &process->shared_descriptor);
    }
    worker_watch_idle(&process->watch, process->stall_s);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    if (message.type != WIRE_OPENED ||
        wire_read_facts(&message.body.opened.facts, &ret_opened->facts) != STATUS_OK) {
        return TASK_LOSS_PROTOCOL;
    }
    ret_opened->figures = message.body.opened.figures;
    return TASK_LOSS_NONE;
}

/* Returns the seconds allowed outside the rounds: for files, certificates and cycle searches. */
static double allow_s(const struct solver *model, const struct task *task)
{
    /* A u2 task is estimated as i4, because the solver uses the same arithmetics for both. */
    const enum kind kind = task->kind == KIND_U2 ? KIND_I4 : task->kind;
    struct solver_estimate estimate = {0};
    const double n = task->vertex_count;
    const double m = (double)task->edge_count;
    const double rows = fmin(n, SOLVE_VERIFY_ROWS);
    if (task->form == RESULT_FORM_HIERARCHY) {
        estimate.seconds = (n + m) * HIERARCHY_STEP_S;
    } else {
        estimate_solve(model, task->vertex_count, task->edge_count, kind, &estimate);
    }
    return EXPECTED_FACTOR * fmax(estimate.seconds, 0) +
           (16 * m + (double)result_file_bytes(task->file)) / BYTES_PER_S +
           (task->verify ? rows * (n + m) : 0) / STEPS_PER_S +
           (task->negative ? n * m : 0) / STEPS_PER_S;
}

enum task_loss worker_process_solve(struct worker_process *process, struct task *task,
                                    struct solver *model)
{
    const bool has_order_file = task->order_file.descriptor > 0;
    const int descriptors[] = {task->graph_descriptor, result_file_descriptor(task->file),
                               has_order_file ? task->order_file.descriptor
                                              : task->graph_descriptor};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){.vertex_count = task->vertex_count,
                                           .kind = (uint32_t)task->kind,
                                           .form = (uint32_t)task->form,
                                           .verify = task->verify,
                                           .has_order_file = has_order_file};
    memcpy(message.body.task.graph_id, task->graph_id, sizeof(task->graph_id));
    watch_from_now(process, process->stall_s, allow_s(model, task));
    const enum task_loss loss = exchange_messages(process, &message, descriptors);
    worker_watch_idle(&process->watch, process->stall_s);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    /* A process that has lost its device must exit with a code instead of sending DONE. */
    if (message.type != WIRE_DONE || wire_read_done(&message.body.done, task) != STATUS_OK ||
        task->status == STATUS_DEVICE_LOST) {
        return TASK_LOSS_PROTOCOL;
    }
    solver_set_figures(model, &message.body.done.figures);
    return TASK_LOSS_NONE;
}

enum task_loss worker_process_wait_idle(struct worker_process *process)
{
    struct pollfd socket = {.fd = process->socket, .events = POLLIN};
    const enum task_loss loss = await_message(process, true);
    if (loss != TASK_LOSS_NONE || poll(&socket, 1, 0) <= 0) {
        return loss;
    }
    /* The process has no task, so any message from it is a protocol error. */
    return (socket.revents & POLLHUP) != 0 ? TASK_LOSS_EXIT : TASK_LOSS_PROTOCOL;
}
