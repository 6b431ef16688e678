#include "server/job/worker_exchange.h"

#include "server/clock.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* A solver opens within this, and the driver compiles its kernels. */
#define OPEN_ALLOWANCE_S 300
/* What a load may take outside its rounds, of what it is expected to take in all. */
#define EXPECTED_FACTOR 20.0
/* Reading graphs, writing results, and the sums of certificates and of negative cycles. */
#define BYTES_PER_S 20e6
#define STEPS_PER_S 20e6

/* A tick of the watch: an eighth of the least time in which anything is judged. */
#define TICK_MS_MAX 1000
#define TICKS_PER_STALL 8

/* ---- Watching ---- */

static int tick_ms(const struct worker_exchange *exchange)
{
    const uint32_t tick = exchange->stall_s * 1000 / TICKS_PER_STALL;
    return tick < TICK_MS_MAX ? (int)tick : TICK_MS_MAX;
}

/* Ticks are counted, not time: one that lasted long because this thread did not run is a short
 * one. */
static enum work_loss look(struct worker_exchange *exchange)
{
    const struct work *works = exchange->load != NULL ? exchange->load->works : NULL;
    const uint32_t count = exchange->load != NULL ? exchange->load->count : 0;
    const double now_s = clock_monotonic_s();
    const double tick_s = fmin(now_s - exchange->looked_at_s, 2e-3 * tick_ms(exchange));
    exchange->looked_at_s = now_s;
    if (atomic_load(&exchange->hurried)) {
        worker_watch_hurry(&exchange->watch);
    }
    return worker_watch_tick(&exchange->watch, exchange->board, works, count, tick_s);
}

/* Until the socket is ready for events, or has hung up; or, with bell, until it rings. */
static enum work_loss await(struct worker_exchange *exchange, short events, bool bell)
{
    struct pollfd files[] = {{.fd = exchange->process.socket, .events = events},
                             {.fd = exchange->bell, .events = POLLIN}};
    enum work_loss loss = WORK_LOSS_NONE;
    int ready = 0;
    while (ready <= 0 && loss == WORK_LOSS_NONE) {
        ready = poll(files, bell ? 2 : 1, tick_ms(exchange));
        loss = look(exchange);
    }
    return loss;
}

/* ---- Speaking ---- */

static enum work_loss say(struct worker_exchange *exchange, const struct wire_message *message,
                          const int *descriptors, uint32_t count)
{
    enum work_loss loss = WORK_LOSS_NONE;
    enum status status;
    while ((status = worker_wire_send(exchange->process.socket, message, descriptors, count)) ==
               STATUS_NOT_READY &&
           loss == WORK_LOSS_NONE) {
        loss = await(exchange, POLLOUT, false);
    }
    return status == STATUS_IO ? WORK_LOSS_EXIT : loss;
}

/* No message of a worker's has descriptors. */
static enum work_loss hear(struct worker_exchange *exchange, struct wire_message *ret_message)
{
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    enum work_loss loss = WORK_LOSS_NONE;
    enum status status;
    while ((status = worker_wire_receive(exchange->process.socket, ret_message, descriptors)) ==
               STATUS_NOT_READY &&
           loss == WORK_LOSS_NONE) {
        loss = await(exchange, POLLIN, false);
    }
    if (status == STATUS_OK &&
        (ret_message->type == WIRE_SETUP || ret_message->type == WIRE_WORK)) {
        close(descriptors[0]);
        if (ret_message->type == WIRE_WORK) {
            close(descriptors[1]);
        }
        return WORK_LOSS_BABBLE;
    }
    return status == STATUS_IO        ? WORK_LOSS_EXIT
           : status == STATUS_CORRUPT ? WORK_LOSS_BABBLE
                                      : loss;
}

/* ---- A load ---- */

static double seconds_of(const struct solver *model, const struct work *work, uint64_t edge_count)
{
    struct solver_estimate estimate = {0};
    worker_setup_estimate(model, work->vertex_count, edge_count, work->kind, &estimate);
    return estimate.seconds > 0 ? estimate.seconds : 0;
}

/* Outside the rounds: what a load reads and writes, and all that is computed beside them. */
static double allowance_s(const struct solver *model, const struct work_load *load)
{
    double seconds = 0;
    for (uint32_t i = 0; i < load->count; i++) {
        const struct work *work = &load->works[i];
        if (work->status != STATUS_OK) {
            continue;
        }
        const double n = work->vertex_count;
        const double m = (double)work->edge_count;
        const double rows = fmin(n, SOLVE_VERIFY_ROWS);
        seconds += EXPECTED_FACTOR * seconds_of(model, work, work->edge_count) +
                   (16 * m + (double)result_file_bytes(work->file)) / BYTES_PER_S +
                   (work->verify ? rows * (n + m) : 0) / STEPS_PER_S +
                   (work->negative ? n * m : 0) / STEPS_PER_S;
    }
    return seconds;
}

static enum work_loss send_works(struct worker_exchange *exchange, uint32_t left)
{
    enum work_loss loss = WORK_LOSS_NONE;
    const struct work_load *load = exchange->load;
    for (uint32_t i = 0; i < load->count && loss == WORK_LOSS_NONE; i++) {
        const struct work *work = &load->works[i];
        if (exchange->ended[i]) {
            continue;
        }
        const int descriptors[] = {work->graph_descriptor, result_file_descriptor(work->file)};
        struct wire_message message = {.type = WIRE_WORK};
        message.body.work = (struct wire_work){.index = i,
                                               .more = --left > 0,
                                               .vertex_count = work->vertex_count,
                                               .kind = (uint32_t)work->kind,
                                               .verify = work->verify};
        memcpy(message.body.work.graph_id, work->graph_id, sizeof(work->graph_id));
        loss = say(exchange, &message, descriptors, 2);
    }
    return loss;
}

