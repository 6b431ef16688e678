#include "tests/unit/desk_fixture.h"

static void a_wait_ends_when_its_time_is_up(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    struct question *question = new_question(ASK_JOB, job_id);
    question->ask.wait_s = 0.01;
    question->ask.wait_until_final = true;
    double began_s = clock_monotonic_s();
    ask(fixture, question, STATUS_OK, 200);
    assert_true(clock_monotonic_s() - began_s >= 0.01);
    assert_state(question, "running");
    forget(question);
    cancel(fixture, job_id);
}

static void a_wait_for_a_change_ends_with_the_change(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_question(ASK_JOB, queued);
    question->ask.wait_s = LONG_S;
    desk_post(fixture->desk, &question->ask);
    cancel(fixture, running);
    wait_for(fixture, question);
    assert_state(question, "running");
    forget(question);
    cancel(fixture, queued);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_wait_ends_when_its_time_is_up),
        DESK_TEST(a_wait_for_a_change_ends_with_the_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
