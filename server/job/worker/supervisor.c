#include "server/job/worker/supervisor.h"

#include "server/clock.h"
#include "server/job/worker/link.h"
#include "server/job/worker/task_files.h"
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

/* Between two attempts to start a process that fails: doubled each time, and forgotten once a job
 * came home. */
#define BACKOFF_MS_MIN 100
#define BACKOFF_MS_MAX 30000
/* For a process that is told to leave: closing a device takes a while. */
#define GRACE_MS 5000
/* For one that has hung up: it is ending, or it never will. */
#define HUNG_UP_GRACE_MS 2000

struct supervisor {
    const struct worker_config *config;
    struct worker_setup setup;
    struct worker_health *health;
    struct mailbox *mailbox;
    struct solver *_Atomic model;
    struct task_board *board;
    int board_descriptor;
    int bell; /* an eventfd: there is mail, or the keeper is to stop */
    atomic_bool stopping;
    int backoff_ms;
    bool process_lives;
    bool process_stays; /* killed, and not gone yet: the device is its own still */
    struct worker_link request;
};

static void silence_bell(const struct supervisor *keeper)
{
    uint64_t rings;
    const ssize_t ignored = read(keeper->bell, &rings, sizeof(rings));
    (void)ignored;
}

static void ring(void *context)
{
    const struct supervisor *keeper = context;
    const uint64_t one = 1;
    const ssize_t ignored =
        write(keeper->bell, &one, sizeof(one)); /* fails when it rings already */
    (void)ignored;
}

/* ---- A task ---- */

/* While the process reads it too. */
static void read_graph(struct task *task)
{
    if (task_files_read_graph(task) != STATUS_OK) {
        problem_set(&task->problem, STATUS_CORRUPT, "The stored graph %s cannot be read.",
                    task->graph_id);
    }
}

/* The process says that the file of the graph is damaged. One that can be read here stays; where
 * there is no memory to read it the job is tried again. */
static void check_damage(struct task *task)
{
    struct graph *again = NULL;
    enum status status = STATUS_CORRUPT;
    if (task->graph_descriptor > 0) {
        status = graph_file_read_open(task->graph_descriptor, &again);
    }
    graph_destroy(again);
    if (status == STATUS_OK) {
        task->status = problem_set(&task->problem, STATUS_NOT_VERIFIED,
                                   "The solver could not read the stored graph %s, which is sound.",
                                   task->graph_id);
    } else if (status != STATUS_CORRUPT) {
        task->is_passing = true;
        task->status = problem_set(&task->problem, status,
                                   "The stored graph %s cannot be read now.", task->graph_id);
    }
}

/* A solve of which the graph is not at hand here proves nothing. */
static void read_again(struct task *task)
{
    const enum status status = task_files_read_graph(task);
    if (status != STATUS_OK) {
        task->is_passing = status != STATUS_CORRUPT;
        task->status = problem_set(&task->problem, status, "The stored graph %s cannot be read.",
                                   task->graph_id);
    }
}

/* A reported end is not verified yet; a task without one is lost. */
static void judge(const struct supervisor *keeper)
{
    struct task *task = keeper->request.task;
    if (!keeper->request.ended) {
        task->status = STATUS_DEVICE_LOST;
    } else if (task->status == STATUS_OK && task->graph == NULL) {
        read_again(task);
    } else if (task->status == STATUS_CORRUPT) {
        check_damage(task);
    }
    task_files_judge(keeper->config->sample_rows, task);
}

/* ---- Life and death of the process ---- */

/* On entry *loss is the reason to end the process, and it stays so: only a process that hung up by
 * itself gets the way it ended. False when the process does not end even by SIGKILL. */
static bool end_process(struct supervisor *keeper, enum task_loss *loss, int *ret_code)
{
    enum task_loss how = TASK_LOSS_EXIT;
    const bool hung_up = *loss == TASK_LOSS_EXIT;
    const bool told = *loss == TASK_LOSS_NONE;
    const int grace_ms = told ? GRACE_MS : hung_up ? HUNG_UP_GRACE_MS : 0;
    *ret_code = 0;
    keeper->process_lives = false;
    const enum status status =
        worker_process_end(&keeper->request.process, grace_ms, &how, ret_code);
    *loss = hung_up ? how : *loss;
    keeper->process_stays = status != STATUS_OK;
    return !keeper->process_stays;
}

