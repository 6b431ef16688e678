#include "server/job/worker/protocol.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    int here;
    int there; /* does not block */
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    fixture = (struct fixture){.here = sockets[0], .there = sockets[1]};
    assert_int_equal(fcntl(fixture.there, F_SETFL, O_NONBLOCK), 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    close(fixture->here);
    close(fixture->there);
    return 0;
}

static enum status receive(struct fixture *fixture)
{
    return worker_protocol_receive(fixture->there, &fixture->message, fixture->descriptors);
}

static void what_is_sent_arrives_with_its_files(void **state)
{
    struct fixture *fixture = *state;
    struct stat sent;
    struct stat got;
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int files[] = {file, fixture->here};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){.vertex_count = 99};
    assert_int_equal(receive(fixture), STATUS_NOT_READY);
    assert_int_equal(worker_protocol_send(fixture->here, &message, files), STATUS_OK);
    assert_int_equal(receive(fixture), STATUS_OK);
    assert_int_equal(fixture->message.type, WIRE_TASK);
    assert_int_equal(fixture->message.body.task.vertex_count, 99);
    assert_int_equal(fstat(file, &sent), 0);
    assert_int_equal(fstat(fixture->descriptors[0], &got), 0);
    assert_int_equal(sent.st_rdev, got.st_rdev);
    assert_int_equal(fcntl(fixture->descriptors[0], F_GETFD), FD_CLOEXEC);
    close(file);
    close(fixture->descriptors[0]);
    close(fixture->descriptors[1]);
}

static void files_are_refused_by_who_takes_none(void **state)
{
    struct fixture *fixture = *state;
    const struct wire_message message = {.type = WIRE_SETUP};
    assert_int_equal(worker_protocol_send(fixture->here, &message, &fixture->here), STATUS_OK);
    assert_int_equal(worker_protocol_receive(fixture->there, &fixture->message, NULL),
                     STATUS_CORRUPT);
}

static void the_end_of_the_stream_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct wire_message message = {.type = WIRE_DONE};
    close(fixture->here);
    assert_int_equal(receive(fixture), STATUS_IO);
    assert_int_equal(worker_protocol_send(fixture->there, &message, NULL), STATUS_IO);
    fixture->here = dup(fixture->there);
}

static void a_full_line_is_told_when_it_must_not_block(void **state)
{
    struct fixture *fixture = *state;
    struct wire_message message = {.type = WIRE_DONE};
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        status = worker_protocol_send(fixture->there, &message, NULL);
    }
    assert_int_equal(status, STATUS_NOT_READY);
}

static void send_raw(const struct fixture *fixture, uint32_t type, size_t size)
{
    unsigned char bytes[sizeof(struct wire_message) + 64] = {0};
    memcpy(bytes, &type, sizeof(type));
    assert_true(send(fixture->here, bytes, size, 0) == (ssize_t)size);
}

static void what_is_no_message_is_corrupt(void **state)
{
    struct fixture *fixture = *state;
    const size_t done = offsetof(struct wire_message, body) + sizeof(struct wire_done);
    const size_t cycle = offsetof(struct wire_message, body) + sizeof(struct wire_cycle);
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
        {WIRE_CYCLE, cycle + 8},
        {WIRE_DONE, sizeof(struct wire_message) + 64},
        {WIRE_TASK, offsetof(struct wire_message, body) + sizeof(struct wire_task)}, /* no files */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        send_raw(fixture, cases[i].type, cases[i].size);
        assert_int_equal(receive(fixture), STATUS_CORRUPT);
    }
    send_raw(fixture, WIRE_DONE, done);
    assert_int_equal(receive(fixture), STATUS_OK);
}

static struct wire_done done_of(enum status status)
{
    const struct task task = {
        .status = status,
        .parse_s = 0.5,
        .problem = {.status = status, .detail = "why"},
        .outcome = {
            .plan = {PLAN_NESTED_DISSECTION, 3, 2, 0.5, 0.25},
            .account = {.timings = {.compute_s = 4},
                        .verification = {.done = true, .on_device = true, .rows = 5, .of = 6}},
            .device = {.name = "device"}}};
    struct wire_done done;
    worker_protocol_fill_done(&task, &done);
    return done;
}

static void the_end_of_a_work_comes_over_whole(void **state)
{
    (void)state;
    struct task task = {.vertex_count = 9};
    const struct wire_done done = done_of(STATUS_DISK_FULL);
    assert_int_equal(worker_protocol_take_done(&done, &task), STATUS_OK);
    assert_int_equal(task.status, STATUS_DISK_FULL);
    assert_string_equal(task.problem.detail, "why");
    assert_string_equal(task.outcome.device.name, "device");
    assert_true(task.parse_s == 0.5 && task.outcome.account.timings.compute_s == 4);
    assert_int_equal(task.outcome.plan.kind, PLAN_NESTED_DISSECTION);
    assert_int_equal(task.outcome.plan.parts, 3);
    assert_int_equal(task.outcome.plan.largest_separator, 2);
    assert_true(task.outcome.plan.work_fraction == 0.5 && task.outcome.plan.planning_s == 0.25);
    assert_true(task.outcome.account.verification.done);
    assert_true(task.outcome.account.verification.on_device);
    assert_int_equal(task.outcome.account.verification.rows, 5);
}

