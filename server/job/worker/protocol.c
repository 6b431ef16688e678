#include "server/job/worker/protocol.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const size_t body_sizes[WIRE_TYPE_COUNT] = {
    [WIRE_SETUP] = sizeof(struct worker_setup), [WIRE_OPENED] = sizeof(struct wire_opened),
    [WIRE_TASK] = sizeof(struct wire_task),     [WIRE_CYCLE] = sizeof(struct wire_cycle),
    [WIRE_DONE] = sizeof(struct wire_done),     [WIRE_HOME] = sizeof(struct solver_figures),
};

static const uint32_t descriptor_counts[WIRE_TYPE_COUNT] = {[WIRE_SETUP] = 1, [WIRE_TASK] = 2};

/* Room for the descriptors of a message, aligned as a control message must be. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(WIRE_DESCRIPTOR_LIMIT * sizeof(int))];
};

enum status worker_protocol_pair(int ret_sockets[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_sockets) == 0
               ? STATUS_OK
               : STATUS_NO_MEMORY;
}

static size_t size_of(const struct wire_message *message)
{
    return offsetof(struct wire_message, body) + body_sizes[message->type];
}

static void attach(struct msghdr *head, union control *control, const int *descriptors,
                   uint32_t count)
{
    memset(control, 0, sizeof(*control));
    head->msg_control = control->bytes;
    head->msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(head);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(cmsg), descriptors, count * sizeof(int));
}

enum status worker_protocol_send(int socket, const struct wire_message *message,
                                 const int *descriptors, uint32_t count)
{
    struct wire_message copy = *message; /* sendmsg takes what is not const */
    struct iovec part = {&copy, size_of(message)};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    ssize_t sent;
    CHECK(message->type > 0 && message->type < WIRE_TYPE_COUNT &&
          count == descriptor_counts[message->type]);
    if (count > 0) {
        attach(&head, &control, descriptors, count);
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

/* How many came; those beyond the room were dropped by the kernel. */
static uint32_t detach(struct msghdr *head, int ret_descriptors[WIRE_DESCRIPTOR_LIMIT])
{
    uint32_t count = 0;
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(head); cmsg != NULL; cmsg = CMSG_NXTHDR(head, cmsg)) {
        if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
            const size_t bytes = cmsg->cmsg_len - CMSG_LEN(0);
            memcpy(ret_descriptors, CMSG_DATA(cmsg), bytes);
            count = (uint32_t)(bytes / sizeof(int));
        }
    }
    return count;
}

static bool is_sound(const struct wire_message *message, size_t size, uint32_t descriptors)
{
    return size >= offsetof(struct wire_message, body) && message->type > 0 &&
           message->type < WIRE_TYPE_COUNT && size == size_of(message) &&
           descriptors == descriptor_counts[message->type];
}

enum status worker_protocol_receive(int socket, struct wire_message *ret_message,
                                    int ret_descriptors[WIRE_DESCRIPTOR_LIMIT])
{
    struct iovec part = {ret_message, sizeof(*ret_message)};
    union control control;
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof(control.bytes)};
    ssize_t got;
    do {
        got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return got < 0 && errno == EAGAIN ? STATUS_NOT_READY : STATUS_IO;
    }
    const uint32_t count = detach(&head, ret_descriptors);
    if ((head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
        is_sound(ret_message, (size_t)got, count)) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        close(ret_descriptors[i]);
    }
    return STATUS_CORRUPT;
}

/* ---- The end of a task ---- */

void worker_protocol_fill_done(const struct task *task, struct wire_done *ret_done)
{
    const struct solve_outcome *outcome = &task->outcome;
    const struct verification *verification = &outcome->account.verification;
    *ret_done = (struct wire_done){
        .status = (uint32_t)task->status,
        .problem = task->problem,
        .write_s = task->write_s,
        .parse_s = task->parse_s,
        .timings = outcome->account.timings,
        .plan_kind = (uint32_t)outcome->plan.kind,
        .plan_parts = outcome->plan.parts,
        .plan_largest_separator = outcome->plan.largest_separator,
        .plan_work_fraction = outcome->plan.work_fraction,
        .plan_planning_s = outcome->plan.planning_s,
        .verified = verification->done,
        .verified_on_device = verification->on_device,
        .verified_rows = verification->rows,
        .verified_of = verification->of,
        .verified_edges = verification->edges,
        .verified_tolerance = verification->tolerance,
        .verified_seconds = verification->seconds,
        .cycle_length = (uint32_t)outcome->cycle_length,
        .cycle_weight = outcome->cycle_weight,
        .device = outcome->device,
    };
}

