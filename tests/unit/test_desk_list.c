#include "tests/unit/desk_fixture.h"

static void jobs_are_listed_newest_first_page_by_page(void **state)
{
    struct fixture *fixture = *state;
    char job_ids[3][JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    for (int i = 0; i < 3; i++) {
        solve(fixture, RING, job_ids[i], graph_id);
    }
    struct question *question = new_question(ASK_JOBS, "");
    question->ask.limit = 2;
    ask(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_t *jobs = json_object_get(body, "jobs");
    assert_int_equal(json_array_size(jobs), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(jobs, 0), "id")),
                        job_ids[2]);
    assert_string_equal(json_string_value(json_object_get(body, "next")), job_ids[1]);
    json_decref(body);
    forget(question);
    question = new_question(ASK_JOBS, "");
    snprintf(question->ask.cursor, JOB_ID_SIZE, "%s", job_ids[1]);
    ask(fixture, question, STATUS_OK, 200);
    body = body_of(question);
    jobs = json_object_get(body, "jobs");
    assert_int_equal(json_array_size(jobs), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(jobs, 0), "id")),
                        job_ids[0]);
    assert_true(json_is_null(json_object_get(body, "next")));
    json_decref(body);
    forget(question);
}

static void jobs_are_filtered_by_state(void **state)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(*state, RING, job_id, graph_id);
    struct question *question = new_question(ASK_JOBS, "");
    question->ask.filter_state = true;
    question->ask.state = JOB_FAILED;
    ask(*state, question, STATUS_OK, 200);
    assert_string_equal(question->ask.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(jobs_are_listed_newest_first_page_by_page),
        DESK_TEST(jobs_are_filtered_by_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
