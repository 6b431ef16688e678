#include "server/job/worker/task.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void progress_and_cancel_pass_through_the_signal(void **state)
{
    (void)state;
    struct task_signal signal = {0};
    const struct observer observer = task_signal_observer(&signal);
    assert_false(observer.cancelled(observer.context));
    atomic_store(&signal.cancelled, true);
    assert_true(observer.cancelled(observer.context));
    observer.progress(observer.context, 2, 8);
    observer.progress(observer.context, 3, 8);
    assert_int_equal(atomic_load(&signal.first_round), 2);
    assert_int_equal(atomic_load(&signal.rounds_done), 3);
    assert_int_equal(atomic_load(&signal.rounds_total), 8);
    assert_true(atomic_load(&signal.first_round_at_s) > 0);
    /* Begun anew: a new pace. */
    observer.progress(observer.context, 1, 8);
    assert_int_equal(atomic_load(&signal.first_round), 1);
}

static void a_signal_is_copied_whole_and_reset_to_nothing(void **state)
{
    (void)state;
    struct task_signal from = {true, true, 1, 2, 3, 4, 5, 6, 7, 8};
    struct task_signal to = {0};
    task_signal_copy(&from, &to);
    assert_true(atomic_load(&to.cancelled));
    assert_true(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 1);
    assert_int_equal(atomic_load(&to.rounds_total), 2);
    assert_int_equal(atomic_load(&to.first_round), 3);
    assert_true(atomic_load(&to.first_round_at_s) == 4);
    assert_true(atomic_load(&to.round_at_s) == 5);
    assert_true(atomic_load(&to.expected_s) == 6);
    assert_true(atomic_load(&to.finish_s) == 7);
    assert_true(atomic_load(&to.begun_at_s) == 8);
    task_signal_reset(&to);
    assert_false(atomic_load(&to.cancelled));
    assert_false(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 0);
    assert_true(atomic_load(&to.begun_at_s) == 0);
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
    task_loss_describe(TASK_LOSS_BABBLE, 0, text);
    assert_non_null(strstr(text, "no sense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_and_cancel_pass_through_the_signal),
        cmocka_unit_test(a_signal_is_copied_whole_and_reset_to_nothing),
        cmocka_unit_test(a_loss_is_told_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
