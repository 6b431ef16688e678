#include "tests/unit/desk_fixture.h"

static void a_submitted_graph_is_solved(void **state)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(*state, RING, job_id, graph_id);
    assert_job_state(*state, job_id, "done");
    assert_distance(*state, job_id, 0, 2, "3");
    assert_distance(*state, graph_id, 2, 1, "5");
}

static void without_a_wait_the_answer_is_202_and_the_job_ends_later(void **state)
{
    struct question *question = new_upload(ASK_SUBMIT, RING);
    ask(*state, question, STATUS_OK, 202);
    assert_true(question->ask.retry_after_s > 0);
    finish_job(*state, question->ask.job_id, "done");
    forget(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_submitted_graph_is_solved),
        DESK_TEST(without_a_wait_the_answer_is_202_and_the_job_ends_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
