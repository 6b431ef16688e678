#include "server/job/worker/child.h"

#include "server/job/worker/loop.h"
#include "server/job/worker/protocol.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Between two beats of the heart. */
#define BEAT_MS 200
/* For deep library frames, of the heart's thread. */
#define HEART_STACK_BYTES ((size_t)256 << 10)
/* Added to what the kernel thinks of the daemon: short of memory it takes the worker first. */
#define OOM_SCORE "500"

struct child {
    int socket;
    struct task_board *board;
    struct worker_setup setup;
    struct sandbox_policy policy;
    struct sandbox_report sandbox;
    struct task task;
    pthread_t heart;
    atomic_bool busy;
};

static void leave(int code)
{
    _exit(code);
}

static void say(const struct child *child, const struct wire_message *message)
{
    if (worker_protocol_send(child->socket, message, NULL, 0) != STATUS_OK) {
        leave(0); /* the daemon is gone */
    }
}

/* ---- The heart ---- */

/* Beats as long as the process is scheduled, whatever the solver does; and hears when the daemon
 * hangs up: in the middle of a job nobody waits for its end. */
static void *beat(void *context)
{
    struct child *child = context;
    struct pollfd look = {.fd = child->socket, .events = POLLRDHUP};
    while (poll(&look, 1, BEAT_MS) <= 0 || (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0) {
        atomic_fetch_add(&child->board->beats, 1);
    }
    if (atomic_load(&child->busy)) {
        leave(0);
    }
    return NULL;
}

static bool start_heart(struct child *child)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, HEART_STACK_BYTES);
    const int error = pthread_create(&child->heart, &attributes, beat, child);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* ---- The line ---- */

/* The solver has what it needs, its threads too: from here on nothing is opened by its path but by
 * CUDA, and what tells of the machine's memory. Before any work has come, so that who breaks in
 * through a graph finds the door shut. */
static void opened(void *context, const struct worker_facts *facts, const struct solver *solver)
{
    struct child *child = context;
    struct wire_message message = {.type = WIRE_OPENED};
    struct worker_facts *told = &message.body.opened.facts;
    *told = *facts;
    if (child->setup.sandboxed &&
        sandbox_filter_calls(&child->policy, &child->sandbox) != STATUS_OK) {
        told->status = problem_set(&told->problem, STATUS_NO_MEMORY,
                                   "There is not enough memory to confine the solver.");
    }
    told->sandbox = child->sandbox;
    if (solver != NULL) {
        solver_get_figures(solver, &message.body.opened.figures);
    }
    say(child, &message);
}

static struct task *next(void *context)
{
    struct child *child = context;
    struct task *task = &child->task;
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    const enum status status = worker_protocol_receive(child->socket, &message, descriptors);
    if (status == STATUS_IO) {
        return NULL;
    }
    if (status != STATUS_OK || message.type != WIRE_TASK) {
        leave(WORKER_EXIT_WIRE);
    }
    atomic_store(&child->busy, true);
    const struct wire_task *order = &message.body.task;
    *task = (struct task){
        .vertex_count = order->vertex_count,
        .kind = (enum kind)order->kind,
        .verify = order->verify != 0,
        .signal = &child->board->signal,
        .graph_descriptor = descriptors[0],
    };
    memcpy(task->graph_id, order->graph_id, sizeof(task->graph_id));
    task->status = result_file_adopt(descriptors[1], order->vertex_count, task->kind, &task->file);
    if (task->status != STATUS_OK) {
        close(descriptors[1]);
        problem_set(&task->problem, task->status, "The result file cannot be mapped.");
    }
    return task;
}

static void say_cycle(const struct child *child, const struct task *task)
{
    const struct solve_outcome *outcome = &task->outcome;
    for (size_t sent = 0; sent < outcome->cycle_length;) {
        struct wire_message message = {.type = WIRE_CYCLE};
        struct wire_cycle *cycle = &message.body.cycle;
        const size_t left = outcome->cycle_length - sent;
        cycle->count = left < WIRE_CYCLE_VERTICES ? (uint32_t)left : WIRE_CYCLE_VERTICES;
        memcpy(cycle->vertices, outcome->cycle + sent, cycle->count * sizeof(*cycle->vertices));
        say(child, &message);
        sent += cycle->count;
    }
}

static void done(void *context, struct task *task, const struct solver *solver)
{
    struct child *child = context;
    struct wire_message message = {.type = WIRE_DONE};
    /* After an error that stays, nothing that this process computes can be trusted, and no other
     * call to the device mends it. */
    if (task->status == STATUS_DEVICE_LOST) {
        leave(WORKER_EXIT_DEVICE + (int)solver_fault_class());
    }
    /* The file is let go of before the daemon is told: what it reads then does not change. */
    result_file_destroy(task->file);
    task->file = NULL;
    say_cycle(child, task);
    worker_protocol_fill_done(task, &message.body.done);
    say(child, &message);
    task_finish(task);
    message = (struct wire_message){.type = WIRE_HOME};
    solver_get_figures(solver, &message.body.home);
    atomic_store(&child->busy, false);
    say(child, &message);
}

/* ---- Life and death ---- */

static void set_up_process(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Meant for the daemon, whose group this is too: it says when to leave. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t ignored = write(file, OOM_SCORE, strlen(OOM_SCORE));
        (void)ignored;
        close(file);
    }
}

static bool take_setup(struct child *child)
{
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    if (worker_protocol_receive(child->socket, &message, descriptors) != STATUS_OK ||
        message.type != WIRE_SETUP) {
        return false;
    }
    child->setup = message.body.setup;
    child->board =
        mmap(NULL, sizeof(*child->board), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
    close(descriptors[0]);
    return child->board != MAP_FAILED;
}

/* Before the first thread, which its own threads inherit it from. The driver of a GPU is loaded
 * before, as what that takes nobody has listed; and compiles into memory alone. */
static void enter_sandbox(struct child *child)
{
    char reason[SOLVER_REASON_SIZE];
    child->policy = (struct sandbox_policy){.role = SANDBOX_WORKER, .devices = child->setup.gpu};
    if (child->setup.sandboxed) {
        if (child->setup.gpu && setenv("CUDA_CACHE_DISABLE", "1", 1) == 0) {
            (void)solver_gpu_count(reason);
        }
        sandbox_enter(&child->policy, &child->sandbox);
    }
}

int worker_child_run(int socket)
{
    struct child *child = calloc(1, sizeof(*child));
    if (child == NULL) {
        return WORKER_EXIT_WIRE;
    }
    child->socket = socket;
    set_up_process();
    bool ready = take_setup(child);
    if (ready) {
        enter_sandbox(child);
        ready = start_heart(child);
    }
    if (!ready) {
        free(child);
        return WORKER_EXIT_WIRE;
    }
    const struct worker_line line = {child, opened, next, done};
    worker_loop_run(&child->setup, &line);
    pthread_join(child->heart, NULL);
    munmap(child->board, sizeof(*child->board));
    free(child);
    return 0;
}
