#include "proto/problem.h"
#include "tests/lib/test.h"

#include <jansson.h>

TEST(only_the_members_that_are_set_are_printed)
{
    struct problem problem;
    json_t *object;
    char *text;

    assert_int_equal(problem_refuse_limit(&problem, STATUS_TOO_LARGE, 5, 7.5, "less", "n is %d", 7),
                     STATUS_TOO_LARGE);
    problem_at(&problem, 3, 0);
    object = problem_json(&problem, "r1");
    text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(text, "{\"type\":\"/problems/too-large\",\"title\":\"The graph is too "
                              "large\",\"status\":413,\"detail\":\"n is 7\",\"code\":\"TooLarge\","
                              "\"limit\":5,\"actual\":7.5,\"hint\":\"less\",\"line\":3,"
                              "\"request_id\":\"r1\"}");
    free(text);
    json_decref(object);
}

TEST(long_texts_are_truncated)
{
    char words[1000];
    struct problem problem;

    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    problem_set(&problem, STATUS_IO, "%s", words);
    assert_int_equal(strlen(problem.detail), PROBLEM_TEXT_SIZE - 1);
    assert_string_equal(problem.detail + PROBLEM_TEXT_SIZE - 4, "...");
    assert_int_equal(problem_set(NULL, STATUS_IO, "x"), STATUS_IO);
}

TEST(only_a_failure_is_explained)
{
    struct problem problem = {.line = 7};
    assert_int_equal(problem_explain(&problem, STATUS_OK, "no"), STATUS_OK);
    assert_int_equal(problem.line, 7);
    assert_string_equal(problem.detail, "");
    assert_int_equal(problem_explain(&problem, STATUS_IO, "disk %d", 1), STATUS_IO);
    assert_int_equal(problem.status, STATUS_IO);
    assert_string_equal(problem.detail, "disk 1");
}
