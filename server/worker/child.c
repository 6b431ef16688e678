#include "server/worker/child.h"

#include "server/worker/launcher.h"
#include "server/worker/watch.h"
#include "server/worker/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Exit codes of a worker process: after an invalid message, and after a device failure. */
#define WORKER_EXIT_PROTOCOL 79
#define WORKER_EXIT_DEVICE 80
#define HEARTBEAT_MS 200
/* Value added to the OOM score, so that the kernel kills the worker before the daemon. */
#define OOM_SCORE "500"

struct child {
    int socket;
    const struct ranks *ranks; /* NULL = not an MPI rank */
    atomic_bool is_waiting;    /* rank 0 is waiting for the other ranks */
    struct worker_shared *shared;
    struct worker_setup setup;
    struct sandbox_policy policy;
    struct sandbox_report sandbox;
    struct task_solver solver;
};

static void send_message(const struct child *child, const struct wire_message *message)
{
    if (wire_send(child->socket, message, NULL) != STATUS_OK) {
        _exit(0); /* the daemon has exited */
    }
}

/* Increments the heartbeat counter until the daemon closes the socket. Heartbeats show only that
 * the process is scheduled, whatever the solver does. They pause while rank 0 waits for the other
 * ranks. */
static void *send_heartbeats(void *context)
{
    const struct child *child = context;
    struct pollfd look = {.fd = child->socket, .events = POLLRDHUP};
    while (poll(&look, 1, HEARTBEAT_MS) <= 0 ||
           (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0) {
        atomic_fetch_add(&child->shared->heartbeats, !atomic_load(&child->is_waiting));
    }
    return NULL;
}

/* Filters system calls and reports whether the solver was opened. The solver's threads have been
 * started, so from now on files are opened only by CUDA and to read the machine's free memory. The
 * filter is complete before the first task, which may contain a malicious graph. */
static void report_opening(struct child *child, const struct worker_facts *facts)
{
    struct wire_message message = {.type = WIRE_OPENED, .body.opened.facts = *facts};
    struct worker_facts *told = &message.body.opened.facts;
    if (child->setup.sandboxed &&
        sandbox_filter_calls(&child->policy, &child->sandbox) != STATUS_OK) {
        told->status = problem_set(&told->problem, STATUS_NO_MEMORY,
                                   "There is not enough memory to sandbox the solver.");
    }
    told->sandbox = child->sandbox;
    if (child->solver.solver != NULL) {
        solver_get_figures(child->solver.solver, &message.body.opened.figures);
    }
    send_message(child, &message);
}

/* Receives the next task. Returns false once the daemon has closed the socket. */
static bool receive_task(struct child *child, struct task *task)
{
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    const enum status status = wire_receive(child->socket, &message, descriptors);
    if (status == STATUS_IO) {
        return false;
    }
    if (status != STATUS_OK || message.type != WIRE_TASK) {
        _exit(WORKER_EXIT_PROTOCOL);
    }
    if (child->ranks != NULL) {
        atomic_store(&child->is_waiting, true);
        task_solver_meet(child->ranks);
        atomic_store(&child->is_waiting, false);
    }
    const struct wire_task *order = &message.body.task;
    *task = (struct task){
        .vertex_count = order->vertex_count,
        .kind = (enum kind)order->kind,
        .form = (enum result_form)order->form,
        .verify = order->verify != 0,
        .signal = &child->shared->signal,
        .graph_descriptor = descriptors[0],
        .order_file = {.descriptor = descriptors[2]},
    };
    if (order->has_order_file == 0) {
        order_file_finish(&task->order_file);
    }
    memcpy(task->graph_id, order->graph_id, sizeof(task->graph_id));
    task->status = task_check_result(task, result_file_adopt(descriptors[1], order->vertex_count,
                                                             task->kind, task->form, &task->file));
    if (task->status != STATUS_OK) {
        close(descriptors[1]);
    }
    return true;
}

static void report_task(const struct child *child, struct task *task)
{
    struct wire_message message = {.type = WIRE_DONE};
    /* The error is sticky: neither results nor further calls to the device can be trusted. */
    if (task->status == STATUS_DEVICE_LOST) {
        _exit(WORKER_EXIT_DEVICE);
    }
    /* Unmaps the file before it reports, so that the daemon reads a file that no longer changes. */
    result_file_destroy(task->file);
    task->file = NULL;
    wire_write_done(task, &message.body.done);
    solver_get_figures(child->solver.solver, &message.body.done.figures);
    task_finish(task);
    send_message(child, &message);
}

static void set_up_process(void)
{
    /* The worker shares the daemon's process group, but exits only when the daemon asks it to. */
    static const int ignored_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof(ignored_signals) / sizeof(ignored_signals[0]); i++) {
        signal(ignored_signals[i], SIG_IGN);
    }
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, OOM_SCORE, strlen(OOM_SCORE));
        close(file);
    }
}

