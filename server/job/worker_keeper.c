#include "server/job/worker_keeper.h"

#include "server/clock.h"
#include "server/job/work_files.h"
#include "server/job/worker_exchange.h"
#include "server/log.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* Between two attempts to start a process that fails: doubled each time, and forgotten once a load
 * came home. */
#define BACKOFF_MS_MIN 100
#define BACKOFF_MS_MAX 30000
/* For a process that is told to leave: closing a device takes a while. */
#define GRACE_MS 5000
/* For one that has hung up: it is ending, or it never will. */
#define HUNG_UP_GRACE_MS 2000

struct worker_keeper {
    const struct worker_config *config;
    struct worker_setup setup;
    struct worker_health *health;
    struct mailbox *mailbox;
    struct solver *_Atomic model;
    struct work_board *board;
    int board_descriptor;
    int bell; /* an eventfd: there is mail, or the keeper is to stop */
    atomic_bool stopping;
    int backoff_ms;
    bool process_lives;
    bool process_stays; /* killed, and not gone yet: the device is its own still */
    struct worker_exchange exchange;
};

static void silence_bell(const struct worker_keeper *keeper)
{
    uint64_t rings;
    const ssize_t ignored = read(keeper->bell, &rings, sizeof(rings));
    (void)ignored;
}

static void ring(void *context)
{
    const struct worker_keeper *keeper = context;
    const uint64_t one = 1;
    const ssize_t ignored =
        write(keeper->bell, &one, sizeof(one)); /* fails when it rings already */
    (void)ignored;
}

/* ---- A load ---- */

/* While the process reads them too. */
static void read_graphs(struct work_load *load, const bool *ended)
{
    for (uint32_t i = 0; i < load->count; i++) {
        struct work *work = &load->works[i];
        if (!ended[i] && work_files_read_graph(work) != STATUS_OK) {
            problem_set(&work->problem, STATUS_CORRUPT, "The stored graph %s cannot be read.",
                        work->graph_id);
        }
    }
}

static void prepare(struct worker_keeper *keeper, struct work_load *load)
{
    const struct work_folders folders = {keeper->config->graph_folder,
                                         keeper->config->result_folder, true};
    keeper->exchange.load = load;
    for (uint32_t i = 0; i < load->count; i++) {
        work_files_open(&folders, &load->works[i]);
        keeper->exchange.ended[i] = load->works[i].status != STATUS_OK;
    }
}

/* The process says that the file of the graph is damaged. One that can be read here stays; where
 * there is no memory to read it the job is tried again. */
static void check_damage(struct work *work)
{
    struct graph *again = NULL;
    enum status status = STATUS_CORRUPT;
    if (work->graph_descriptor > 0) {
        status = graph_file_read_open(work->graph_descriptor, &again);
    }
    graph_destroy(again);
    if (status == STATUS_OK) {
        work->status = problem_set(&work->problem, STATUS_NOT_VERIFIED,
                                   "The solver could not read the stored graph %s, which is sound.",
                                   work->graph_id);
    } else if (status != STATUS_CORRUPT) {
        work->is_passing = true;
        work->status = problem_set(&work->problem, status,
                                   "The stored graph %s cannot be read now.", work->graph_id);
    }
}

/* A solve of which the graph is not at hand here proves nothing. */
static void read_again(struct work *work)
{
    const enum status status = work_files_read_graph(work);
    if (status != STATUS_OK) {
        work->is_passing = status != STATUS_CORRUPT;
        work->status = problem_set(&work->problem, status, "The stored graph %s cannot be read.",
                                   work->graph_id);
    }
}

/* What came back is the worker's word; what it did not come to is lost. */
static void judge(const struct worker_keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->exchange.load->count; i++) {
        struct work *work = &keeper->exchange.load->works[i];
        if (!keeper->exchange.ended[i]) {
            work->status = STATUS_DEVICE_LOST;
        } else if (work->status == STATUS_OK && work->graph == NULL) {
            read_again(work);
        } else if (work->status == STATUS_CORRUPT) {
            check_damage(work);
        }
        work_files_judge(keeper->config->sample_rows, work);
    }
}

/* ---- Life and death of the process ---- */

