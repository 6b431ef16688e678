#include "tests/unit/desk_fixture.h"

static void a_full_queue_refuses_with_a_time_to_retry(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    fixture->config.queue_limit = 1;
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    assert_int_equal(atomic_load(&desk_admission(fixture->desk)->queue_free), 0);
    struct question *question = new_upload(ASK_SUBMIT, RING);
    ask(fixture, question, STATUS_QUEUE_FULL, 429);
    assert_true(question->ask.retry_after_s > 0);
    forget(question);
    cancel(fixture, running);
    cancel(fixture, queued);
    finish_job(fixture, queued, "cancelled");
    assert_int_equal(atomic_load(&desk_admission(fixture->desk)->queue_free), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_full_queue_refuses_with_a_time_to_retry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