static bool receive_setup(struct child *child)
{
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    if (wire_receive(child->socket, &message, descriptors) != STATUS_OK ||
        message.type != WIRE_SETUP) {
        return false;
    }
    child->setup = message.body.setup;
    child->policy = (struct sandbox_policy){.role = SANDBOX_WORKER, .devices = child->setup.gpu};
    child->shared =
        mmap(NULL, sizeof(*child->shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
    close(descriptors[0]);
    return child->shared != MAP_FAILED;
}

/* Shares the setup of rank 0 with all ranks. */
static void share_setup(const struct ranks *ranks, struct worker_setup *setup)
{
    ranks->await(ranks->context, setup, sizeof(*setup));
    if (setup->solver.cpu_threads == 0) {
        setup->solver.cpu_threads = ranks->threads;
    }
}

int worker_child_run(int socket, struct ranks *ranks)
{
    struct child child = {.socket = socket, .ranks = ranks};
    struct worker_facts facts;
    struct task task;
    char reason[SOLVER_REASON_SIZE];
    pthread_t heartbeats;
    /* A rank keeps the default signal actions, so that its launcher can end it. */
    if (ranks == NULL) {
        set_up_process();
    }
    if (!receive_setup(&child)) {
        return WORKER_EXIT_PROTOCOL;
    }
    if (ranks != NULL) {
        share_setup(ranks, &child.setup);
    }
    /* The sandbox starts before the first thread, because threads inherit it. The GPU's driver is
     * loaded even earlier, because it opens unknown files; its disk cache is disabled. */
    if (child.setup.sandboxed) {
        if (child.setup.gpu && setenv("CUDA_CACHE_DISABLE", "1", 1) == 0) {
            (void)solver_gpu_count(reason);
        }
        sandbox_enter(&child.policy, &child.sandbox);
    }
    if (pthread_create(&heartbeats, NULL, send_heartbeats, &child) != 0) {
        return WORKER_EXIT_PROTOCOL;
    }
    task_solver_open(&child.setup, ranks, &child.solver, &facts);
    report_opening(&child, &facts);
    while (receive_task(&child, &task)) {
        if (task.status == STATUS_OK) {
            task_solver_run(&child.solver, &task);
        }
        report_task(&child, &task);
    }
    task_solver_close(&child.solver);
    pthread_join(heartbeats, NULL);
    munmap(child.shared, sizeof(*child.shared));
    return 0;
}

int worker_child_run_rank(const char *name, struct ranks *ranks)
{
    struct worker_setup setup;
    const bool is_first = ranks_is_first(ranks);
    /* A killed launcher cannot end its ranks, so the kernel kills each rank with its parent. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int socket = is_first ? worker_launcher_connect(name) : -1;
    const enum status status = is_first && socket < 0 ? STATUS_IO : STATUS_OK;
    if (status != STATUS_OK) {
        fprintf(stderr,
                "apsp-mpi: no service on this host is waiting for this rank at %s; the first rank "
                "must run on the host of the service\n",
                name);
    }
    if (ranks_agree(ranks, status) != STATUS_OK) {
        return WORKER_EXIT_PROTOCOL;
    }
    if (is_first) {
        return worker_child_run(socket, ranks);
    }
    share_setup(ranks, &setup);
    task_solver_follow(&setup, ranks);
    return 0;
}
