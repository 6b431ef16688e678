#include "tests/unit/change_fixture.h"

static void the_name_stays_with_the_last_graph_that_was_solved(void **state)
{
    struct fixture *fixture = *state;
    char changed[GRAPH_ID_SIZE];
    char failed[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 2, "done", changed);
    change(fixture, "ring", -9, "failed", failed);
    assert_string_equal(owner_of(fixture, "ring")->row.id, changed);
    /* The graph that failed is an old version already. */
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, failed);
    assert_non_null(entry);
    assert_string_equal(entry->row.version_of, "ring");
    restart(fixture);
    assert_string_equal(owner_of(fixture, "ring")->row.id, changed);
    assert_distance(fixture, "ring", 0, 2, "4");
    entry = graph_table_find_id(fixture->scheduler->graphs, failed);
    assert_non_null(entry);
    assert_string_equal(entry->row.version_of, "ring");
    assert_non_null(entry->version_of);
}

static unsigned count_graphs(const struct fixture *fixture)
{
    const struct graph_entry *entry = fixture->scheduler->graphs->newest;
    unsigned count = 0;
    for (; entry != NULL; entry = entry->older) {
        count++;
    }
    return count;
}

static void so_many_versions_are_kept(void **state)
{
    struct fixture *fixture = *state;
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    for (int i = 0; i < 8; i++) {
        change(fixture, "ring", 10 + i, "done", changed);
    }
    while (count_graphs(fixture) > 3) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    restart(fixture);
    for (int i = 0; i < 3; i++) {
        change(fixture, "ring", 20 + i, "done", changed);
    }
    while (count_graphs(fixture) > 3) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    assert_distance(fixture, "ring", 0, 2, "24");
}

static void versions_go_with_their_name(void **state)
{
    struct fixture *fixture = *state;
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 5;
    store_named(fixture, RING, "ring");
    for (int i = 0; i < 4; i++) {
        change(fixture, "ring", 10 + i, "done", changed);
    }
    assert_int_equal(count_graphs(fixture), 5);
    struct question *question = new_question(CALL_DELETE_GRAPH, "ring");
    call(fixture, question, STATUS_OK, 204);
    forget(question);
    while (count_graphs(fixture) > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCHEDULER_TEST(the_name_stays_with_the_last_graph_that_was_solved),
        SCHEDULER_TEST(so_many_versions_are_kept),
        SCHEDULER_TEST(versions_go_with_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
