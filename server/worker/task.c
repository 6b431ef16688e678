#include "server/worker/task.h"

#include "server/clock.h"
#include "server/store/graph_file.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GAP_FACTOR 20.0
#define HURRIED_S 5.0
#define ELAPSED_FACTOR 4.0
/* Others are hashed for longer than they are planned. */
#define KEPT_EDGES_MAX (UINT64_C(1) << 26)
/* A dense plan has a round for every so many vertices, at most. */
#define ROUND_VERTICES_MAX 256

void task_finish(struct task *task)
{
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    graph_destroy(task->graph);
    search_pool_destroy(task->searches);
    result_file_destroy(task->file);
    order_file_finish(&task->order_file);
    result_unref(task->base);
    task->base = NULL;
    vertex_names_destroy(task->names);
    solve_outcome_finish(&task->outcome);
    task->graph_descriptor = 0;
    task->graph = NULL;
    task->searches = NULL;
    task->file = NULL;
    task->names = NULL;
}

/* ---- Its files, before ---- */

/* Want of room, of memory or of open files may pass, and so may an error of the disk. */
static bool may_pass(enum status status)
{
    return status == STATUS_DISK_FULL || status == STATUS_NO_MEMORY || status == STATUS_IO;
}

static enum status check_graph(struct task *task, enum status status)
{
    task->is_passing = may_pass(status);
    return status == STATUS_OK ? status
                               : problem_set(&task->problem, status,
                                             "The stored graph %s cannot be read.", task->graph_id);
}

enum status task_check_result(struct task *task, enum status status)
{
    task->is_passing = may_pass(status);
    if (status == STATUS_OK) {
        return status;
    }
    return problem_set(&task->problem, status, "%s the result of %u vertices.",
                       status == STATUS_DISK_FULL ? "There is no room on the disk for"
                       : status == STATUS_CORRUPT ? "The solver changed the size or the headers of"
                                                  : "No file can be made for",
                       task->vertex_count);
}

static enum status open_graph(const struct task_folders *folders, struct task *task)
{
    if (task->graph != NULL) {
        task->vertex_count = task->graph->vertex_count;
    }
    if (task->graph != NULL && !folders->graph_files) {
        return STATUS_OK;
    }
    int descriptor;
    const enum status status =
        check_graph(task, graph_file_open(folders->graphs, task->graph_id, &descriptor));
    if (status != STATUS_OK) {
        return status;
    }
    /* The folders are open, so even where the standard streams are closed 0 is taken. */
    CHECK(descriptor > 0);
    task->graph_descriptor = descriptor;
    return STATUS_OK;
}

static enum status make_result_file(const struct task_folders *folders, struct task *task)
{
    const double began_s = clock_monotonic_s();
    const enum status status = result_file_create(folders->results, task->vertex_count, task->kind,
                                                  task->form, &task->file);
    task->write_s += clock_monotonic_s() - began_s;
    atomic_store(&task->signal->placed, status == STATUS_OK && result_file_has_room(task->file));
    return task_check_result(task, status);
}

enum status task_read_graph(struct task *task)
{
    const double began_s = clock_monotonic_s();
    struct graph *graph = NULL;
    enum status status = graph_file_read_open(task->graph_descriptor, task->graph_id, &graph);
    task->parse_s += clock_monotonic_s() - began_s;
    if (status == STATUS_OK && graph->vertex_count != task->vertex_count) {
        status = STATUS_CORRUPT;
    }
    if (status == STATUS_OK && task->graph == NULL) {
        task->graph = graph;
        graph = NULL;
    }
    graph_destroy(graph);
    return check_graph(task, status);
}

enum status task_write_result(struct task *task, const void *hierarchy, uint64_t size)
{
    const double began_s = clock_monotonic_s();
    const enum status status = hierarchy != NULL
                                   ? result_file_write_hierarchy(task->file, hierarchy, size)
                                   : result_file_write_matrix(task->file);
    task->write_s += clock_monotonic_s() - began_s;
    return task_check_result(task, status);
}

/* The pattern of the graph says which file it is. That a graph cannot be read, or is another one,
 * is for the solve to tell. */
void task_open_order_file(const struct task_folders *folders, struct task *task)
{
    if (task->status != STATUS_OK || task->is_updated || folders->plan_budget_bytes == 0 ||
        task->vertex_count < TASK_KEPT_VERTICES_MIN || task->edge_count > KEPT_EDGES_MAX) {
        return;
    }
    if (task->graph == NULL && task_read_graph(task) != STATUS_OK) {
        return;
    }
    order_file_open(folders->orders, folders->plan_budget_bytes, task->graph, task->order_seed,
                    &task->order_file);
}

