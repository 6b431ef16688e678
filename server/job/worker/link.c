#include "server/job/worker/link.h"

#include "server/clock.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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

/* ---- Watching ---- */

static int tick_ms(const struct worker_link *request)
{
    const uint32_t tick = request->stall_s * 1000 / TICKS_PER_STALL;
    return tick < TICK_MS_MAX ? (int)tick : TICK_MS_MAX;
}

/* Ticks are counted, not time: one that lasted long because this thread did not run is a short
 * one. */
static enum task_loss look(struct worker_link *request)
{
    const double now_s = clock_monotonic_s();
    const double tick_s = fmin(now_s - request->looked_at_s, 2e-3 * tick_ms(request));
    request->looked_at_s = now_s;
    if (atomic_load(&request->hurried)) {
        worker_watch_hurry(&request->watch);
    }
    return worker_watch_tick(&request->watch, request->board, request->task, tick_s);
}

/* Until the socket is ready for events, or has hung up; or, with bell, until it rings. */
static enum task_loss await(struct worker_link *request, short events, bool bell)
{
    struct pollfd files[] = {{.fd = request->process.socket, .events = events},
                             {.fd = request->bell, .events = POLLIN}};
    enum task_loss loss = TASK_LOSS_NONE;
    int ready = 0;
    while (ready <= 0 && loss == TASK_LOSS_NONE) {
        ready = poll(files, bell ? 2 : 1, tick_ms(request));
        loss = look(request);
    }
    return loss;
}

/* ---- Speaking ---- */

static enum task_loss say(struct worker_link *request, const struct wire_message *message,
                          const int *descriptors, uint32_t count)
{
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_send(request->process.socket, message, descriptors, count)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(request, POLLOUT, false);
    }
    return status == STATUS_IO ? TASK_LOSS_EXIT : loss;
}

/* No message of a worker's has descriptors. */
static enum task_loss hear(struct worker_link *request, struct wire_message *ret_message)
{
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    enum task_loss loss = TASK_LOSS_NONE;
    enum status status;
    while ((status = worker_protocol_receive(request->process.socket, ret_message, descriptors)) ==
               STATUS_NOT_READY &&
           loss == TASK_LOSS_NONE) {
        loss = await(request, POLLIN, false);
    }
    if (status == STATUS_OK &&
        (ret_message->type == WIRE_SETUP || ret_message->type == WIRE_TASK)) {
        close(descriptors[0]);
        if (ret_message->type == WIRE_TASK) {
            close(descriptors[1]);
        }
        return TASK_LOSS_BABBLE;
    }
    return status == STATUS_IO        ? TASK_LOSS_EXIT
           : status == STATUS_CORRUPT ? TASK_LOSS_BABBLE
                                      : loss;
}

/* ---- A task ---- */

/* Time outside the rounds: reading, writing, and all that is computed beside them. */
static double allowance_s(const struct solver *model, const struct task *task)
{
    struct solver_estimate estimate = {0};
    const double n = task->vertex_count;
    const double m = (double)task->edge_count;
    const double rows = fmin(n, SOLVE_VERIFY_ROWS);
    worker_setup_estimate(model, task->vertex_count, task->edge_count, task->kind, &estimate);
    return EXPECTED_FACTOR * fmax(estimate.seconds, 0) +
           (16 * m + (double)result_file_bytes(task->file)) / BYTES_PER_S +
           (task->verify ? rows * (n + m) : 0) / STEPS_PER_S +
           (task->negative ? n * m : 0) / STEPS_PER_S;
}

static enum task_loss send_task(struct worker_link *request)
{
    const struct task *task = request->task;
    const int descriptors[] = {task->graph_descriptor, result_file_descriptor(task->file)};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){
        .vertex_count = task->vertex_count, .kind = (uint32_t)task->kind, .verify = task->verify};
    memcpy(message.body.task.graph_id, task->graph_id, sizeof(task->graph_id));
    return say(request, &message, descriptors, 2);
}

/* One message about the task: before its end CYCLE and DONE may come, and after it HOME alone. */
static bool take_message(struct worker_link *request, struct solver *model,
                         const struct wire_message *message)
{
    struct task *task = request->task;
    switch (message->type) {
    case WIRE_CYCLE:
        return !request->ended &&
               worker_protocol_take_cycle(&message->body.cycle, task) == STATUS_OK;
    case WIRE_DONE:
        if (request->ended || worker_protocol_take_done(&message->body.done, task) != STATUS_OK) {
            return false;
        }
        request->ended = task->status != STATUS_DEVICE_LOST;
        return request->ended;
    case WIRE_HOME:
        if (request->ended) {
            solver_set_figures(model, &message->body.home);
        }
        return request->ended;
    default:
        return false;
    }
}

static enum task_loss hear_task(struct worker_link *request, struct solver *model)
{
    struct wire_message message = {0};
    while (message.type != WIRE_HOME) {
        const enum task_loss loss = hear(request, &message);
        if (loss != TASK_LOSS_NONE) {
            return loss;
        }
        if (!take_message(request, model, &message)) {
            return TASK_LOSS_BABBLE;
        }
    }
    return TASK_LOSS_NONE;
}

enum task_loss worker_link_carry_out(struct worker_link *request, struct solver *model,
                                     void (*meanwhile)(struct task *task))
{
    if (request->ended) {
        return TASK_LOSS_NONE;
    }
    request->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&request->watch, request->stall_s, allowance_s(model, request->task));
    enum task_loss loss = send_task(request);
    if (loss == TASK_LOSS_NONE) {
        meanwhile(request->task);
        request->looked_at_s = clock_monotonic_s();
        loss = hear_task(request, model);
    }
    /* A process that breaks the protocol is not believed what it said before either. */
    request->ended = request->ended && loss != TASK_LOSS_BABBLE;
    worker_watch_begin(&request->watch, request->stall_s, 0);
    return loss;
}

/* ---- Without a task ---- */

enum task_loss worker_link_open(struct worker_link *request, const struct worker_setup *setup,
                                struct wire_opened *ret_opened)
{
    struct wire_message message = {.type = WIRE_SETUP, .body.setup = *setup};
    request->task = NULL;
    request->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&request->watch, OPEN_ALLOWANCE_S, OPEN_ALLOWANCE_S);
    enum task_loss loss = say(request, &message, &request->board_descriptor, 1);
    if (loss == TASK_LOSS_NONE) {
        loss = hear(request, &message);
    }
    worker_watch_begin(&request->watch, request->stall_s, 0);
    if (loss != TASK_LOSS_NONE) {
        return loss;
    }
    unsigned char gpu; /* any byte, from a process that may be broken */
    memcpy(&gpu, &message.body.opened.figures.gpu, sizeof(gpu));
    *ret_opened = message.body.opened;
    const bool sound = message.type == WIRE_OPENED &&
                       worker_protocol_check_facts(&ret_opened->facts) &&
                       (ret_opened->facts.status != STATUS_OK || gpu == setup->gpu);
    return sound ? TASK_LOSS_NONE : TASK_LOSS_BABBLE;
}

/* Nobody asked it anything: whatever there is to hear is wrong. */
enum task_loss worker_link_idle(struct worker_link *request)
{
    struct pollfd socket = {.fd = request->process.socket, .events = POLLIN};
    const enum task_loss loss = await(request, POLLIN, true);
    if (loss != TASK_LOSS_NONE || poll(&socket, 1, 0) <= 0) {
        return loss;
    }
    return (socket.revents & POLLHUP) != 0 ? TASK_LOSS_EXIT : TASK_LOSS_BABBLE;
}
