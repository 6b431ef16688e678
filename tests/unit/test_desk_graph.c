#include "tests/unit/desk_fixture.h"

static void a_graph_in_use_is_not_deleted_and_one_that_is_idle_is(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    struct question *question = new_question(ASK_DELETE_GRAPH, job_id);
    ask(fixture, question, STATUS_GRAPH_IN_USE, 409);
    forget(question);
    cancel(fixture, job_id);
    finish_job(fixture, job_id, "cancelled");
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    question = new_question(ASK_DELETE_GRAPH, graph_id);
    ask(fixture, question, STATUS_OK, 204);
    forget(question);
    assert_null(result_table_find(fixture->results, 0, graph_id));
    assert_null(result_table_find(fixture->results, 0, job_id));
    question = new_question(ASK_GRAPH, graph_id);
    ask(fixture, question, STATUS_NO_SUCH_GRAPH, 404);
    forget(question);
    assert_job_state(fixture, job_id, "done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_graph_in_use_is_not_deleted_and_one_that_is_idle_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
