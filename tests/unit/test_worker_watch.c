#include "server/job/worker_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct work_board board;
static struct work works[2];

/* Ticks of a second, of a process whose heart beats, until it counts as lost. */
static unsigned ticks_until_lost(struct worker_watch *watch, uint32_t count, enum work_loss *loss)
{
    unsigned ticks = 0;
    do {
        atomic_fetch_add(&board.beats, 1);
        *loss = worker_watch_tick(watch, &board, works, count, 1);
        ticks++;
    } while (*loss == WORK_LOSS_NONE && ticks < 10000);
    return ticks;
}

static void report(uint32_t done, uint32_t total)
{
    atomic_store(&board.signals[0].rounds_done, done);
    atomic_store(&board.signals[0].rounds_total, total);
}

static int set_up(void **state)
{
    (void)state;
    board = (struct work_board){0};
    works[0] = (struct work){.vertex_count = 1000};
    return 0;
}

static void no_heartbeat_is_silence_with_and_without_a_load(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (uint32_t count = 0; count < 2; count++) {
        worker_watch_begin(&watch, 10, 1000);
        unsigned ticks = 0;
        enum work_loss loss = WORK_LOSS_NONE;
        while (loss == WORK_LOSS_NONE) {
            loss = worker_watch_tick(&watch, &board, count > 0 ? works : NULL, count, 1);
            ticks++;
        }
        assert_int_equal(loss, WORK_LOSS_SILENT);
        assert_int_equal(ticks, 11);
    }
}

static void an_opening_may_take_what_is_allowed(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    for (unsigned hurried = 0; hurried < 2; hurried++) {
        enum work_loss loss = WORK_LOSS_NONE;
        unsigned ticks = 0;
        worker_watch_begin(&watch, 300, 300);
        if (hurried) {
            worker_watch_hurry(&watch);
        }
        while (loss == WORK_LOSS_NONE) {
            atomic_fetch_add(&board.beats, 1);
            loss = worker_watch_tick(&watch, &board, NULL, 0, 1);
            ticks++;
        }
        assert_int_equal(loss, WORK_LOSS_STALLED);
        assert_int_equal(ticks, hurried ? 6 : 301);
    }
}

static void rounds_that_do_not_come_are_waited_for_less_in_a_hurry(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum work_loss loss;
    worker_watch_begin(&watch, 10, 0);
    worker_watch_hurry(&watch);
    report(1, 100);
    /* The first tick meets a new number. */
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 7);
    assert_int_equal(loss, WORK_LOSS_STALLED);
    worker_watch_begin(&watch, 2, 0);
    worker_watch_hurry(&watch);
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 4);
}

static void a_beating_heart_without_a_load_is_all_there_is_to_want(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    worker_watch_begin(&watch, 10, 0);
    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, NULL, 0, 1), WORK_LOSS_NONE);
    }
}

static void outside_the_rounds_the_allowance_counts(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum work_loss loss;
    worker_watch_begin(&watch, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 102);
    assert_int_equal(loss, WORK_LOSS_STALLED);
    report(16, 16);
    worker_watch_begin(&watch, 10, 100);
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 102);
}

static void among_even_rounds_a_stall_is_seen_whatever_the_allowance(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum work_loss loss;
    worker_watch_begin(&watch, 10, 1000);
    report(1, 16);
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 12);
    assert_int_equal(loss, WORK_LOSS_STALLED);
}

static void long_rounds_are_waited_for(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum work_loss loss;
    worker_watch_begin(&watch, 10, 0);
    for (uint32_t round = 1; round < 4; round++) {
        report(round, 16);
        for (int tick = 0; tick < 5; tick++) {
            atomic_fetch_add(&board.beats, 1);
            assert_int_equal(worker_watch_tick(&watch, &board, works, 1, 1), WORK_LOSS_NONE);
        }
    }
    /* 20 times the 4 whole ticks between two reports. */
    const unsigned ticks = ticks_until_lost(&watch, 1, &loss);
    assert_in_range(ticks, 70, 100);
}

/* Four rounds for 100,000 vertices: the last takes most of the time. */
static void the_last_of_few_rounds_may_take_longest(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    enum work_loss loss;
    works[0].vertex_count = 100000;
    worker_watch_begin(&watch, 10, 1000);
    for (int tick = 0; tick < 50; tick++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, works, 1, 1), WORK_LOSS_NONE);
    }
    report(1, 4);
    atomic_fetch_add(&board.beats, 1);
    assert_int_equal(worker_watch_tick(&watch, &board, works, 1, 1), WORK_LOSS_NONE);
    /* No longer than the load took so far, four times over, ever. */
    watch.elapsed_s = 50;
    works[0].vertex_count = 1000;
    assert_int_equal(ticks_until_lost(&watch, 1, &loss), 11);
    works[0].vertex_count = 100000;
    watch.gap_s = 0;
    watch.elapsed_s = 50;
    watch.stall_s = 10;
    atomic_fetch_add(&board.beats, 1);
    for (int tick = 0; tick < 200; tick++) {
        atomic_fetch_add(&board.beats, 1);
        assert_int_equal(worker_watch_tick(&watch, &board, works, 1, 1), WORK_LOSS_NONE);
    }
}

static void any_of_many_works_is_progress(void **state)
{
    (void)state;
    struct worker_watch watch = {0};
    worker_watch_begin(&watch, 10, 0);
    for (uint32_t step = 1; step < 100; step++) {
        atomic_store(&board.signals[step % 2].rounds_done, step);
        for (int tick = 0; tick < 9; tick++) {
            atomic_fetch_add(&board.beats, 1);
            assert_int_equal(worker_watch_tick(&watch, &board, works, 2, 1), WORK_LOSS_NONE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_heartbeat_is_silence_with_and_without_a_load, set_up),
        cmocka_unit_test_setup(an_opening_may_take_what_is_allowed, set_up),
        cmocka_unit_test_setup(rounds_that_do_not_come_are_waited_for_less_in_a_hurry, set_up),
        cmocka_unit_test_setup(a_beating_heart_without_a_load_is_all_there_is_to_want, set_up),
        cmocka_unit_test_setup(outside_the_rounds_the_allowance_counts, set_up),
        cmocka_unit_test_setup(among_even_rounds_a_stall_is_seen_whatever_the_allowance, set_up),
        cmocka_unit_test_setup(long_rounds_are_waited_for, set_up),
        cmocka_unit_test_setup(the_last_of_few_rounds_may_take_longest, set_up),
        cmocka_unit_test_setup(any_of_many_works_is_progress, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