static void an_end_that_no_worker_has_is_refused(void **state)
{
    (void)state;
    const struct wire_done good = done_of(STATUS_OK);
    struct wire_done bad[11];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bad[i] = good;
    }
    bad[0].status = STATUS_COUNT;
    bad[1].parse_s = NAN;
    bad[2].timings.total_s = -1;
    bad[3].plan.kind = (enum plan_kind)2;
    bad[4].plan.work_fraction = INFINITY;
    bad[5].verification.rows = 7;
    bad[6].cycle_length = 1;
    bad[7].cycle_weight = NAN;
    bad[8].verification.of = UINT64_C(1) << 32;
    memset(&bad[9].problem.has_limit, 2, 1);
    memset(&bad[10].verification.done, 2, 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct task task = {.vertex_count = 9};
        assert_int_equal(worker_protocol_take_done(&bad[i], &task), STATUS_CORRUPT);
    }
    struct task task = {.vertex_count = 9};
    struct wire_done unended = good;
    memset(unended.problem.detail, 'x', sizeof(unended.problem.detail));
    memset(unended.device.name, 'x', sizeof(unended.device.name));
    assert_int_equal(worker_protocol_take_done(&unended, &task), STATUS_OK);
    assert_int_equal(strlen(task.problem.detail), sizeof(task.problem.detail) - 1);
    assert_int_equal(strlen(task.outcome.device.name), sizeof(task.outcome.device.name) - 1);
}

static void a_cycle_grows_within_the_graph(void **state)
{
    (void)state;
    struct task task = {.vertex_count = 4};
    const struct wire_cycle first = {.count = 2, .vertices = {3, 1}};
    const struct wire_cycle second = {.count = 1, .vertices = {0}};
    const struct wire_cycle outside = {.count = 1, .vertices = {4}};
    const struct wire_cycle none = {.count = 0};
    const struct wire_cycle beyond = {.count = 2, .vertices = {2, 3}};
    const struct wire_cycle overflow = {.count = WIRE_CYCLE_VERTICES + 1};
    assert_int_equal(worker_protocol_take_cycle(&first, &task), STATUS_OK);
    assert_int_equal(worker_protocol_take_cycle(&second, &task), STATUS_OK);
    assert_int_equal(task.outcome.cycle_length, 3);
    assert_int_equal(task.outcome.cycle[0], 3);
    assert_int_equal(task.outcome.cycle[2], 0);
    assert_int_equal(worker_protocol_take_cycle(&outside, &task), STATUS_CORRUPT);
    assert_int_equal(worker_protocol_take_cycle(&none, &task), STATUS_CORRUPT);
    assert_int_equal(worker_protocol_take_cycle(&beyond, &task), STATUS_CORRUPT);
    assert_int_equal(worker_protocol_take_cycle(&overflow, &task), STATUS_CORRUPT);
    struct wire_done done = done_of(STATUS_NEGATIVE_CYCLE);
    assert_int_equal(worker_protocol_take_done(&done, &task), STATUS_CORRUPT);
    done.cycle_length = 3;
    assert_int_equal(worker_protocol_take_done(&done, &task), STATUS_OK);
    task_finish(&task);
}

static void facts_are_checked(void **state)
{
    (void)state;
    const struct worker_setup setup = {.gpu = false};
    struct wire_opened opened = {.facts = {.device = {.name = "device"}}};
    struct worker_facts facts;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    assert_string_equal(facts.device.name, "device");
    memset(opened.facts.device.name, 'x', sizeof(opened.facts.device.name));
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    assert_int_equal(strlen(facts.device.name), sizeof(facts.device.name) - 1);
    opened.figures.gpu = true;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
    opened.figures.gpu = false;
    opened.facts.pace_s[KIND_F4] = NAN;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
    opened.facts.pace_s[KIND_F4] = 0;
    opened.facts.status = STATUS_COUNT;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_sent_arrives_with_its_files),
        TEST(files_are_refused_by_who_takes_none),
        TEST(the_end_of_the_stream_is_told),
        TEST(a_full_line_is_told_when_it_must_not_block),
        TEST(what_is_no_message_is_corrupt),
        cmocka_unit_test(the_end_of_a_work_comes_over_whole),
        cmocka_unit_test(an_end_that_no_worker_has_is_refused),
        cmocka_unit_test(a_cycle_grows_within_the_graph),
        cmocka_unit_test(facts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
