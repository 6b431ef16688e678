#include "tests/lib/worker_fixture.h"

#include "server/store/graph_file.h"

#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

static void a_process_gets_the_file_of_a_graph_that_is_in_memory_too(void **state)
{
    struct fixture *fixture = *state;
    const struct task_folders folders = {fixture->folder, fixture->folder, true, -1, 0};
    struct task task = {
        .graph = read_ring(), .graph_id = RING_ID, .kind = KIND_I4, .signal = &fixture->signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_true(task.graph_descriptor > 2);
    graph_destroy(task.graph);
    task.graph = NULL;
    assert_int_equal(graph_file_read_open(task.graph_descriptor, task.graph_id, &task.graph),
                     STATUS_OK);
    assert_int_equal(task.graph->vertex_count, 3);
    task_finish(&task);
}

static void progress_and_cancel_pass_through_the_signal(void **state)
{
    (void)state;
    struct task_signal signal = {0};
    const struct observer observer = task_signal_observer(&signal);
    assert_false(observer.cancelled(observer.context));
    atomic_store(&signal.cancelled, true);
    assert_true(observer.cancelled(observer.context));
    observer_tell_rounds(&observer, 3, 8);
    assert_int_equal(atomic_load(&signal.rounds_done), 3);
    assert_int_equal(atomic_load(&signal.rounds_total), 8);
    assert_int_equal(signal.progress.phase, PHASE_SOLVING);
    assert_true(signal.progress.share == 0.375);
    const double seconds[PHASE_COUNT] = {[PHASE_WRITING] = 7};
    observer.expect(observer.context, seconds);
    assert_true(signal.progress.begun_at_s > 0);
    assert_true(signal.progress.expected_s[PHASE_WRITING] == 7);
}

static void a_signal_is_copied_whole_and_reset_to_nothing(void **state)
{
    (void)state;
    struct task_signal from = {true, true, 1, 2, {.begun_at_s = 8, .shown = 0.5}};
    struct task_signal to = {0};
    task_signal_copy(&from, &to);
    assert_true(atomic_load(&to.cancelled));
    assert_true(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 1);
    assert_int_equal(atomic_load(&to.rounds_total), 2);
    assert_true(to.progress.begun_at_s == 8 && to.progress.shown == 0.5);
    task_signal_reset(&to);
    assert_false(atomic_load(&to.cancelled));
    assert_false(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 0);
    assert_true(to.progress.begun_at_s == 0);
}

static void a_loss_is_told_in_words(void **state)
{
    (void)state;
    char text[TASK_LOSS_TEXT_SIZE];
    task_loss_describe(TASK_LOSS_EXIT, 80, text);
    assert_string_equal(text, "it left with code 80");
    task_loss_describe(TASK_LOSS_SIGNAL, SIGSEGV, text);
    assert_string_equal(text, "it was ended by signal 11 (SEGV)");
    task_loss_describe(TASK_LOSS_STALLED, 0, text);
    assert_non_null(strstr(text, "no progress"));
    task_loss_describe(TASK_LOSS_SILENT, 0, text);
    assert_non_null(strstr(text, "no sign of life"));
    task_loss_describe(TASK_LOSS_PROTOCOL, 0, text);
    assert_non_null(strstr(text, "no sense"));
}

/* ---- Messages on the socket ---- */

struct connection {
    int here;
    int there; /* does not block */
    struct wire_message message;
    int descriptors[WIRE_DESCRIPTOR_LIMIT];
};

static int open_connection(void **state)
{
    static struct connection connection;
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    connection = (struct connection){.here = sockets[0], .there = sockets[1]};
    assert_int_equal(fcntl(connection.there, F_SETFL, O_NONBLOCK), 0);
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
    return worker_protocol_receive(connection->there, &connection->message,
                                   connection->descriptors);
}

static void what_is_sent_arrives_with_its_files(void **state)
{
    struct connection *connection = *state;
    struct stat sent;
    struct stat got;
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int files[] = {file, connection->here, file};
    struct wire_message message = {.type = WIRE_TASK};
    message.body.task = (struct wire_task){.vertex_count = 99};
    assert_int_equal(receive(connection), STATUS_NOT_READY);
    assert_int_equal(worker_protocol_send(connection->here, &message, files), STATUS_OK);
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

static void files_are_refused_by_who_takes_none(void **state)
{
    struct connection *connection = *state;
    const struct wire_message message = {.type = WIRE_SETUP};
    assert_int_equal(worker_protocol_send(connection->here, &message, &connection->here),
                     STATUS_OK);
    assert_int_equal(worker_protocol_receive(connection->there, &connection->message, NULL),
                     STATUS_CORRUPT);
}

static void the_end_of_the_stream_is_told(void **state)
{
    struct connection *connection = *state;
    struct wire_message message = {.type = WIRE_DONE};
    close(connection->here);
    assert_int_equal(receive(connection), STATUS_IO);
    assert_int_equal(worker_protocol_send(connection->there, &message, NULL), STATUS_IO);
    connection->here = dup(connection->there);
}

static void a_full_line_is_told_when_it_must_not_block(void **state)
{
    struct connection *connection = *state;
    struct wire_message message = {.type = WIRE_DONE};
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        status = worker_protocol_send(connection->there, &message, NULL);
    }
    assert_int_equal(status, STATUS_NOT_READY);
}

static void send_raw(const struct connection *connection, uint32_t type, size_t size)
{
    unsigned char bytes[sizeof(struct wire_message) + 64] = {0};
    memcpy(bytes, &type, sizeof(type));
    assert_true(send(connection->here, bytes, size, 0) == (ssize_t)size);
}

static void what_is_no_message_is_corrupt(void **state)
{
    struct connection *connection = *state;
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

static void an_end_that_no_worker_has_is_refused(void **state)
{
    (void)state;
    const struct wire_done good = done_of(STATUS_OK);
    struct wire_done bad[17];
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
    memset(&bad[11].plan.cached, 2, 1);
    bad[12].arc_count = UINT64_MAX; /* of which the job's report would have no number */
    bad[13].device_count = SOLVE_DEVICES_MAX + 1;
    bad[14].devices[1].fill_s = NAN;
    memset(&bad[15].is_passing, 2, 1);
    bad[16].is_passing = true; /* though nothing has failed */
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
    const struct worker_setup gpu = {.gpu = true};
    struct wire_opened opened = {.facts = {.device = {.name = "device"}}};
    struct worker_facts facts;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    assert_string_equal(facts.device.name, "device");
    memset(opened.facts.device.name, 'x', sizeof(opened.facts.device.name));
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    assert_int_equal(strlen(facts.device.name), sizeof(facts.device.name) - 1);
    assert_int_equal(worker_protocol_take_opened(&opened, &gpu, &facts), STATUS_CORRUPT);
    opened.figures.gpu = true; /* ranks have found some */
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    opened.figures.gpu = false;
    opened.facts.pace_s[KIND_F4] = NAN;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
    opened.facts.pace_s[KIND_F4] = 0;
    opened.facts.device.members = SOLVE_DEVICES_MAX + 1;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
    opened.facts.device.members = SOLVE_DEVICES_MAX;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_OK);
    opened.facts.status = STATUS_COUNT;
    assert_int_equal(worker_protocol_take_opened(&opened, &setup, &facts), STATUS_CORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_process_gets_the_file_of_a_graph_that_is_in_memory_too),
        cmocka_unit_test(progress_and_cancel_pass_through_the_signal),
        cmocka_unit_test(a_signal_is_copied_whole_and_reset_to_nothing),
        cmocka_unit_test(a_loss_is_told_in_words),
        cmocka_unit_test_setup_teardown(what_is_sent_arrives_with_its_files, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(files_are_refused_by_who_takes_none, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(the_end_of_the_stream_is_told, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(a_full_line_is_told_when_it_must_not_block, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(what_is_no_message_is_corrupt, open_connection,
                                        close_connection),
        cmocka_unit_test(the_end_of_a_work_comes_over_whole),
        cmocka_unit_test(an_end_that_no_worker_has_is_refused),
        cmocka_unit_test(a_cycle_grows_within_the_graph),
        cmocka_unit_test(facts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
