#include "server/worker/wire.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_OFFSET offsetof(struct wire_message, body)

static const struct {
    size_t size; /* bytes of the whole message */
    uint32_t descriptors;
} types[WIRE_TYPE_COUNT] = {
    [WIRE_SETUP] = {BODY_OFFSET + sizeof(struct worker_setup), 1},
    [WIRE_OPENED] = {BODY_OFFSET + sizeof(struct wire_opened), 0},
    [WIRE_TASK] = {BODY_OFFSET + sizeof(struct wire_task), 3},
    [WIRE_DONE] = {BODY_OFFSET + sizeof(struct wire_done), 0},
};

/* Space for a control message with the descriptors of a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(WIRE_DESCRIPTOR_LIMIT * sizeof(int))];
};

enum status wire_send(int socket, const struct wire_message *message, const int *descriptors)
{
    CHECK(message->type > 0 && message->type < WIRE_TYPE_COUNT);
    const size_t bytes = types[message->type].descriptors * sizeof(int);
    struct wire_message copy = *message; /* sendmsg needs a non-const pointer */
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
    return sent >= 0 ? STATUS_OK : STATUS_IO;
}

enum status wire_receive(int socket, struct wire_message *ret_message, int *ret_descriptors)
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
        return STATUS_IO;
    }
    /* The kernel has already dropped descriptors for which there was no space. */
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

/* Terminates a text, because a worker process may have sent it without NUL. */
#define END_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

static void end_texts(struct problem *problem, struct solver_device *device)
{
    END_TEXT(problem->detail);
    END_TEXT(problem->hint);
    END_TEXT(device->solver);
    END_TEXT(device->name);
    END_TEXT(device->detail);
}

void wire_write_done(const struct task *task, struct wire_done *ret_done)
{
    *ret_done = (struct wire_done){
        .status = (uint32_t)task->status,
        .is_passing = task->is_passing,
        .problem = task->problem,
        .write_s = task->write_s,
        .parse_s = task->parse_s,
        .outcome = task->outcome,
    };
    ret_done->outcome.cycle = NULL;
    ret_done->outcome.cycle_length = 0;
    ret_done->outcome.account.statistics = NULL;
}

enum status wire_read_done(const struct wire_done *done, struct task *task)
{
    const struct solve_outcome *outcome = &done->outcome;
    if (done->status >= STATUS_COUNT || (unsigned)outcome->plan.kind > PLAN_NESTED_DISSECTION ||
        outcome->account.device_count > SOLVE_DEVICES_MAX || outcome->cycle_length != 0) {
        return STATUS_CORRUPT;
    }
    task->outcome = *outcome;
    task->outcome.cycle = NULL;
    task->outcome.account.statistics = NULL;
    task->status = (enum status)done->status;
    task->is_passing = done->is_passing;
    task->problem = done->problem;
    task->write_s += done->write_s;
    task->parse_s += done->parse_s;
    end_texts(&task->problem, &task->outcome.device);
    return STATUS_OK;
}

enum status wire_read_facts(const struct worker_facts *facts, struct worker_facts *ret_facts)
{
    if ((unsigned)facts->status >= STATUS_COUNT || facts->device.members > SOLVE_DEVICES_MAX) {
        return STATUS_CORRUPT;
    }
    *ret_facts = *facts;
    end_texts(&ret_facts->problem, &ret_facts->device);
    END_TEXT(ret_facts->sandbox.without);
    return STATUS_OK;
}