void task_read_record(const struct task *task, struct order_record *record)
{
    if (task->order_file.descriptor > 0) {
        record->words =
            order_file_read(task->order_file.descriptor,
                            order_record_limit(task->graph->vertex_count), &record->count);
    }
}

void task_keep_record(const struct task *task, const struct order_record *record)
{
    if (record->fresh && task->order_file.descriptor > 0) {
        order_file_write(task->order_file.descriptor, record->words, record->count);
    }
    free(record->words);
}

void task_open_files(const struct task_folders *folders, struct task *task)
{
    task->status = STATUS_CANCELLED;
    if (!atomic_load(&task->signal->cancelled)) {
        task->status = open_graph(folders, task);
    }
    if (task->status == STATUS_OK) {
        task->status = make_result_file(folders, task);
    }
}

void task_send_home(struct mailbox *home, void (*finished)(struct message *message),
                    struct task *task)
{
    struct graph *graph = task->graph;
    struct order_file order_file = task->order_file;
    struct result_file *spoilt = task->status != STATUS_OK ? task->file : NULL;
    if (task->graph_descriptor > 0) {
        close(task->graph_descriptor);
    }
    task->graph_descriptor = 0;
    task->graph = NULL;
    task->order_file = (struct order_file){0};
    task->file = spoilt != NULL ? NULL : task->file;
    task->message.deliver = finished;
    mailbox_post(home, &task->message);
    graph_destroy(graph);
    result_file_destroy(spoilt);
    order_file_finish(&order_file);
}

/* ---- Its signal ---- */

void task_signal_reset(struct task_signal *signal)
{
    static const struct task_signal nothing;
    task_signal_copy(&nothing, signal);
}

void task_signal_copy(const struct task_signal *from, struct task_signal *to)
{
    atomic_store(&to->cancelled, atomic_load(&from->cancelled));
    atomic_store(&to->placed, atomic_load(&from->placed));
    atomic_store(&to->rounds_done, atomic_load(&from->rounds_done));
    atomic_store(&to->rounds_total, atomic_load(&from->rounds_total));
    to->progress = from->progress;
}

static void report_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct task_signal *signal = context;
    atomic_store(&signal->rounds_total, rounds_total);
    atomic_store(&signal->rounds_done, rounds_done);
}

static bool is_cancelled(void *context)
{
    struct task_signal *signal = context;
    return atomic_load(&signal->cancelled);
}

static void tell_share(void *context, enum solve_phase phase, double share)
{
    progress_tell(&((struct task_signal *)context)->progress, phase, share, clock_monotonic_s());
}

static void expect_phases(void *context, const double seconds[PHASE_COUNT])
{
    progress_expect(&((struct task_signal *)context)->progress, seconds, clock_monotonic_s());
}

struct observer task_signal_observer(struct task_signal *signal)
{
    return (struct observer){signal, report_progress, is_cancelled, tell_share, expect_phases};
}

/* ---- Its loss ---- */

void task_loss_describe(enum task_loss loss, int code, char ret_text[TASK_LOSS_TEXT_SIZE])
{
    static const char *const texts[] = {
        [TASK_LOSS_NONE] = "none",
        [TASK_LOSS_STALLED] = "it made no progress and was ended",
        [TASK_LOSS_SILENT] = "it gave no sign of life and was ended",
        [TASK_LOSS_PROTOCOL] = "it said what makes no sense and was ended",
    };
    if (loss == TASK_LOSS_EXIT) {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "it left with code %d", code);
    } else if (loss == TASK_LOSS_SIGNAL) {
        const char *name = sigabbrev_np(code);
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "it was ended by signal %d (%s)", code,
                 name != NULL ? name : "unknown");
    } else {
        snprintf(ret_text, TASK_LOSS_TEXT_SIZE, "%s", texts[loss]);
    }
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
        (uint64_t)done + total + (atomic_load(&signal->progress.begun_at_s) > 0 ? 1 : 0);
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

/* ---- Messages on the socket ---- */

#define BODY_OFFSET offsetof(struct wire_message, body)

