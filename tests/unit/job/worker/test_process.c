/* This program is also the process that is started: it waits until the other end hangs up, or, when
 * the environment says so, for ever. The watch is fed by hand. */
#include "server/job/worker/process.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define STUBBORN "TEST_WORKER_PROCESS_STUBBORN"
#define CODE 7

static int be_process(void)
{
    char byte;
    const bool alone = fcntl(WORKER_SOCKET + 1, F_GETFD) < 0;
    if (send(WORKER_SOCKET, alone ? "y" : "n", 1, 0) != 1) {
        return 1;
    }
    while (getenv(STUBBORN) != NULL || recv(WORKER_SOCKET, &byte, 1, 0) > 0) {
        pause();
    }
    return CODE;
}

/* It runs, and has no file but its own. */
static void greet(const struct worker_process *process)
{
    char byte = 0;
    struct pollfd look = {.fd = process->socket, .events = POLLIN};
    assert_int_equal(poll(&look, 1, -1), 1);
    assert_int_equal(recv(process->socket, &byte, 1, 0), 1);
    assert_int_equal(byte, 'y');
}

static void a_process_leaves_when_it_is_hung_up_on(void **state)
{
    (void)state;
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_NONE;
    int code;
    const int other = open("/dev/null", O_RDONLY); /* not to be inherited all the same */
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_NONE);
    assert_int_equal(code, CODE);
    close(other);
}

static void one_that_was_killed_is_told_from_it(void **state)
{
    (void)state;
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_EXIT;
    int code;
    assert_int_equal(setenv(STUBBORN, "1", 1), 0);
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    assert_int_equal(kill(process.pid, SIGSYS), 0);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_SIGNAL);
    assert_int_equal(code, SIGSYS);
    assert_int_equal(unsetenv(STUBBORN), 0);
}

static void one_that_does_not_leave_is_killed(void **state)
{
    (void)state;
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_STALLED;
    int code;
    assert_int_equal(setenv(STUBBORN, "1", 1), 0);
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    assert_int_equal(code, SIGKILL);
    assert_int_equal(unsetenv(STUBBORN), 0);
}

/* ---- The watch ---- */

static struct worker_shared shared;
static struct task task;

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
    task = (struct task){.vertex_count = 1000};
    return 0;
}

static void no_heartbeat_is_silence_with_and_without_a_task(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (unsigned with = 0; with < 2; with++) {
        worker_watch_begin(&watch, with > 0 ? &task : NULL, 10, 1000);
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
    worker_watch_begin(&watch, &task, 10, 0);
    watch.is_hurried = true;
    report(1, 100);
    /* The first tick meets a new number. */
    assert_int_equal(ticks_until_lost(&watch, &loss), 7);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    worker_watch_begin(&watch, &task, 2, 0);
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
    worker_watch_begin(&watch, &task, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    report(16, 16);
    worker_watch_begin(&watch, &task, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
}

static void among_even_rounds_a_stall_is_seen_whatever_the_allowance(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &task, 10, 1000);
    report(1, 16);
    assert_int_equal(ticks_until_lost(&watch, &loss), 12);
    assert_int_equal(loss, TASK_LOSS_STALLED);
}

static void long_rounds_are_waited_for(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, &task, 10, 0);
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
    task.vertex_count = 100000;
    worker_watch_begin(&watch, &task, 10, 1000);
    for (int tick = 0; tick < 50; tick++) {
        atomic_fetch_add(&shared.heartbeats, 1);
        assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    }
    report(1, 4);
    atomic_fetch_add(&shared.heartbeats, 1);
    assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    /* No longer than the task took so far, four times over, ever. */
    watch.elapsed_s = 50;
    task.vertex_count = 1000;
    assert_int_equal(ticks_until_lost(&watch, &loss), 11);
    task.vertex_count = 100000;
    watch.gap_s = 0;
    watch.elapsed_s = 50;
    watch.stall_s = 10;
    atomic_fetch_add(&shared.heartbeats, 1);
    for (int tick = 0; tick < 200; tick++) {
        atomic_fetch_add(&shared.heartbeats, 1);
        assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], WORKER_FLAG) == 0) {
        return be_process();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_leaves_when_it_is_hung_up_on),
        cmocka_unit_test(one_that_was_killed_is_told_from_it),
        cmocka_unit_test(one_that_does_not_leave_is_killed),
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