/* What it was ended for is told rather than how it ended. false: it does not end. */
static bool end_process(struct worker_keeper *keeper, enum work_loss *loss, int *ret_code)
{
    enum work_loss how = WORK_LOSS_EXIT;
    const bool hung_up = *loss == WORK_LOSS_EXIT;
    const bool told = *loss == WORK_LOSS_NONE;
    const int grace_ms = told ? GRACE_MS : hung_up ? HUNG_UP_GRACE_MS : 0;
    *ret_code = 0;
    keeper->process_lives = false;
    const enum status status =
        worker_process_end(&keeper->exchange.process, grace_ms, &how, ret_code);
    *loss = hung_up ? how : *loss;
    keeper->process_stays = status != STATUS_OK;
    return !keeper->process_stays;
}

static void log_loss(const struct worker_keeper *keeper, enum work_loss loss, int code)
{
    char reason[WORK_LOSS_TEXT_SIZE];
    work_loss_describe(loss, code, reason);
    log_write(LOG_ERROR, "worker_lost", LOG_NUMBER("pid", keeper->exchange.process.pid),
              LOG_TEXT("reason", reason),
              LOG_NUMBER("jobs", keeper->exchange.load != NULL ? keeper->exchange.load->count : 0),
              LOG_NUMBER("restart_in_s", keeper->backoff_ms / 1e3));
}

static void lose_process(struct worker_keeper *keeper, enum work_loss loss)
{
    int code;
    const bool gone = end_process(keeper, &loss, &code);
    struct worker_health *health = keeper->health;
    atomic_fetch_add(&health->losses[loss], 1);
    atomic_store(&health->state, gone ? WORKER_RESTARTING : WORKER_LOST);
    log_loss(keeper, loss, code);
    if (keeper->exchange.load != NULL) {
        keeper->exchange.load->loss = loss;
        keeper->exchange.load->loss_code = code;
    }
}

/* Results that the process says it has let go of, or that has ended. One that it can write still
 * has no end. Whether there was none. */
static bool reclaim(struct worker_keeper *keeper)
{
    bool all = true;
    worker_process_hold_starts();
    for (uint32_t i = 0; i < keeper->exchange.load->count; i++) {
        struct work *work = &keeper->exchange.load->works[i];
        if (keeper->exchange.ended[i] && work->status == STATUS_OK && !work_files_reclaim(work)) {
            keeper->exchange.ended[i] = false;
            all = false;
        }
    }
    worker_process_allow_starts();
    return all;
}

static void do_load(struct worker_keeper *keeper, struct work_load *load)
{
    prepare(keeper, load);
    enum work_loss loss = worker_exchange_carry_out(&keeper->exchange, keeper->model, read_graphs);
    if (loss == WORK_LOSS_NONE && !reclaim(keeper)) {
        worker_exchange_disbelieve(&keeper->exchange);
        loss = WORK_LOSS_BABBLE;
    }
    if (loss != WORK_LOSS_NONE) {
        lose_process(keeper, loss);
        (void)reclaim(keeper); /* of works that had ended before */
    } else {
        keeper->backoff_ms = BACKOFF_MS_MIN;
    }
    judge(keeper);
    keeper->exchange.load = NULL;
    work_files_send_home(keeper->config->home, keeper->config->finished, load);
    keeper->exchange.looked_at_s = clock_monotonic_s();
}

/* Loads until the process is lost or the keeper is to stop. */
static void serve(struct worker_keeper *keeper)
{
    while (keeper->process_lives && !atomic_load(&keeper->stopping)) {
        struct message *message = mailbox_take(keeper->mailbox);
        if (message != NULL) {
            /* The message is the first member of its load. */
            do_load(keeper, (struct work_load *)message);
            continue;
        }
        const enum work_loss loss = worker_exchange_idle(&keeper->exchange);
        if (loss != WORK_LOSS_NONE) {
            lose_process(keeper, loss);
        }
        silence_bell(keeper);
    }
}