static const struct {
    size_t size; /* of the whole message */
    uint32_t descriptors;
} types[WIRE_TYPE_COUNT] = {
    [WIRE_SETUP] = {BODY_OFFSET + sizeof(struct worker_setup), 1},
    [WIRE_OPENED] = {BODY_OFFSET + sizeof(struct wire_opened), 0},
    [WIRE_TASK] = {BODY_OFFSET + sizeof(struct wire_task), 3},
    [WIRE_CYCLE] = {BODY_OFFSET + sizeof(struct wire_cycle), 0},
    [WIRE_DONE] = {BODY_OFFSET + sizeof(struct wire_done), 0},
    [WIRE_LAUNCH] = {BODY_OFFSET, 2},
    [WIRE_KILL] = {BODY_OFFSET, 0},
    [WIRE_SOCKET] = {BODY_OFFSET, 1},
};

/* Room for the descriptors of a message, aligned as a control message must be. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(WIRE_DESCRIPTOR_LIMIT * sizeof(int))];
};

enum status worker_protocol_send(int socket, const struct wire_message *message,
                                 const int *descriptors)
{
    CHECK(message->type > 0 && message->type < WIRE_TYPE_COUNT);
    const size_t bytes = types[message->type].descriptors * sizeof(int);
    struct wire_message copy = *message; /* sendmsg takes what is not const */
    struct iovec part = {&copy, types[message->type].size};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    union control control = {0};
    ssize_t sent;
    if (bytes > 0) {
        head.msg_control = control.bytes;
        head.msg_controllen = CMSG_SPACE(bytes);
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(cmsg), descriptors, bytes);
    }
    do {
        sent = sendmsg(socket, &head, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        return STATUS_OK;
    }
    /* Too many descriptors on the way pass as well. */
    return errno == EAGAIN || errno == ETOOMANYREFS ? STATUS_NOT_READY : STATUS_IO;
}

enum status worker_protocol_receive(int socket, struct wire_message *ret_message,
                                    int *ret_descriptors)
{
    struct iovec part = {ret_message, sizeof(*ret_message)};
    union control control;
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof(control.bytes)};
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
    uint32_t count = 0;
    ssize_t got;
    do {
        got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return got < 0 && errno == EAGAIN ? STATUS_NOT_READY : STATUS_IO;
    }
    /* Descriptors beyond the room were dropped by the kernel. */
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head); cmsg != NULL;
         cmsg = CMSG_NXTHDR(&head, cmsg)) {
        if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
            const size_t bytes = cmsg->cmsg_len - CMSG_LEN(0);
            memcpy(descriptors, CMSG_DATA(cmsg), bytes);
            count = (uint32_t)(bytes / sizeof(int));
        }
    }
    const uint32_t type = (size_t)got >= BODY_OFFSET ? ret_message->type : 0;
    if ((head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && type > 0 && type < WIRE_TYPE_COUNT &&
        (size_t)got == types[type].size && count == types[type].descriptors &&
        (count == 0 || ret_descriptors != NULL)) {
        for (uint32_t i = 0; i < count; i++) {
            ret_descriptors[i] = descriptors[i];
        }
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        close(descriptors[i]);
    }
    return STATUS_CORRUPT;
}

/* ---- Checks of what a process says, which may be any bytes ---- */

/* A bool that is neither 0 nor 1 must not be read as a bool. */
static bool is_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, sizeof(byte));
    return byte <= 1;
}

static bool is_duration(double seconds)
{
    return seconds >= 0 && isfinite(seconds);
}

static bool is_problem(const struct problem *problem)
{
    return is_bool(&problem->has_limit) && (unsigned)problem->status < STATUS_COUNT &&
           isfinite(problem->limit) && isfinite(problem->actual);
}

static void end_texts(struct problem *problem, struct solver_device *device)
{
    problem->detail[sizeof(problem->detail) - 1] = '\0';
    problem->hint[sizeof(problem->hint) - 1] = '\0';
    device->solver[sizeof(device->solver) - 1] = '\0';
    device->name[sizeof(device->name) - 1] = '\0';
    device->detail[sizeof(device->detail) - 1] = '\0';
}

/* ---- The end of a task ---- */

void worker_protocol_fill_done(const struct task *task, struct wire_done *ret_done)
{
    const struct solve_outcome *outcome = &task->outcome;
    const struct solve_account *account = &outcome->account;
    *ret_done = (struct wire_done){
        .status = (uint32_t)task->status,
        .cycle_length = (uint32_t)outcome->cycle_length,
        .is_passing = task->is_passing,
        .problem = task->problem,
        .write_s = task->write_s,
        .parse_s = task->parse_s,
        .timings = account->timings,
        .device_count = account->device_count,
        .plan = outcome->plan,
        .verification = account->verification,
        .cycle_weight = outcome->cycle_weight,
        .arc_count = outcome->arc_count,
        .device = outcome->device,
    };
    memcpy(ret_done->devices, account->devices, sizeof(ret_done->devices));
}

