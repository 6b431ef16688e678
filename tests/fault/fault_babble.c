#include "tests/fault/fault_babble.h"

#include "server/job/worker/process.h"
#include "server/job/worker/protocol.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY offsetof(struct wire_message, body)

static void send_bytes(const void *bytes, size_t size)
{
    const ssize_t ignored = send(WORKER_PROCESS_SOCKET, bytes, size, MSG_NOSIGNAL);
    (void)ignored;
}

/* With descriptors: as many as the socket itself is sent along. */
static void send_message(const struct wire_message *message, size_t size, unsigned descriptors)
{
    struct wire_message copy = *message;
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
            const int own = WORKER_PROCESS_SOCKET;
            memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &own, sizeof(own));
        }
    }
    const ssize_t ignored = sendmsg(WORKER_PROCESS_SOCKET, &head, MSG_NOSIGNAL);
    (void)ignored;
}

static struct wire_message done_message(void)
{
    struct wire_message message = {.type = WIRE_DONE};
    message.body.done.plan_work_fraction = 1;
    return message;
}

static void say_nonsense(uint32_t vertices)
{
    (void)vertices;
    send_bytes("nonsense", 9);
}

static void say_truncated(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done) - 1, 0);
}

static void say_oversize(uint32_t vertices)
{
    struct {
        struct wire_message message;
        char more[4096];
    } long_one = {.message = done_message()};
    (void)vertices;
    send_bytes(&long_one, sizeof(long_one));
}

static void say_longer(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done) + 8, 0);
}

static void say_unknown(uint32_t vertices)
{
    struct wire_message message = done_message();
    (void)vertices;
    message.type = WIRE_TYPE_COUNT;
    send_message(&message, BODY + sizeof(message.body.done), 0);
}

static void say_twice(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done), 0);
}

/* What it would have proven of more rows than there are. */
static void say_impossible(uint32_t vertices)
{
    struct wire_message message = done_message();
    message.body.done.verified_rows = vertices + 1;
    message.body.done.verified_of = vertices;
    send_message(&message, BODY + sizeof(message.body.done), 0);
}

static void say_descriptors(uint32_t vertices)
{
    const struct wire_message message = done_message();
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.done), 1);
}

static void say_task(uint32_t vertices)
{
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task.vertex_count = vertices;
    send_message(&message, BODY + sizeof(message.body.task), 2);
}

static void say_setup(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_SETUP};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.setup), 1);
}

static void say_opened(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_OPENED};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.opened), 0);
}

/* As another version of the program would, with fewer facts to tell. */
static void say_stale(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_OPENED};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.opened) - 8, 0);
}

/* Before the end of any work; or, when all have theirs, before the true one. */
static void say_home(uint32_t vertices)
{
    const struct wire_message message = {.type = WIRE_HOME};
    (void)vertices;
    send_message(&message, BODY + sizeof(message.body.home), 0);
}

static void say_cycle(uint32_t vertices)
{
    struct wire_message message = {.type = WIRE_CYCLE};
    message.body.cycle.count = 1;
    message.body.cycle.vertices[0] = vertices;
    send_message(&message, BODY + sizeof(message.body.cycle), 0);
}

/* Some vertices of a cycle, and no more. */
static void say_half(uint32_t vertices)
{
    struct wire_message message = {.type = WIRE_CYCLE};
    (void)vertices;
    message.body.cycle.count = 2;
    message.body.cycle.vertices[1] = 1;
    send_message(&message, BODY + sizeof(message.body.cycle), 0);
    _exit(0);
}

bool fault_babble(const char *what, uint32_t vertices)
{
    static const struct {
        const char *name;
        void (*say)(uint32_t vertices);
    } phrases[] = {
        {"nonsense", say_nonsense},
        {"truncated", say_truncated},
        {"oversize", say_oversize},
        {"longer", say_longer},
        {"unknown", say_unknown},
        {"twice", say_twice},
        {"impossible", say_impossible},
        {"descriptors", say_descriptors},
        {"work", say_task},
        {"setup", say_setup},
        {"opened", say_opened},
        {"stale", say_stale},
        {"home", say_home},
        {"cycle", say_cycle},
        {"half", say_half},
    };
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        if (strcmp(phrases[i].name, what) == 0) {
            phrases[i].say(vertices);
            return true;
        }
    }
    return false;
}
