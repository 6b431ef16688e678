#include "tests/lib/change_fixture.h"

/* A change to a graph whose result is there is done at once, and its name moves with the commit. */
static void a_change_back_is_done_when_it_is_durable(void **state)
{
    struct fixture *fixture = *state;
    char changed[GRAPH_ID_SIZE];
    char back[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    char first[GRAPH_ID_SIZE];
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    change(fixture, "ring", 7, "done", changed);
    assert_string_not_equal(first, changed);
    change(fixture, "ring", 1, "done", back);
    assert_string_equal(first, back);
    assert_distance(fixture, "ring", 0, 2, "3");
    restart(fixture);
    assert_string_equal(owner_of(fixture, "ring")->row.id, first);
    assert_string_equal(owner_of(fixture, "ring")->row.version_of, "");
    assert_string_equal(graph_table_find_id(fixture->scheduler->graphs, changed)->row.version_of,
                        "ring");
}

static void a_graph_that_is_stored_again_is_a_version_no_more(void **state)
{
    struct fixture *fixture = *state;
    char changed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    char first[GRAPH_ID_SIZE];
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    fixture->config.versions = 1;
    change(fixture, "ring", 7, "done", changed);
    struct question *question = new_upload(CALL_STORE_GRAPH, RING);
    call(fixture, question, STATUS_OK, 200);
    forget(question);
    restart(fixture);
    for (int i = 0; i < 3; i++) {
        change(fixture, "ring", 10 + i, "done", changed);
    }
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, first);
    assert_non_null(entry);
    assert_string_equal(entry->row.version_of, "");
}

/* Two ask for an old version at once, and the first commit fails: the second has kept the graph. */
static void a_version_is_kept_for_each_that_asks_for_it(void **state)
{
    struct fixture *fixture = *state;
    struct scheduler *scheduler = fixture->scheduler;
    char first[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 1;
    store_named(fixture, RING, "ring");
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    change(fixture, "ring", 7, "done", changed);
    while (scheduler->changes > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    struct question *questions[] = {new_question(CALL_SUBMIT, first),
                                    new_question(CALL_SUBMIT, first)};
    for (int i = 0; i < 2; i++) {
        questions[i]->call.submit.parameters.kind = i == 0 ? KIND_F4 : KIND_F8;
        scheduler_post(scheduler, &questions[i]->call);
    }
    for (int i = 0; i < 2; i++) {
        /* These two alone: the first's commit may be over before the second is looked at. */
        struct message *question = mailbox_wait(scheduler->mailbox);
        question->deliver(question);
    }
    const struct graph_entry *entry = graph_table_find_id(scheduler->graphs, first);
    assert_int_equal(entry->changes, 2);
    fixture->config.versions = 0;
    versions_delete_old(scheduler, scheduler->nobody, "ring");
    assert_false(entry->deleting);
    struct message *message = mailbox_wait(scheduler->mailbox);
    ((struct commit *)message)->change.status = STATUS_NO_MEMORY;
    message->deliver(message);
    wait_for(fixture, questions[0]);
    wait_for(fixture, questions[1]);
    assert_int_equal(questions[0]->call.status, STATUS_NO_MEMORY);
    assert_int_equal(questions[1]->call.status, STATUS_OK);
    assert_string_equal(entry->row.version_of, "");
    finish_job(fixture, questions[1]->call.job_id, "done");
    forget(questions[0]);
    forget(questions[1]);
    restart(fixture);
    assert_string_equal(graph_table_find_id(fixture->scheduler->graphs, first)->row.version_of, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCHEDULER_TEST(a_change_back_is_done_when_it_is_durable),
        SCHEDULER_TEST(a_graph_that_is_stored_again_is_a_version_no_more),
        SCHEDULER_TEST(a_version_is_kept_for_each_that_asks_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