static void log_loss(const struct supervisor *keeper, enum task_loss loss, int code)
{
    char reason[TASK_LOSS_TEXT_SIZE];
    task_loss_describe(loss, code, reason);
    log_write(LOG_ERROR, "worker_lost", LOG_NUMBER("pid", keeper->request.process.pid),
              LOG_TEXT("reason", reason), LOG_NUMBER("jobs", keeper->request.task != NULL),
              LOG_NUMBER("restart_in_s", keeper->backoff_ms / 1e3));
}

static void lose_process(struct supervisor *keeper, enum task_loss loss)
{
    int code;
    const bool gone = end_process(keeper, &loss, &code);
    struct worker_health *health = keeper->health;
    atomic_fetch_add(&health->losses[loss], 1);
    atomic_store(&health->state, gone ? WORKER_RESTARTING : WORKER_LOST);
    log_loss(keeper, loss, code);
    if (keeper->request.task != NULL) {
        keeper->request.task->loss = loss;
        keeper->request.task->loss_code = code;
    }
}

static void do_task(struct supervisor *keeper, struct task *task)
{
    const struct task_folders folders = {keeper->config->graph_folder,
                                         keeper->config->result_folder, true};
    task_files_open(&folders, task);
    keeper->request.task = task;
    keeper->request.ended = task->status != STATUS_OK;
    const enum task_loss loss = worker_link_carry_out(&keeper->request, keeper->model, read_graph);
    if (loss != TASK_LOSS_NONE) {
        lose_process(keeper, loss);
    } else {
        keeper->backoff_ms = BACKOFF_MS_MIN;
    }
    judge(keeper);
    keeper->request.task = NULL;
    task_files_send_home(keeper->config->home, keeper->config->finished, task);
    keeper->request.looked_at_s = clock_monotonic_s();
}

/* Does jobs until the process is lost or the keeper is to stop. */
static void serve(struct supervisor *keeper)
{
    while (keeper->process_lives && !atomic_load(&keeper->stopping)) {
        struct message *message = mailbox_take(keeper->mailbox);
        if (message != NULL) {
            /* The message is the first member of its task. */
            do_task(keeper, (struct task *)message);
            continue;
        }
        const enum task_loss loss = worker_link_idle(&keeper->request);
        if (loss != TASK_LOSS_NONE) {
            lose_process(keeper, loss);
        }
        silence_bell(keeper);
    }
}

/* A process whose solver is open. Else facts tell why there is none. */
static void start_process(struct supervisor *keeper, struct worker_facts *ret_facts)
{
    struct wire_opened opened = {0};
    int code;
    ret_facts->status = worker_process_start(&keeper->request.process);
    if (ret_facts->status != STATUS_OK) {
        problem_set(&ret_facts->problem, ret_facts->status, "No process can be started.");
        return;
    }
    keeper->process_lives = true;
    enum task_loss loss = worker_link_open(&keeper->request, &keeper->setup, &opened);
    *ret_facts = opened.facts;
    if (loss == TASK_LOSS_NONE && opened.facts.status == STATUS_OK) {
        if (keeper->model == NULL) {
            struct solver *model = NULL;
            ret_facts->status = solver_model_create(&opened.figures, &model);
            keeper->model = model;
        }
        return;
    }
    const bool lost = loss != TASK_LOSS_NONE;
    if (!end_process(keeper, &loss, &code)) {
        atomic_store(&keeper->health->state, WORKER_LOST);
    }
    if (lost) {
        char reason[TASK_LOSS_TEXT_SIZE];
        atomic_fetch_add(&keeper->health->losses[loss], 1);
        task_loss_describe(loss, code, reason);
        ret_facts->status =
            problem_set(&ret_facts->problem, STATUS_DEVICE_LOST,
                        "The solver's process ended while it opened the device: %s.", reason);
    }
}

/* Waits before the next start. Messages stay in the mailbox meanwhile. */
static void back_off(struct supervisor *keeper)
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

static void log_sandbox(const struct supervisor *keeper, const struct sandbox_report *report)
{
    if (keeper->setup.sandboxed) {
        log_write(report->without[0] == '\0' ? LOG_INFO : LOG_WARNING, "worker_confined",
                  LOG_NUMBER("pid", keeper->request.process.pid),
                  LOG_NUMBER("landlock", report->landlock_abi),
                  LOG_TEXT("seccomp", report->filtered ? "on" : "off"),
                  LOG_TEXT("without", report->without));
    }
}