/* A process whose solver is open. Else facts tell why there is none. */
static void start_process(struct worker_keeper *keeper, struct worker_facts *ret_facts)
{
    struct wire_opened opened = {0};
    int code;
    ret_facts->status = worker_process_start(&keeper->exchange.process);
    if (ret_facts->status != STATUS_OK) {
        problem_set(&ret_facts->problem, ret_facts->status, "No process can be started.");
        return;
    }
    keeper->process_lives = true;
    enum work_loss loss = worker_exchange_open(&keeper->exchange, &keeper->setup, &opened);
    *ret_facts = opened.facts;
    if (loss == WORK_LOSS_NONE && opened.facts.status == STATUS_OK) {
        if (keeper->model == NULL) {
            struct solver *model = NULL;
            ret_facts->status = solver_model_create(&opened.figures, &model);
            keeper->model = model;
        }
        return;
    }
    const bool lost = loss != WORK_LOSS_NONE;
    if (!end_process(keeper, &loss, &code)) {
        atomic_store(&keeper->health->state, WORKER_LOST);
    }
    if (lost) {
        char reason[WORK_LOSS_TEXT_SIZE];
        atomic_fetch_add(&keeper->health->losses[loss], 1);
        work_loss_describe(loss, code, reason);
        ret_facts->status =
            problem_set(&ret_facts->problem, STATUS_DEVICE_LOST,
                        "The solver's process ended while it opened the device: %s.", reason);
    }
}

/* Mail is left where it is. */
static void back_off(struct worker_keeper *keeper)
{
    const double until_s = clock_monotonic_s() + keeper->backoff_ms / 1e3;
    double left_s = keeper->backoff_ms / 1e3;
    struct pollfd bell = {.fd = keeper->bell, .events = POLLIN};
    while (left_s > 0 && !atomic_load(&keeper->stopping)) {
        poll(&bell, 1, (int)ceil(left_s * 1e3));
        silence_bell(keeper);
        left_s = until_s - clock_monotonic_s();
    }
    keeper->backoff_ms =
        keeper->backoff_ms * 2 < BACKOFF_MS_MAX ? keeper->backoff_ms * 2 : BACKOFF_MS_MAX;
}

static void log_confinement(const struct worker_keeper *keeper, const struct confine_report *report)
{
    if (keeper->setup.confined) {
        log_write(report->without[0] == '\0' ? LOG_INFO : LOG_WARNING, "worker_confined",
                  LOG_NUMBER("pid", keeper->exchange.process.pid),
                  LOG_NUMBER("landlock", report->landlock_abi),
                  LOG_TEXT("seccomp", report->filtered ? "on" : "off"),
                  LOG_TEXT("without", report->without));
    }
}

static void log_start(const struct worker_keeper *keeper, const struct worker_facts *facts)
{
    if (facts->status == STATUS_OK) {
        log_confinement(keeper, &facts->confinement);
        log_write(LOG_INFO, "worker_started", LOG_NUMBER("pid", keeper->exchange.process.pid),
                  LOG_TEXT("device", facts->device.name));
    } else {
        log_write(facts->status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR, "worker_not_started",
                  LOG_TEXT("code", status_info(facts->status)->code),
                  LOG_TEXT("detail", facts->problem.detail),
                  LOG_NUMBER("restart_in_s", keeper->backoff_ms / 1e3));
    }
}

/* What was given in the moment before the loss was seen goes back as it came. */
static void refuse_load(const struct worker_keeper *keeper, struct message *message)
{
    struct work_load *load = (struct work_load *)message;
    for (uint32_t i = 0; i < load->count; i++) {
        load->works[i].status = STATUS_DEVICE_LOST;
    }
    work_files_send_home(keeper->config->home, keeper->config->finished, load);
}

static void refuse_mail(const struct worker_keeper *keeper)
{
    struct message *message;
    while ((message = mailbox_take(keeper->mailbox)) != NULL) {
        refuse_load(keeper, message);
    }
}

/* No second process meets on a device the one that holds it: until that is gone, which may be
 * never, or the keeper is to stop. */
static void outwait_process(struct worker_keeper *keeper)
{
    log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", keeper->exchange.process.pid));
    while (keeper->process_stays && !atomic_load(&keeper->stopping)) {
        refuse_mail(keeper);
        keeper->process_stays = !worker_process_await(&keeper->exchange.process, keeper->bell);
        silence_bell(keeper);
    }
    if (keeper->process_stays) {
        keeper->process_stays = false;
        worker_process_leave_behind(&keeper->exchange.process);
        return;
    }
    log_write(LOG_INFO, "worker_gone", LOG_NUMBER("pid", keeper->exchange.process.pid));
    atomic_store(&keeper->health->state, WORKER_RESTARTING);
}

/* Until it is open, or the keeper is to stop. */
static void restart_process(struct worker_keeper *keeper)
{
    while (!keeper->process_lives && !atomic_load(&keeper->stopping)) {
        struct worker_facts facts = {0};
        if (keeper->process_stays) {
            outwait_process(keeper);
        }
        back_off(keeper);
        if (atomic_load(&keeper->stopping)) {
            return;
        }
        start_process(keeper, &facts);
        log_start(keeper, &facts);
    }
    if (keeper->process_lives) {
        atomic_fetch_add(&keeper->health->restarts, 1);
        worker_health_tell(keeper->config, keeper->health);
    }
}

