#include "tests/fault/fault_protocol.h"

#include "server/worker/child.h"
#include "server/worker/wire.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY offsetof(struct wire_message, body)

static void send_bytes(const void *bytes, size_t size)
{
    const ssize_t ignored = send(WORKER_SOCKET, bytes, size, MSG_NOSIGNAL);
    (void)ignored;
}

/* Sends the message, with `descriptors` copies of the socket's descriptor attached. */
static void send_message(const struct wire_message *message, size_t size, unsigned descriptors)
{
    struct {
        struct wire_message message;
        char more[64]; /* room for messages that are sent with too many bytes */
    } copy = {.message = *message};
    struct iovec part = {&copy, size};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control = {0};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors > 0) {
        head.msg_control = control.bytes;
        head.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        for (unsigned i = 0; i < descriptors; i++) {
            const int own = WORKER_SOCKET;
            memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &own, sizeof(own));
        }
    }
    const ssize_t ignored = sendmsg(WORKER_SOCKET, &head, MSG_NOSIGNAL);
    (void)ignored;
}

static struct wire_message done_message(void)
{
    struct wire_message message = {.type = WIRE_DONE};
    message.body.done.outcome.plan.work_fraction = 1;
    return message;
}

static void send_nonsense(uint32_t vertices)
{
    (void)vertices;
    send_bytes("nonsense", 9);
}

static void send_truncated(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done) - 1, 0);
}

static void send_oversize(uint32_t vertices)
{
    struct {
        struct wire_message message;
        char more[4096];
    } long_one = {.message = done_message()};
    (void)vertices;
    send_bytes(&long_one, sizeof(long_one));
}

static void send_longer(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done) + 8, 0);
}

static void send_unknown(uint32_t vertices)
{
    struct wire_message message = done_message();
    (void)vertices;
    message.type = WIRE_TYPE_COUNT;
    send_message(&message, BODY + sizeof(message.body.done), 0);
}

/* Sends a result that claims more devices than a group can have. */
static void send_impossible(uint32_t vertices)
{
    struct wire_message message = done_message();
    (void)vertices;
    message.body.done.outcome.account.device_count = SOLVE_DEVICES_MAX + 1;
    send_message(&message, BODY + sizeof(message.body.done), 0);
}

static void send_descriptors(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done), 1);
}

static void send_task(uint32_t vertices)
{
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task.vertex_count = vertices;
    send_message(&message, BODY + sizeof(message.body.task), 2);
}

static void send_setup(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_SETUP};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.setup), 1);
}

static void send_opened(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_OPENED};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.opened), 0);
}

/* Sends the facts of the worker in a shorter form, like an older version of the program. */
static void send_stale(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_OPENED};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.opened) - 8, 0);
}

bool fault_protocol_send(const char *what, uint32_t vertices)
{
    static const struct {
        const char *name;
        void (*send)(uint32_t vertices);
    } messages[] = {
        {"nonsense", send_nonsense},
        {"truncated", send_truncated},
        {"oversize", send_oversize},
        {"longer", send_longer},
        {"unknown", send_unknown},
        {"impossible", send_impossible},
        {"descriptors", send_descriptors},
        {"task", send_task},
        {"setup", send_setup},
        {"opened", send_opened},
        {"stale", send_stale},
    };
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        if (strcmp(messages[i].name, what) == 0) {
            messages[i].send(vertices);
            return true;
        }
    }
    return false;
}
