#include "tests/unit/desk_fixture.h"

/* Takes the folder of the graphs from under the store. */
static void break_store(const struct fixture *fixture)
{
    char command[640];
    snprintf(command, sizeof(command), "rm -rf '%s/graphs'", fixture->folder);
    assert_int_equal(system(command), 0);
}

static void what_the_disk_refuses_is_not_kept(void **state)
{
    struct fixture *fixture = *state;
    break_store(fixture);
    struct question *question = new_upload(ASK_SUBMIT, RING);
    desk_post(fixture->desk, &question->ask);
    wait_for(fixture, question);
    assert_true(question->ask.status == STATUS_IO);
    forget(question);
    question = new_question(ASK_JOBS, "");
    ask(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->ask.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
    question = new_question(ASK_GRAPHS, "");
    ask(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->ask.body, "{\"graphs\":[],\"next\":null}");
    forget(question);
    assert_int_equal(atomic_load(&desk_admission(fixture->desk)->queue_free), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(what_the_disk_refuses_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