static struct work *find_work(const struct worker_exchange *exchange, uint32_t index)
{
    return index < exchange->load->count && !exchange->ended[index] ? &exchange->load->works[index]
                                                                    : NULL;
}

static enum work_loss take_done(struct worker_exchange *exchange, const struct wire_done *done)
{
    struct work *work = find_work(exchange, done->index);
    if (work == NULL || worker_wire_take_done(done, work) != STATUS_OK ||
        work->status == STATUS_DEVICE_LOST) {
        return WORK_LOSS_BABBLE;
    }
    exchange->ended[done->index] = true;
    exchange->told[done->index] = true;
    return WORK_LOSS_NONE;
}

static enum work_loss take_cycle(const struct worker_exchange *exchange,
                                 const struct wire_cycle *cycle)
{
    struct work *work = find_work(exchange, cycle->index);
    return work != NULL && worker_wire_take_cycle(cycle, work) == STATUS_OK ? WORK_LOSS_NONE
                                                                            : WORK_LOSS_BABBLE;
}

static uint32_t count_open(const struct worker_exchange *exchange)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < exchange->load->count; i++) {
        open += !exchange->ended[i];
    }
    return open;
}

static enum work_loss take_home(const struct worker_exchange *exchange, struct solver *model,
                                const struct solver_figures *figures)
{
    if (count_open(exchange) > 0) {
        return WORK_LOSS_BABBLE;
    }
    solver_set_figures(model, figures);
    return WORK_LOSS_NONE;
}

static enum work_loss hear_works(struct worker_exchange *exchange, struct solver *model)
{
    struct wire_message message = {0};
    enum work_loss loss = WORK_LOSS_NONE;
    while (loss == WORK_LOSS_NONE && message.type != WIRE_HOME) {
        loss = hear(exchange, &message);
        if (loss != WORK_LOSS_NONE) {
            return loss;
        }
        loss = message.type == WIRE_CYCLE  ? take_cycle(exchange, &message.body.cycle)
               : message.type == WIRE_DONE ? take_done(exchange, &message.body.done)
               : message.type == WIRE_HOME ? take_home(exchange, model, &message.body.home)
                                           : WORK_LOSS_BABBLE;
    }
    return loss;
}

/* Who talks nonsense, or lies, is not believed what he said before either. */
void worker_exchange_disbelieve(struct worker_exchange *exchange)
{
    for (uint32_t i = 0; i < exchange->load->count; i++) {
        exchange->ended[i] = exchange->ended[i] && !exchange->told[i];
    }
}

enum work_loss worker_exchange_carry_out(struct worker_exchange *exchange, struct solver *model,
                                         void (*meanwhile)(struct work_load *load,
                                                           const bool *ended))
{
    const uint32_t open = count_open(exchange);
    if (open == 0) {
        return WORK_LOSS_NONE;
    }
    exchange->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&exchange->watch, exchange->stall_s, allowance_s(model, exchange->load));
    memset(exchange->told, 0, sizeof(exchange->told));
    enum work_loss loss = send_works(exchange, open);
    if (loss == WORK_LOSS_NONE) {
        meanwhile(exchange->load, exchange->ended);
        exchange->looked_at_s = clock_monotonic_s();
        loss = hear_works(exchange, model);
    }
    if (loss == WORK_LOSS_BABBLE) {
        worker_exchange_disbelieve(exchange);
    }
    worker_watch_begin(&exchange->watch, exchange->stall_s, 0);
    return loss;
}

/* ---- Without a load ---- */

enum work_loss worker_exchange_open(struct worker_exchange *exchange,
                                    const struct worker_setup *setup,
                                    struct wire_opened *ret_opened)
{
    struct wire_message message = {.type = WIRE_SETUP, .body.setup = *setup};
    exchange->load = NULL;
    exchange->looked_at_s = clock_monotonic_s();
    worker_watch_begin(&exchange->watch, OPEN_ALLOWANCE_S, OPEN_ALLOWANCE_S);
    enum work_loss loss = say(exchange, &message, &exchange->board_descriptor, 1);
    if (loss == WORK_LOSS_NONE) {
        loss = hear(exchange, &message);
    }
    worker_watch_begin(&exchange->watch, exchange->stall_s, 0);
    if (loss != WORK_LOSS_NONE) {
        return loss;
    }
    unsigned char gpu; /* any byte, from a process that may be broken */
    memcpy(&gpu, &message.body.opened.figures.gpu, sizeof(gpu));
    *ret_opened = message.body.opened;
    const bool sound = message.type == WIRE_OPENED && worker_wire_check_facts(&ret_opened->facts) &&
                       (ret_opened->facts.status != STATUS_OK || gpu == setup->gpu);
    return sound ? WORK_LOSS_NONE : WORK_LOSS_BABBLE;
}

/* Nobody asked it anything: whatever there is to hear is wrong. */
enum work_loss worker_exchange_idle(struct worker_exchange *exchange)
{
    struct pollfd socket = {.fd = exchange->process.socket, .events = POLLIN};
    const enum work_loss loss = await(exchange, POLLIN, true);
    if (loss != WORK_LOSS_NONE || poll(&socket, 1, 0) <= 0) {
        return loss;
    }
    return (socket.revents & POLLHUP) != 0 ? WORK_LOSS_EXIT : WORK_LOSS_BABBLE;
}
