#include "tests/lib/worker_fixture.h"

#include "server/worker/supervisor.h"

#include <dirent.h>
#include <signal.h>

/* In the environment: no process starts. */
#define FAILING_START "TEST_SUPERVISOR_FAILING_START"

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

/* A process that this thread has started; 0 without any. */
static pid_t child_of(const char *thread)
{
    char path[300];
    long pid = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%s/children", thread);
    FILE *stream = fopen(path, "re");
    if (stream != NULL) {
        if (fscanf(stream, "%ld", &pid) != 1) {
            pid = 0;
        }
        fclose(stream);
    }
    return (pid_t)pid;
}

/* The one that any thread of this process has. */
static pid_t find_child(void)
{
    pid_t pid = 0;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (struct dirent *thread = readdir(threads); thread != NULL && pid == 0;
         thread = readdir(threads)) {
        pid = child_of(thread->d_name);
    }
    closedir(threads);
    return pid;
}

static void a_process_that_dies_idle_is_replaced_and_the_loop_told(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, WORKER_PROCESS);
    const struct worker_health *health = worker_health_of(fixture->worker);
    const pid_t first = find_child();
    assert_true(first > 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_ptr_equal(mailbox_wait(fixture->home), &fixture->opening.message);
    worker_note_delivered(fixture->worker);
    assert_int_equal(atomic_load(&health->state), WORKER_READY);
    assert_int_equal(atomic_load(&health->restarts), 1);
    assert_true(find_child() != first);
    struct task task = {0};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_OK);
    task_finish(&task);
}

static void a_task_given_meanwhile_waits_for_the_next_process(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, WORKER_PROCESS);
    assert_int_equal(kill(find_child(), SIGKILL), 0);
    struct task task = {0};
    carry_out(fixture, &task);
    /* Given before the loss was seen, it is lost with it. */
    assert_true(task.status == STATUS_OK || task.status == STATUS_DEVICE_LOST);
    task_finish(&task);
}

/* The first is lost with the process, or refused as the second is: nobody waits for a process that
 * cannot be started. One at a time, as a process has one signal. */
static void tasks_come_home_when_no_other_process_can_be_had(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, WORKER_PROCESS);
    assert_int_equal(setenv(FAILING_START, "1", 1), 0);
    assert_int_equal(kill(find_child(), SIGKILL), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct task task = {0};
        carry_out(fixture, &task);
        assert_int_equal(task.status, STATUS_DEVICE_LOST);
        task_finish(&task);
    }
    assert_int_equal(unsetenv(FAILING_START), 0);
}

static void a_damaged_graph_file_is_told_when_it_cannot_be_read_here_either(void **state)
{
    struct fixture *fixture = *state;
    const int file = openat(fixture->folder, RING_ID, O_RDWR | O_CLOEXEC);
    struct task task = {0};
    unsigned char last;
    const off_t place = lseek(file, -1, SEEK_END);
    assert_int_equal(pread(file, &last, 1, place), 1);
    last ^= 1;
    assert_int_equal(pwrite(file, &last, 1, place), 1);
    assert_int_equal(close(file), 0);
    start(fixture, WORKER_PROCESS);
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_CORRUPT);
    assert_true(task.graph_damaged);
    task_finish(&task);
}

static void a_solver_that_does_not_open_is_told_with_its_reason(void **state)
{
    struct fixture *fixture = *state;
    snprintf(fixture->solver.cpu_isa, sizeof(fixture->solver.cpu_isa), "abacus");
    start(fixture, WORKER_PROCESS);
    assert_int_equal(fixture->opening.facts.status, STATUS_CONFIG);
    assert_non_null(strstr(fixture->opening.facts.problem.detail, "abacus"));
    assert_int_equal(find_child(), 0);
}

static void nothing_is_left_when_a_worker_stops(void **state)
{
    struct fixture *fixture = *state;
    start(fixture, WORKER_PROCESS);
    assert_true(find_child() > 0);
    worker_stop(fixture->worker);
    fixture->worker = NULL;
    assert_int_equal(find_child(), 0);
}

/* ---- The watch ---- */

static struct worker_shared shared;
static struct task watched;

/* Ticks of a second, of a process that sends heartbeats, until it counts as lost. */
static unsigned ticks_until_lost(struct worker_watch *watch, enum task_loss *loss)
{
    unsigned ticks = 0;
    do {
        atomic_fetch_add(&shared.heartbeats, 1);
        *loss = worker_watch_tick(watch, &shared, 1);
        ticks++;
    } while (*loss == TASK_LOSS_NONE && ticks < 10000);
    return ticks;
}

static void report(uint32_t done, uint32_t total)
{
    atomic_store(&shared.signal.rounds_done, done);
    atomic_store(&shared.signal.rounds_total, total);
}

static int reset_watched(void **state)
{
    (void)state;
    shared = (struct worker_shared){0};
    watched = (struct task){.vertex_count = 1000};
    return 0;
}

