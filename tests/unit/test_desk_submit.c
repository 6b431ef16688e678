#include "tests/unit/desk_fixture.h"

static void a_bad_graph_is_refused_and_nothing_is_kept(void **state)
{
    struct question *question = new_question(ASK_SUBMIT, "");
    struct graph_options options = {0};
    assert_int_equal(reader_create(FORMAT_DIMACS, &options, &question->ask.reader), STATUS_OK);
    ask(*state, question, STATUS_EMPTY_BODY, status_info(STATUS_EMPTY_BODY)->http);
    forget(question);
    question = new_question(ASK_JOBS, "");
    ask(*state, question, STATUS_OK, 200);
    assert_string_equal(question->ask.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
}

static void a_stored_graph_is_solved_by_name_in_another_kind(void **state)
{
    struct question *question = new_upload(ASK_STORE_GRAPH, RING);
    snprintf(question->ask.parameters.name, NAME_SIZE, "ring");
    ask(*state, question, STATUS_OK, 201);
    forget(question);
    question = new_question(ASK_SUBMIT, "ring");
    question->ask.parameters.kind = KIND_F8;
    question->ask.wait_s = LONG_S;
    question->ask.wait_until_final = true;
    ask(*state, question, STATUS_OK, 200);
    assert_distance(*state, "ring", 0, 2, "3");
    forget(question);
}

static void an_unknown_graph_cannot_be_submitted(void **state)
{
    struct question *question = new_question(ASK_SUBMIT, "nowhere");
    ask(*state, question, STATUS_NO_SUCH_GRAPH, 404);
    forget(question);
}

static void a_name_that_looks_like_an_id_is_refused(void **state)
{
    struct question *question = new_upload(ASK_SUBMIT, RING);
    snprintf(question->ask.parameters.name, NAME_SIZE, "g_mine");
    ask(*state, question, STATUS_BAD_PARAMETER, 400);
    forget(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_bad_graph_is_refused_and_nothing_is_kept),
        DESK_TEST(a_stored_graph_is_solved_by_name_in_another_kind),
        DESK_TEST(an_unknown_graph_cannot_be_submitted),
        DESK_TEST(a_name_that_looks_like_an_id_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
