/* A worker process that may say anything, as the daemon receives it: the answer to its opening, or
 * the end of a task. Each piece of the input is a message: its kind, what its size is off by,
 * descriptors that go along, and bytes that are put over a sound one. */
#include "server/worker/supervisor.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VERTICES 5
#define MESSAGE_LIMIT 8
#define BODY offsetof(struct wire_message, body)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct input {
    const uint8_t *bytes;
    size_t left;
};

/* Made once: they are only handed on. */
static struct scene {
    struct result_file *file;
    struct solver *model;
    struct worker_shared shared;
    struct solver_figures figures;
} scene;

static uint8_t take(struct input *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->bytes++;
}

static void set_scene(void)
{
    struct problem problem;
    const struct solver_config config = {
        .choice = SOLVER_CPU, .cpu_threads = 1, .cpu_isa = "portable"};
    struct solver *solver;
    char folder[] = "/tmp/apspd-fuzz-XXXXXX";
    CHECK(solver_cpu_open(&config, &solver, &problem) == STATUS_OK);
    solver_get_figures(solver, &scene.figures);
    solver_close(solver);
    CHECK(solver_model_create(&scene.figures, &scene.model) == STATUS_OK);
    CHECK(mkdtemp(folder) != NULL);
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(result_file_create(descriptor, VERTICES, KIND_I4, RESULT_FORM_MATRIX, &scene.file) ==
          STATUS_OK);
    close(descriptor);
    /* The file is used without its name. */
    DIR *listing = opendir(folder);
    CHECK(listing != NULL);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_type == DT_REG) {
            CHECK(unlinkat(dirfd(listing), entry->d_name, 0) == 0);
        }
    }
    closedir(listing);
    CHECK(rmdir(folder) == 0);
}

static void make_sound(struct wire_message *message)
{
    switch (message->type) {
    case WIRE_OPENED:
        message->body.opened.figures = scene.figures;
        break;
    case WIRE_CYCLE:
        message->body.cycle.count = 1;
        break;
    case WIRE_DONE:
        message->body.done.plan.work_fraction = 1;
        message->body.done.figures = scene.figures;
        break;
    default:
        break;
    }
}

static size_t body_size(uint32_t type)
{
    static const size_t sizes[] = {[WIRE_SETUP] = sizeof(struct worker_setup),
                                   [WIRE_OPENED] = sizeof(struct wire_opened),
                                   [WIRE_TASK] = sizeof(struct wire_task),
                                   [WIRE_CYCLE] = sizeof(struct wire_cycle),
                                   [WIRE_DONE] = sizeof(struct wire_done),
                                   [WIRE_SOCKET] = 0}; /* and of the two before it */
    return type < WIRE_TYPE_COUNT ? sizes[type] : 16;
}

static void say(int socket, const void *bytes, size_t size, unsigned descriptors)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    const int own[] = {socket, socket, socket};
    if (descriptors > 0) {
        head.msg_control = control.bytes;
        head.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&head);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        memcpy(CMSG_DATA(cmsg), own, descriptors * sizeof(int));
    }
    CHECK(sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0);
}

/* A patch: where, how many, the bytes. */
static void say_message(int socket, struct input *input)
{
    static struct {
        struct wire_message message;
        char more[16];
    } room;
    const uint8_t how = take(input);
    const uint8_t off = take(input);
    memset(&room, 0, sizeof(room));
    room.message.type = how & 7;
    make_sound(&room.message);
    const size_t size = BODY + body_size(room.message.type) + (off & 7) - (off >> 5);
    for (uint8_t patches = how >> 5; patches > 0; patches--) {
        const size_t low = take(input);
        const size_t place = (low | (size_t)take(input) << 8) % sizeof(room.message);
        for (uint8_t count = take(input) & 15; count > 0 && input->left > 0; count--) {
            ((char *)&room)[(place + count) % sizeof(room.message)] = (char)take(input);
        }
    }
    say(socket, &room, size, how >> 3 & 3);
}

static void expect_text(const char *text, size_t size)
{
    CHECK(memchr(text, '\0', size) != NULL);
}

static void open_process(struct worker_process *process)
{
    const struct worker_setup setup = {.gpu = false};
    struct wire_opened opened = {0};
    if (worker_process_open(process, &setup, &opened) == TASK_LOSS_NONE) {
        CHECK((unsigned)opened.facts.status < STATUS_COUNT);
        expect_text(opened.facts.problem.detail, sizeof(opened.facts.problem.detail));
        expect_text(opened.facts.device.name, sizeof(opened.facts.device.name));
        expect_text(opened.facts.sandbox.without, sizeof(opened.facts.sandbox.without));
        for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
            CHECK(isfinite(opened.facts.pace_s[kind]));
        }
    }
}

static void solve(struct worker_process *process)
{
    struct task task = {.vertex_count = VERTICES,
                        .kind = KIND_I4,
                        .file = scene.file,
                        .graph_descriptor = result_file_descriptor(scene.file)};
    const enum task_loss loss = worker_process_solve(process, &task, scene.model);
    CHECK((unsigned)task.status < STATUS_COUNT);
    CHECK(loss != TASK_LOSS_NONE || task.status != STATUS_DEVICE_LOST);
    CHECK(task.outcome.cycle_length <= VERTICES);
    for (size_t i = 0; i < task.outcome.cycle_length; i++) {
        CHECK(task.outcome.cycle[i] < VERTICES);
    }
    CHECK(isfinite(task.write_s) && isfinite(task.outcome.account.timings.compute_s));
    expect_text(task.problem.detail, sizeof(task.problem.detail));
    expect_text(task.outcome.device.name, sizeof(task.outcome.device.name));
    solve_outcome_finish(&task.outcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct worker_process process = {.shared = &scene.shared, .wakeup = -1, .stall_s = 1};
    int sockets[2];
    if (scene.file == NULL) {
        set_scene();
    }
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    CHECK(fcntl(sockets[0], F_SETFL, O_NONBLOCK) == 0);
    process.socket = sockets[0];
    process.shared_descriptor = result_file_descriptor(scene.file);
    const bool opening = (take(&input) & 1) != 0;
    for (int i = 0; i < MESSAGE_LIMIT && input.left > 0; i++) {
        say_message(sockets[1], &input);
    }
    /* No more is said, and what is sent is taken. */
    CHECK(shutdown(sockets[1], SHUT_WR) == 0);
    if (opening) {
        open_process(&process);
    } else {
        solve(&process);
    }
    close(sockets[0]);
    close(sockets[1]);
    return 0;
}