static void no_heartbeat_is_silence_with_and_without_a_task(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (unsigned with = 0; with < 2; with++) {
        worker_watch_begin(&watch, with > 0 ? &watched : NULL, 10, 1000);
        unsigned ticks = 0;
        enum task_loss loss = TASK_LOSS_NONE;
        while (loss == TASK_LOSS_NONE) {
            loss = worker_watch_tick(&watch, &shared, 1);
            ticks++;
        }
        assert_int_equal(loss, TASK_LOSS_SILENT);
        assert_int_equal(ticks, 11);
    }
}

static void an_opening_may_take_what_is_allowed(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (unsigned hurried = 0; hurried < 2; hurried++) {
        enum task_loss loss = TASK_LOSS_NONE;
        unsigned ticks = 0;
        worker_watch_begin(&watch, NULL, 300, 300);
        if (hurried) {
            watch.is_hurried = true;
        }
        while (loss == TASK_LOSS_NONE) {
            atomic_fetch_add(&shared.heartbeats, 1);
            loss = worker_watch_tick(&watch, &shared, 1);
            ticks++;
        }
        assert_int_equal(loss, TASK_LOSS_STALLED);
        assert_int_equal(ticks, hurried ? 6 : 301);
    }
}

static void rounds_that_do_not_come_are_waited_for_less_in_a_hurry(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &watched, 10, 0);
    watch.is_hurried = true;
    report(1, 100);
    /* The first tick meets a new number. */
    assert_int_equal(ticks_until_lost(&watch, &loss), 7);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    worker_watch_begin(&watch, &watched, 2, 0);
    watch.is_hurried = true;
    assert_int_equal(ticks_until_lost(&watch, &loss), 4);
}

static void heartbeats_without_a_task_are_all_there_is_to_want(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    worker_watch_begin(&watch, NULL, 10, 0);
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&shared.heartbeats, 1);
        assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    }
}

static void outside_the_rounds_the_allowance_counts(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &watched, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    report(16, 16);
    worker_watch_begin(&watch, &watched, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
}

static void among_even_rounds_a_stall_is_seen_whatever_the_allowance(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &watched, 10, 1000);
    report(1, 16);
    assert_int_equal(ticks_until_lost(&watch, &loss), 12);
    assert_int_equal(loss, TASK_LOSS_STALLED);
}

static void long_rounds_are_waited_for(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &watched, 10, 0);
    for (uint32_t round = 1; round < 4; round++) {
        report(round, 16);
        for (int tick = 0; tick < 5; tick++) {
            atomic_fetch_add(&shared.heartbeats, 1);
            assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
        }
    }
    /* 20 times the 4 whole ticks between two reports. */
    const unsigned ticks = ticks_until_lost(&watch, &loss);
    assert_in_range(ticks, 70, 100);
}

/* Four rounds for 100,000 vertices: the last takes most of the time. */
static void the_last_of_few_rounds_may_take_longest(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    watched.vertex_count = 100000;
    worker_watch_begin(&watch, &watched, 10, 1000);
    for (int tick = 0; tick < 50; tick++) {
        atomic_fetch_add(&shared.heartbeats, 1);
        assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    }
    report(1, 4);
    atomic_fetch_add(&shared.heartbeats, 1);
    assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    /* No longer than the task took so far, four times over, ever. */
    watch.elapsed_s = 50;
    watched.vertex_count = 1000;
    assert_int_equal(ticks_until_lost(&watch, &loss), 11);
    watched.vertex_count = 100000;
    watch.gap_s = 0;
    watch.elapsed_s = 50;
    watch.stall_s = 10;
    atomic_fetch_add(&shared.heartbeats, 1);
    for (int tick = 0; tick < 200; tick++) {
        atomic_fetch_add(&shared.heartbeats, 1);
        assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 3 && getenv(FAILING_START) != NULL) {
        return 1;
    }
    WORKER_MAIN(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_dies_idle_is_replaced_and_the_loop_told),
        TEST(a_task_given_meanwhile_waits_for_the_next_process),
        TEST(tasks_come_home_when_no_other_process_can_be_had),
        TEST(a_damaged_graph_file_is_told_when_it_cannot_be_read_here_either),
        TEST(a_solver_that_does_not_open_is_told_with_its_reason),
        TEST(nothing_is_left_when_a_worker_stops),
        cmocka_unit_test_setup(no_heartbeat_is_silence_with_and_without_a_task, reset_watched),
        cmocka_unit_test_setup(an_opening_may_take_what_is_allowed, reset_watched),
        cmocka_unit_test_setup(rounds_that_do_not_come_are_waited_for_less_in_a_hurry,
                               reset_watched),
        cmocka_unit_test_setup(heartbeats_without_a_task_are_all_there_is_to_want, reset_watched),
        cmocka_unit_test_setup(outside_the_rounds_the_allowance_counts, reset_watched),
        cmocka_unit_test_setup(among_even_rounds_a_stall_is_seen_whatever_the_allowance,
                               reset_watched),
        cmocka_unit_test_setup(long_rounds_are_waited_for, reset_watched),
        cmocka_unit_test_setup(the_last_of_few_rounds_may_take_longest, reset_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
