#include "server/job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct job *new_job(void)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    return job;
}

static void a_job_comes_back_from_its_row(void **state)
{
    (void)state;
    struct job *job = new_job();
    job->priority = 7;
    job->deadline_s = 30;
    job->state = JOB_DONE;
    struct job_row row;
    struct job *restored;
    job_fill_row(job, NULL, &row);
    assert_int_equal(job_restore(&row, &restored), STATUS_OK);
    assert_string_equal(restored->id, job->id);
    assert_string_equal(restored->graph_id, "g_one");
    assert_int_equal(restored->priority, 7);
    assert_true(restored->deadline_s == 30 && restored->created_s == 1000);
    assert_true(restored->accepted && restored->committed);
    job_destroy(restored);
    job_destroy(job);
}

static void a_report_that_is_none_is_corrupt(void **state)
{
    (void)state;
    struct job *job = new_job();
    struct job_row row;
    struct job *restored = NULL;
    job_fill_row(job, "{", &row);
    assert_int_equal(job_restore(&row, &restored), STATUS_CORRUPT);
    assert_null(restored);
    job_destroy(job);
}

static void progress_and_the_time_left_follow_the_rounds(void **state)
{
    (void)state;
    struct job *job = new_job();
    assert_true(job_progress(job) == 0);
    job->state = JOB_RUNNING;
    assert_true(job_eta_s(job, 60) < 0);
    atomic_store(&job->signal->rounds_total, 4);
    atomic_store(&job->signal->rounds_done, 1);
    atomic_store(&job->signal->first_round, 1);
    atomic_store(&job->signal->first_round_at_s, 50);
    assert_true(job_progress(job) == 0.25);
    assert_true(job_eta_s(job, 60) < 0);
    atomic_store(&job->signal->rounds_done, 3);
    atomic_store(&job->signal->round_at_s, 60);
    assert_true(job_eta_s(job, 60) == 5);
    assert_true(job_eta_s(job, 62) == 3);
    assert_true(job_eta_s(job, 70) == 0);
    job->state = JOB_DONE;
    assert_true(job_progress(job) == 1);
    assert_true(job_eta_s(job, 60) < 0);
    job_destroy(job);
}

static void what_the_solver_expects_frames_the_rounds(void **state)
{
    (void)state;
    struct job *job = new_job();
    job->state = JOB_RUNNING;
    atomic_store(&job->signal->expected_s, 10);
    atomic_store(&job->signal->finish_s, 2);
    atomic_store(&job->signal->begun_at_s, 100);
    assert_true(job_eta_s(job, 103) == 7);
    assert_true(job_eta_s(job, 120) == 0);
    atomic_store(&job->signal->rounds_total, 8);
    atomic_store(&job->signal->rounds_done, 2);
    atomic_store(&job->signal->first_round, 1);
    atomic_store(&job->signal->first_round_at_s, 101);
    atomic_store(&job->signal->round_at_s, 102);
    assert_true(job_eta_s(job, 102) == 6 + 2);
    assert_true(job_progress(job) == 0.8 * 0.25);
    atomic_store(&job->signal->rounds_done, 8);
    atomic_store(&job->signal->round_at_s, 108);
    assert_true(job_eta_s(job, 109) == 1);
    assert_true(job_progress(job) == 0.8);
    work_signal_reset(job->signal);
    assert_true(job_eta_s(job, 109) < 0 && job_progress(job) == 0);
    job_destroy(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_back_from_its_row),
        cmocka_unit_test(a_report_that_is_none_is_corrupt),
        cmocka_unit_test(progress_and_the_time_left_follow_the_rounds),
        cmocka_unit_test(what_the_solver_expects_frames_the_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