enum status worker_protocol_take_done(const struct wire_done *done, struct task *task)
{
    struct solve_outcome *outcome = &task->outcome;
    const struct verification *verification = &done->verification;
    const struct timings *timings = &done->timings;
    const double durations[] = {
        done->write_s,         done->parse_s,      done->plan.planning_s, verification->tolerance,
        verification->seconds, timings->queue_s,   timings->parse_s,      timings->fill_s,
        timings->h2d_s,        timings->compute_s, timings->d2h_s,        timings->write_s,
        timings->total_s,
    };
    bool is_sound =
        done->status < STATUS_COUNT && is_problem(&done->problem) && is_bool(&done->is_passing) &&
        (!done->is_passing || may_pass((enum status)done->status)) &&
        (unsigned)done->plan.kind <= PLAN_NESTED_DISSECTION && isfinite(done->plan.work_fraction) &&
        is_bool(&done->plan.cached) && is_bool(&verification->done) &&
        verification->of <= UINT32_MAX && verification->rows <= verification->of &&
        done->device_count <= SOLVE_DEVICES_MAX && done->arc_count <= INT64_MAX &&
        isfinite(done->cycle_weight) && done->cycle_length == outcome->cycle_length &&
        (done->status == STATUS_NEGATIVE_CYCLE || done->cycle_length == 0);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        is_sound = is_sound && is_duration(durations[i]);
    }
    for (uint32_t i = 0; is_sound && i < done->device_count; i++) {
        const struct device_share *share = &done->devices[i];
        is_sound = is_duration(share->fill_s) && is_duration(share->compute_s) &&
                   is_duration(share->d2h_s);
    }
    if (!is_sound) {
        return STATUS_CORRUPT;
    }
    task->status = (enum status)done->status;
    task->is_passing = done->is_passing;
    task->problem = done->problem;
    task->write_s += done->write_s;
    task->parse_s += done->parse_s;
    outcome->account.timings = *timings;
    outcome->account.device_count = done->device_count;
    memcpy(outcome->account.devices, done->devices, sizeof(done->devices));
    outcome->account.verification = *verification;
    outcome->plan = done->plan;
    outcome->cycle_weight = done->cycle_weight;
    outcome->arc_count = done->arc_count;
    outcome->device = done->device;
    end_texts(&task->problem, &outcome->device);
    return STATUS_OK;
}

/* No cycle that is named enters a vertex twice. */
enum status worker_protocol_take_cycle(const struct wire_cycle *cycle, struct task *task)
{
    struct solve_outcome *outcome = &task->outcome;
    const size_t length = outcome->cycle_length + cycle->count;
    if (cycle->count == 0 || cycle->count > WIRE_CYCLE_VERTICES || length > task->vertex_count) {
        return STATUS_CORRUPT;
    }
    for (uint32_t i = 0; i < cycle->count; i++) {
        if (cycle->vertices[i] >= task->vertex_count) {
            return STATUS_CORRUPT;
        }
    }
    uint32_t *vertices = realloc(outcome->cycle, length * sizeof(*vertices));
    if (vertices == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(vertices + outcome->cycle_length, cycle->vertices, cycle->count * sizeof(*vertices));
    outcome->cycle = vertices;
    outcome->cycle_length = length;
    return STATUS_OK;
}

/* ---- The opening ---- */

enum status worker_protocol_take_opened(const struct wire_opened *opened,
                                        const struct worker_setup *setup,
                                        struct worker_facts *ret_facts)
{
    const struct worker_facts *facts = &opened->facts;
    bool is_sound = (unsigned)facts->status < STATUS_COUNT && is_problem(&facts->problem) &&
                    is_bool(&facts->sandbox.filtered) && facts->sandbox.landlock_abi >= 0 &&
                    facts->device.members <= SOLVE_DEVICES_MAX;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        is_sound = is_sound && is_duration(facts->pace_s[kind]);
    }
    /* The model of the solver is made from figures of the same back end. Ranks, which are no worker
     * for a GPU here, may have any. */
    if (facts->status == STATUS_OK) {
        is_sound =
            is_sound && is_bool(&opened->figures.gpu) && (opened->figures.gpu || !setup->gpu);
    }
    if (!is_sound) {
        return STATUS_CORRUPT;
    }
    *ret_facts = *facts;
    end_texts(&ret_facts->problem, &ret_facts->device);
    ret_facts->sandbox.without[sizeof(ret_facts->sandbox.without) - 1] = '\0';
    return STATUS_OK;
}
