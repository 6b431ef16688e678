#include "server/job/worker/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct task_board board;
static struct task task;

/* Ticks of a second, of a process whose heart beats, until it counts as lost. */
static unsigned ticks_until_lost(struct worker_watch *watch, enum task_loss *loss)
{
    unsigned ticks = 0;
    do {
        atomic_fetch_add(&board.beats, 1);
        *loss = worker_watch_tick(watch, &board, &task, 1);
        ticks++;
    } while (*loss == TASK_LOSS_NONE && ticks < 10000);
    return ticks;
}

static void report(uint32_t done, uint32_t total)
{
    atomic_store(&board.signal.rounds_done, done);
    atomic_store(&board.signal.rounds_total, total);
}

static int set_up(void **state)
{
    (void)state;
    board = (struct task_board){0};
    task = (struct task){.vertex_count = 1000};
    return 0;
}

static void no_heartbeat_is_silence_with_and_without_a_work(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (unsigned with = 0; with < 2; with++) {
        worker_watch_begin(&watch, 10, 1000);
        unsigned ticks = 0;
        enum task_loss loss = TASK_LOSS_NONE;
        while (loss == TASK_LOSS_NONE) {
            loss = worker_watch_tick(&watch, &board, with > 0 ? &task : NULL, 1);
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
        worker_watch_begin(&watch, 300, 300);
        if (hurried) {
            worker_watch_hurry(&watch);
        }
        while (loss == TASK_LOSS_NONE) {
            atomic_fetch_add(&board.beats, 1);
            loss = worker_watch_tick(&watch, &board, NULL, 1);
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
    worker_watch_begin(&watch, 10, 0);
    worker_watch_hurry(&watch);
    report(1, 100);
    /* The first tick meets a new number. */
    assert_int_equal(ticks_until_lost(&watch, &loss), 7);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    worker_watch_begin(&watch, 2, 0);
    worker_watch_hurry(&watch);
    assert_int_equal(ticks_until_lost(&watch, &loss), 4);
}

static void a_beating_heart_without_a_work_is_all_there_is_to_want(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    worker_watch_begin(&watch, 10, 0);
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, NULL, 1), TASK_LOSS_NONE);
    }
}

static void outside_the_rounds_the_allowance_counts(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    report(16, 16);
    worker_watch_begin(&watch, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, &loss), 102);
}

static void among_even_rounds_a_stall_is_seen_whatever_the_allowance(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, 10, 1000);
    report(1, 16);
    assert_int_equal(ticks_until_lost(&watch, &loss), 12);
    assert_int_equal(loss, TASK_LOSS_STALLED);
}

static void long_rounds_are_waited_for(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum task_loss loss;
    worker_watch_begin(&watch, 10, 0);
    for (uint32_t round = 1; round < 4; round++) {
        report(round, 16);
        for (int tick = 0; tick < 5; tick++) {
            atomic_fetch_add(&board.beats, 1);
            assert_int_equal(worker_watch_tick(&watch, &board, &task, 1), TASK_LOSS_NONE);
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
    worker_watch_begin(&watch, 10, 1000);
    for (int tick = 0; tick < 50; tick++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, &task, 1), TASK_LOSS_NONE);
    }
    report(1, 4);
    atomic_fetch_add(&board.beats, 1);
    assert_int_equal(worker_watch_tick(&watch, &board, &task, 1), TASK_LOSS_NONE);
    /* No longer than the task took so far, four times over, ever. */
    watch.elapsed_s = 50;
    task.vertex_count = 1000;
    assert_int_equal(ticks_until_lost(&watch, &loss), 11);
    task.vertex_count = 100000;
    watch.gap_s = 0;
    watch.elapsed_s = 50;
    watch.stall_s = 10;
    atomic_fetch_add(&board.beats, 1);
    for (int tick = 0; tick < 200; tick++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, &task, 1), TASK_LOSS_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_heartbeat_is_silence_with_and_without_a_work, set_up),
        cmocka_unit_test_setup(an_opening_may_take_what_is_allowed, set_up),
        cmocka_unit_test_setup(rounds_that_do_not_come_are_waited_for_less_in_a_hurry, set_up),
        cmocka_unit_test_setup(a_beating_heart_without_a_work_is_all_there_is_to_want, set_up),
        cmocka_unit_test_setup(outside_the_rounds_the_allowance_counts, set_up),
        cmocka_unit_test_setup(among_even_rounds_a_stall_is_seen_whatever_the_allowance, set_up),
        cmocka_unit_test_setup(long_rounds_are_waited_for, set_up),
        cmocka_unit_test_setup(the_last_of_few_rounds_may_take_longest, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
