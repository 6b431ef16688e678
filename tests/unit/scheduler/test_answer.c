#include "tests/lib/scheduler_fixture.h"

static void assert_member(struct fixture *fixture, struct question *question, const char *member,
                          const char *value)
{
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    assert_string_equal(json_string_value(json_object_get(body, member)), value);
    json_decref(body);
    forget(question);
}

SCHEDULER_TEST(documents_name_the_solver_of_a_job_and_the_latest_job_of_a_graph)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    assert_member(fixture, new_question(CALL_JOB, job_id), "solver", "cpu");
    assert_member(fixture, new_question(CALL_JOB, job_id), "graph", graph_id);
    assert_member(fixture, new_question(CALL_GRAPH, graph_id), "job", job_id);
    assert_member(fixture, new_question(CALL_GRAPH, job_id), "result", "i4");
}

SCHEDULER_TEST(unknown_graphs_and_jobs_have_different_codes)
{
    ask(fixture, CALL_JOB, "nowhere", STATUS_NO_SUCH_JOB, 404);
    ask(fixture, CALL_GRAPH, "nowhere", STATUS_NO_SUCH_GRAPH, 404);
    ask(fixture, CALL_RESULT, "j_00000000000000000000000000", STATUS_NO_SUCH_JOB, 404);
}