/* Nothing is done any more. */
static void refuse_loads(const struct worker_keeper *keeper)
{
    struct message *message;
    while ((message = mailbox_wait(keeper->mailbox)) != NULL) {
        refuse_load(keeper, message);
    }
}

void worker_keeper_run(struct worker_keeper *keeper)
{
    struct worker_opening *opening = keeper->config->opening;
    start_process(keeper, &opening->facts);
    log_start(keeper, &opening->facts);
    worker_health_tell(keeper->config, keeper->health);
    while (keeper->process_lives && !atomic_load(&keeper->stopping)) {
        serve(keeper);
        if (!keeper->process_lives) {
            restart_process(keeper);
        }
    }
    if (keeper->process_lives) {
        enum work_loss loss = WORK_LOSS_NONE;
        int code;
        end_process(keeper, &loss, &code);
    }
    if (keeper->process_stays) {
        log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", keeper->exchange.process.pid));
        worker_process_leave_behind(&keeper->exchange.process);
    }
    refuse_loads(keeper);
}

void worker_keeper_hurry(struct worker_keeper *keeper)
{
    atomic_store(&keeper->exchange.hurried, true);
}

void worker_keeper_stop(struct worker_keeper *keeper)
{
    worker_keeper_hurry(keeper);
    atomic_store(&keeper->stopping, true);
    mailbox_close(keeper->mailbox);
    ring(keeper);
}

/* ---- Itself ---- */

/* Sealed, so that no process that has it can take memory from under the other. */
static enum status create_board(struct worker_keeper *keeper)
{
    const size_t size = sizeof(*keeper->board);
    keeper->board_descriptor = memfd_create("apspd-board", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (keeper->board_descriptor < 0 || ftruncate(keeper->board_descriptor, (off_t)size) != 0 ||
        fcntl(keeper->board_descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
            0) {
        return STATUS_NO_MEMORY;
    }
    void *board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, keeper->board_descriptor, 0);
    if (board == MAP_FAILED) {
        return STATUS_NO_MEMORY;
    }
    keeper->board = board;
    return STATUS_OK;
}

enum status worker_keeper_create(const struct worker_config *config, struct worker_health *health,
                                 struct worker_keeper **ret_keeper)
{
    struct worker_keeper *keeper = calloc(1, sizeof(*keeper));
    if (keeper == NULL) {
        return STATUS_NO_MEMORY;
    }
    keeper->config = config;
    keeper->health = health;
    keeper->setup =
        (struct worker_setup){*config->solver, config->gpu, config->gpu_index, config->confined};
    keeper->backoff_ms = BACKOFF_MS_MIN;
    keeper->board_descriptor = -1;
    keeper->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum status status = keeper->bell < 0 ? STATUS_NO_MEMORY : create_board(keeper);
    if (status == STATUS_OK) {
        status = mailbox_create(ring, keeper, &keeper->mailbox);
    }
    if (status != STATUS_OK) {
        worker_keeper_destroy(keeper);
        return status;
    }
    keeper->exchange.board = keeper->board;
    keeper->exchange.board_descriptor = keeper->board_descriptor;
    keeper->exchange.bell = keeper->bell;
    keeper->exchange.stall_s = config->stall_s;
    *ret_keeper = keeper;
    return STATUS_OK;
}

void worker_keeper_destroy(struct worker_keeper *keeper)
{
    if (keeper == NULL) {
        return;
    }
    mailbox_destroy(keeper->mailbox);
    solver_close(keeper->model);
    if (keeper->board != NULL) {
        munmap(keeper->board, sizeof(*keeper->board));
    }
    if (keeper->board_descriptor >= 0) {
        close(keeper->board_descriptor);
    }
    if (keeper->bell >= 0) {
        close(keeper->bell);
    }
    free(keeper);
}

struct mailbox *worker_keeper_mailbox(const struct worker_keeper *keeper)
{
    return keeper->mailbox;
}

struct work_board *worker_keeper_board(const struct worker_keeper *keeper)
{
    return keeper->board;
}

const struct solver *worker_keeper_model(const struct worker_keeper *keeper)
{
    return keeper->model;
}
