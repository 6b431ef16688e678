#include "server/worker/wire.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct connection {
    int here;
    int there;
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
};

static int open_connection(void **state)
{
    static struct connection connection;
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    connection = (struct connection){.here = sockets[0], .there = sockets[1]};
    *state = &connection;
    return 0;
}

static int close_connection(void **state)
{
    struct connection *connection = *state;
    close(connection->here);
    close(connection->there);
    return 0;
}

static enum status receive(struct connection *connection)
{
    return wire_receive(connection->there, &connection->message, connection->descriptors);
}

#define FIXTURE_TEST(name)                                                                         \
    TEST_FIXTURE(name, struct connection *connection, open_connection, close_connection)

FIXTURE_TEST(messages_arrive_with_their_file_descriptors)
{
    struct stat sent;
    struct stat got;
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int files[] = {file, connection->here, file};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){.vertex_count = 99};
    assert_int_equal(wire_send(connection->here, &message, files), STATUS_OK);
    assert_int_equal(receive(connection), STATUS_OK);
    assert_int_equal(connection->message.type, WIRE_TASK);
    assert_int_equal(connection->message.body.task.vertex_count, 99);
    assert_int_equal(fstat(file, &sent), 0);
    assert_int_equal(fstat(connection->descriptors[0], &got), 0);
    assert_int_equal(sent.st_rdev, got.st_rdev);
    assert_int_equal(fcntl(connection->descriptors[0], F_GETFD), FD_CLOEXEC);
    close(file);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        close(connection->descriptors[i]);
    }
}

FIXTURE_TEST(unexpected_file_descriptors_in_a_message_are_refused)
{
    const struct wire_message message = {.type = WIRE_SETUP};
    assert_int_equal(wire_send(connection->here, &message, &connection->here), STATUS_OK);
    assert_int_equal(wire_receive(connection->there, &connection->message, NULL), STATUS_CORRUPT);
}

FIXTURE_TEST(the_end_of_the_stream_is_reported)
{
    struct wire_message message = {.type = WIRE_DONE};
    close(connection->here);
    assert_int_equal(receive(connection), STATUS_IO);
    assert_int_equal(wire_send(connection->there, &message, NULL), STATUS_IO);
    connection->here = dup(connection->there);
}

static void send_raw(const struct connection *connection, uint32_t type, size_t size)
{
    unsigned char bytes[sizeof(struct wire_message) + 64] = {0};
    memcpy(bytes, &type, sizeof(type));
    assert_true(send(connection->here, bytes, size, 0) == (ssize_t)size);
}

FIXTURE_TEST(bytes_that_are_not_a_message_are_refused_as_corrupt)
{
    const size_t done = offsetof(struct wire_message, body) + sizeof(struct wire_done);
    const struct {
        uint32_t type;
        size_t size;
    } cases[] = {
        {0, done},
        {WIRE_TYPE_COUNT, done},
        {UINT32_MAX, done},
        {WIRE_DONE, 3},
        {WIRE_DONE, done - 1},
        {WIRE_DONE, done + 1},
        {WIRE_DONE, sizeof(struct wire_message) + 64},
        {WIRE_TASK,
         offsetof(struct wire_message, body) + sizeof(struct wire_task)}, /* a task
                                                                           * without file
                                                                           * descriptors */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        send_raw(connection, cases[i].type, cases[i].size);
        assert_int_equal(receive(connection), STATUS_CORRUPT);
    }
    send_raw(connection, WIRE_DONE, done);
    assert_int_equal(receive(connection), STATUS_OK);
}

static struct wire_done done_of(enum status status)
{
    const struct task task = {
        .status = status,
        .is_passing = status == STATUS_DISK_FULL,
        .parse_s = 0.5,
        .problem = {.status = status, .detail = "why"},
        .outcome = {.plan = {PLAN_NESTED_DISSECTION, 3, 2, 0.5, 0.25, true},
                    .account = {.timings = {.compute_s = 4},
                                .device_count = 2,
                                .devices = {{.fill_s = 1}, {.compute_s = 3, .d2h_s = 2}},
                                .verification = {.done = true, .rows = 5, .of = 6}},
                    .device = {.name = "device"}}};
    struct wire_done done;
    wire_write_done(&task, &done);
    return done;
}

TEST(all_fields_of_a_finished_task_arrive)
{
    struct task task = {.vertex_count = 9};
    const struct wire_done done = done_of(STATUS_DISK_FULL);
    assert_int_equal(wire_read_done(&done, &task), STATUS_OK);
    assert_int_equal(task.status, STATUS_DISK_FULL);
    assert_true(task.is_passing);
    assert_string_equal(task.problem.detail, "why");
    assert_string_equal(task.outcome.device.name, "device");
    assert_true(task.parse_s == 0.5 && task.outcome.account.timings.compute_s == 4);
    assert_int_equal(task.outcome.account.device_count, 2);
    assert_true(task.outcome.account.devices[1].compute_s == 3 &&
                task.outcome.account.devices[1].d2h_s == 2);
    assert_int_equal(task.outcome.plan.kind, PLAN_NESTED_DISSECTION);
    assert_int_equal(task.outcome.plan.parts, 3);
    assert_int_equal(task.outcome.plan.largest_separator, 2);
    assert_true(task.outcome.plan.work_fraction == 0.5 && task.outcome.plan.planning_s == 0.25);
    assert_true(task.outcome.plan.cached);
    assert_true(task.outcome.account.verification.done);
    assert_int_equal(task.outcome.account.verification.rows, 5);
}

TEST(a_result_message_with_bad_indexes_or_lengths_is_refused)
{
    const struct wire_done good = done_of(STATUS_OK);
    struct wire_done bad[] = {good, good, good, good};
    bad[0].status = STATUS_COUNT;
    bad[1].outcome.plan.kind = (enum plan_kind)2;
    bad[2].outcome.cycle_length = 1;
    bad[3].outcome.account.device_count = SOLVE_DEVICES_MAX + 1;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct task task = {.vertex_count = 9};
        assert_int_equal(wire_read_done(&bad[i], &task), STATUS_CORRUPT);
    }
    struct task task = {.vertex_count = 9};
    struct wire_done unended = good;
    memset(unended.problem.detail, 'x', sizeof(unended.problem.detail));
    memset(unended.outcome.device.name, 'x', sizeof(unended.outcome.device.name));
    assert_int_equal(wire_read_done(&unended, &task), STATUS_OK);
    assert_int_equal(strlen(task.problem.detail), sizeof(task.problem.detail) - 1);
    assert_int_equal(strlen(task.outcome.device.name), sizeof(task.outcome.device.name) - 1);
}

TEST(worker_facts_beyond_the_limits_are_truncated_or_refused)
{
    struct worker_facts sent = {.device = {.name = "device"}};
    struct worker_facts facts;
    assert_int_equal(wire_read_facts(&sent, &facts), STATUS_OK);
    assert_string_equal(facts.device.name, "device");
    memset(sent.device.name, 'x', sizeof(sent.device.name));
    assert_int_equal(wire_read_facts(&sent, &facts), STATUS_OK);
    assert_int_equal(strlen(facts.device.name), sizeof(facts.device.name) - 1);
    sent.device.members = SOLVE_DEVICES_MAX + 1;
    assert_int_equal(wire_read_facts(&sent, &facts), STATUS_CORRUPT);
    sent.device.members = SOLVE_DEVICES_MAX;
    assert_int_equal(wire_read_facts(&sent, &facts), STATUS_OK);
    sent.status = STATUS_COUNT;
    assert_int_equal(wire_read_facts(&sent, &facts), STATUS_CORRUPT);
}