static void log_start(const struct supervisor *keeper, const struct worker_facts *facts)
{
    if (facts->status == STATUS_OK) {
        log_sandbox(keeper, &facts->sandbox);
        log_write(LOG_INFO, "worker_started", LOG_NUMBER("pid", keeper->request.process.pid),
                  LOG_TEXT("device", facts->device.name));
    } else {
        log_write(facts->status == STATUS_NO_DEVICE ? LOG_INFO : LOG_ERROR, "worker_not_started",
                  LOG_TEXT("code", status_info(facts->status)->code),
                  LOG_TEXT("detail", facts->problem.detail),
                  LOG_NUMBER("restart_in_s", keeper->backoff_ms / 1e3));
    }
}

/* A task that was posted just before the loss was noticed goes back untouched. */
static void refuse_task(const struct supervisor *keeper, struct message *message)
{
    struct task *task = (struct task *)message;
    task->status = STATUS_DEVICE_LOST;
    task_files_send_home(keeper->config->home, keeper->config->finished, task);
}

static void refuse_mail(const struct supervisor *keeper)
{
    struct message *message;
    while ((message = mailbox_take(keeper->mailbox)) != NULL) {
        refuse_task(keeper, message);
    }
}

/* No second process meets on a device the one that holds it: until that is gone, which may be
 * never, or the keeper is to stop. */
static void outwait_process(struct supervisor *keeper)
{
    log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", keeper->request.process.pid));
    while (keeper->process_stays && !atomic_load(&keeper->stopping)) {
        refuse_mail(keeper);
        keeper->process_stays = !worker_process_await(&keeper->request.process, keeper->bell);
        silence_bell(keeper);
    }
    if (keeper->process_stays) {
        keeper->process_stays = false;
        worker_process_leave_behind(&keeper->request.process);
        return;
    }
    log_write(LOG_INFO, "worker_gone", LOG_NUMBER("pid", keeper->request.process.pid));
    atomic_store(&keeper->health->state, WORKER_RESTARTING);
}

/* Until it is open, or the keeper is to stop. */
static void restart_process(struct supervisor *keeper)
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
static void refuse_until_closed(const struct supervisor *keeper)
{
    struct message *message;
    while ((message = mailbox_wait(keeper->mailbox)) != NULL) {
        refuse_task(keeper, message);
    }
}

void supervisor_run(struct supervisor *keeper)
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
        enum task_loss loss = TASK_LOSS_NONE;
        int code;
        end_process(keeper, &loss, &code);
    }
    if (keeper->process_stays) {
        log_write(LOG_ERROR, "worker_stuck", LOG_NUMBER("pid", keeper->request.process.pid));
        worker_process_leave_behind(&keeper->request.process);
    }
    refuse_until_closed(keeper);
}

void supervisor_hurry(struct supervisor *keeper)
{
    atomic_store(&keeper->request.hurried, true);
}

void supervisor_stop(struct supervisor *keeper)
{
    supervisor_hurry(keeper);
    atomic_store(&keeper->stopping, true);
    mailbox_close(keeper->mailbox);
    ring(keeper);
}

/* ---- Itself ---- */

/* Sealed, so that no process that has it can take memory from under the other. */
static enum status create_board(struct supervisor *keeper)
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

enum status supervisor_create(const struct worker_config *config, struct worker_health *health,
                              struct supervisor **ret_keeper)
{
    struct supervisor *keeper = calloc(1, sizeof(*keeper));
    if (keeper == NULL) {
        return STATUS_NO_MEMORY;
    }
    keeper->config = config;
    keeper->health = health;
    keeper->setup =
        (struct worker_setup){*config->solver, config->gpu, config->gpu_index, config->sandboxed};
    keeper->backoff_ms = BACKOFF_MS_MIN;
    keeper->board_descriptor = -1;
    keeper->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum status status = keeper->bell < 0 ? STATUS_NO_MEMORY : create_board(keeper);
    if (status == STATUS_OK) {
        status = mailbox_create(ring, keeper, &keeper->mailbox);
    }
    if (status != STATUS_OK) {
        supervisor_destroy(keeper);
        return status;
    }
    keeper->request.board = keeper->board;
    keeper->request.board_descriptor = keeper->board_descriptor;
    keeper->request.bell = keeper->bell;
    keeper->request.stall_s = config->stall_s;
    *ret_keeper = keeper;
    return STATUS_OK;
}

void supervisor_destroy(struct supervisor *keeper)
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

struct mailbox *supervisor_mailbox(const struct supervisor *keeper)
{
    return keeper->mailbox;
}

struct task_board *supervisor_board(const struct supervisor *keeper)
{
    return keeper->board;
}

const struct solver *supervisor_model(const struct supervisor *keeper)
{
    return keeper->model;
}
