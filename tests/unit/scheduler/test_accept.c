#include "tests/lib/change_fixture.h"

/* If the changed graph already has a result, no solve is needed. The job is then done immediately,
 * and the name moves as soon as the change is stored. */
SCHEDULER_TEST(a_change_that_restores_a_solved_graph_needs_no_solve)
{
    char changed[GRAPH_ID_SIZE];
    char back[GRAPH_ID_SIZE];
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
    assert_null(graph_table_find_id(&fixture->scheduler->graphs, changed));
}

/* A graph that was created by a change, but was also uploaded or submitted by its ID, is kept when
 * it loses its name. */
SCHEDULER_TEST(a_changed_graph_is_kept_without_a_name_if_it_was_uploaded_or_submitted)
{
    char changed[2][GRAPH_ID_SIZE];
    char last[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 7, "done", changed[0]);
    struct question *question =
        new_upload(CALL_STORE_GRAPH, "p sp 3 3\na 1 2 7\na 2 3 2\na 3 1 4\n");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.graph_id, changed[0]);
    forget(question);
    change(fixture, "ring", 8, "done", changed[1]);
    question = new_question(CALL_SUBMIT, changed[1]);
    question->call.submit.parameters.kind = KIND_F8;
    question->call.wait_s = LONG_S;
    call_and_forget(fixture, question, STATUS_OK, 200);
    restart(fixture);
    change(fixture, "ring", 10, "done", last);
    restart(fixture);
    for (int i = 0; i < 2; i++) {
        const struct graph_entry *entry =
            graph_table_find_id(&fixture->scheduler->graphs, changed[i]);
        assert_non_null(entry);
        assert_false(entry->row.of_name);
    }
}
