#include "tests/unit/desk_fixture.h"

static void a_drain_answers_the_waiting_and_refuses_new_jobs(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    struct question *waiting = new_question(ASK_JOB, job_id);
    waiting->ask.wait_s = LONG_S;
    waiting->ask.wait_until_final = true;
    desk_post(fixture->desk, &waiting->ask);
    assert_job_state(fixture, job_id, "running");
    desk_drain(fixture->desk, set_drained, fixture);
    wait_for(fixture, waiting);
    assert_state(waiting, "running");
    forget(waiting);
    struct question *question = new_upload(ASK_SUBMIT, RING);
    ask(fixture, question, STATUS_DRAINING, 503);
    forget(question);
    desk_drain_faster(fixture->desk);
    run_until(fixture, &fixture->drained);
    assert_job_state(fixture, job_id, "queued");
    question = new_upload(ASK_STORE_GRAPH, RING);
    ask(fixture, question, STATUS_DRAINING, 503);
    forget(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_drain_answers_the_waiting_and_refuses_new_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
