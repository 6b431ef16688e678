#include "tests/unit/scheduler_fixture.h"

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
    struct question *question = new_upload(CALL_SUBMIT, RING);
    scheduler_post(fixture->scheduler, &question->call);
    wait_for(fixture, question);
    assert_true(question->call.status == STATUS_IO);
    forget(question);
    question = new_question(CALL_JOBS, "");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
    question = new_question(CALL_GRAPHS, "");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.body, "{\"graphs\":[],\"next\":null}");
    forget(question);
    assert_int_equal(atomic_load(&scheduler_admission(fixture->scheduler)->queue_free), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCHEDULER_TEST(what_the_disk_refuses_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