static bool is_duration(double seconds)
{
    return seconds >= 0 && isfinite(seconds);
}

static bool are_durations(const struct timings *timings)
{
    return is_duration(timings->queue_s) && is_duration(timings->parse_s) &&
           is_duration(timings->fill_s) && is_duration(timings->h2d_s) &&
           is_duration(timings->compute_s) && is_duration(timings->d2h_s) &&
           is_duration(timings->write_s) && is_duration(timings->total_s);
}

/* proto/problem.h's has_limit is a bool: any byte but 0 and 1 would be none. */
static bool is_problem(const struct problem *problem)
{
    unsigned char has_limit;
    memcpy(&has_limit, &problem->has_limit, sizeof(has_limit));
    return has_limit <= 1 && (unsigned)problem->status < STATUS_COUNT && isfinite(problem->limit) &&
           isfinite(problem->actual);
}

static bool is_done(const struct wire_done *done, const struct task *task)
{
    const bool has_cycle = done->status == STATUS_NEGATIVE_CYCLE;
    return done->status < STATUS_COUNT && is_problem(&done->problem) &&
           is_duration(done->write_s) && is_duration(done->parse_s) &&
           are_durations(&done->timings) && done->plan_kind <= PLAN_NESTED_DISSECTION &&
           isfinite(done->plan_work_fraction) && is_duration(done->plan_planning_s) &&
           done->verified_of <= UINT32_MAX && done->verified_rows <= done->verified_of &&
           is_duration(done->verified_tolerance) && is_duration(done->verified_seconds) &&
           isfinite(done->cycle_weight) && done->cycle_length == task->outcome.cycle_length &&
           (has_cycle || done->cycle_length == 0);
}

static void end_text(char *text, size_t size)
{
    text[size - 1] = '\0';
}

static void end_device(struct solver_device *device)
{
    end_text(device->solver, sizeof(device->solver));
    end_text(device->name, sizeof(device->name));
    end_text(device->detail, sizeof(device->detail));
}

static void end_problem(struct problem *problem)
{
    end_text(problem->detail, sizeof(problem->detail));
    end_text(problem->hint, sizeof(problem->hint));
}

enum status worker_protocol_take_done(const struct wire_done *done, struct task *task)
{
    struct solve_outcome *outcome = &task->outcome;
    if (!is_done(done, task)) {
        return STATUS_CORRUPT;
    }
    task->status = (enum status)done->status;
    task->problem = done->problem;
    end_problem(&task->problem);
    task->write_s += done->write_s;
    task->parse_s += done->parse_s;
    outcome->account.timings = done->timings;
    outcome->plan = (struct plan_summary){.kind = (enum plan_kind)done->plan_kind,
                                          .parts = done->plan_parts,
                                          .largest_separator = done->plan_largest_separator,
                                          .work_fraction = done->plan_work_fraction,
                                          .planning_s = done->plan_planning_s};
    outcome->account.verification =
        (struct verification){.done = done->verified != 0,
                              .on_device = done->verified_on_device != 0,
                              .rows = done->verified_rows,
                              .of = done->verified_of,
                              .edges = done->verified_edges,
                              .tolerance = done->verified_tolerance,
                              .seconds = done->verified_seconds};
    outcome->cycle_weight = done->cycle_weight;
    outcome->device = done->device;
    end_device(&outcome->device);
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

/* A bool that is neither is not to be looked at. */
static bool is_report(const struct sandbox_report *report)
{
    unsigned char filtered;
    memcpy(&filtered, &report->filtered, sizeof(filtered));
    return filtered <= 1 && report->landlock_abi >= 0;
}

bool worker_protocol_check_facts(struct worker_facts *facts)
{
    bool sound = (unsigned)facts->status < STATUS_COUNT && is_problem(&facts->problem) &&
                 is_report(&facts->sandbox);
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        sound = sound && is_duration(facts->pace_s[kind]);
    }
    end_problem(&facts->problem);
    end_device(&facts->device);
    end_text(facts->sandbox.without, sizeof(facts->sandbox.without));
    return sound;
}
