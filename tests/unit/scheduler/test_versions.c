#include "tests/lib/change_fixture.h"

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

/* Until versions too many are deleted. */
static void run_until_graphs(struct fixture *fixture, unsigned count)
{
    while (count_graphs(fixture) > count) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
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
    run_until_graphs(fixture, 3);
    restart(fixture);
    for (int i = 0; i < 3; i++) {
        change(fixture, "ring", 20 + i, "done", changed);
    }
    run_until_graphs(fixture, 3);
    assert_distance(fixture, "ring", 0, 2, "24");
}

static void changes_that_fail_keep_the_versions_that_had_the_name(void **state)
{
    struct fixture *fixture = *state;
    char first[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    for (int i = 0; i < 2; i++) {
        change(fixture, "ring", 10 + i, "done", changed);
    }
    for (int i = 0; i < 2; i++) {
        change(fixture, "ring", -9 - i, "failed", changed);
    }
    run_until_graphs(fixture, 3);
    assert_non_null(graph_table_find_id(fixture->scheduler->graphs, first));
}

static void they_keep_them_after_a_restart_too(void **state)
{
    struct fixture *fixture = *state;
    char first[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    change(fixture, "ring", 10, "done", changed);
    change(fixture, "ring", -9, "failed", changed);
    assert_int_equal(count_graphs(fixture), 3);
    restart(fixture);
    change(fixture, "ring", 11, "done", changed);
    run_until_graphs(fixture, 3);
    assert_non_null(graph_table_find_id(fixture->scheduler->graphs, first));
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
    run_until_graphs(fixture, 0);
}

/* ---- At the end of a job ---- */

/* The job that changed RING, and that has moved the name to its graph. */
static const struct job *change_ring(struct fixture *fixture, char parent[GRAPH_ID_SIZE])
{
    char changed[GRAPH_ID_SIZE];
    fixture->config.versions = 2;
    store_named(fixture, RING, "ring");
    memcpy(parent, owner_of(fixture, "ring")->row.id, GRAPH_ID_SIZE);
    change(fixture, "ring", 2, "done", changed);
    return job_table_newest_of(fixture->scheduler->jobs, changed);
}

/* On the way to something that is over again once the question is answered. Where the disk was
 * faster than this thread it is over already, and there is nothing to see. */
static void run_towards(struct fixture *fixture, struct question *question)
{
    uv_run(&fixture->loop, UV_RUN_ONCE);
    if (question->answered) {
        forget(question);
        skip();
    }
}

/* As the end of the job does. Returns whether the name goes to the disk. */
static bool end_again(struct fixture *fixture, const struct job *job)
{
    struct scheduler *scheduler = fixture->scheduler;
    struct commit *commit;
    versions_move_name(scheduler, job, graph_table_find_id(scheduler->graphs, job->graph_id));
    assert_int_equal(scheduler_commit_create(scheduler, NULL, &commit), STATUS_OK);
    versions_add_name(scheduler, job, commit);
    const bool is_named = commit->change.name_row != NULL;
    scheduler_commit_send(commit);
    return is_named;
}

/* The catalogue has both in order, so that the name would be another's after a restart. */
static void a_name_that_is_just_being_given_away_does_not_move(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    char other[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    store_named(fixture, LINE, "line");
    memcpy(other, owner_of(fixture, "line")->row.id, sizeof(other));
    store_named(fixture, RING, "ring");
    assert_string_equal(owner_of(fixture, "ring")->row.id, parent);
    struct question *upload = new_upload(CALL_STORE_GRAPH, LINE);
    snprintf(upload->call.submit.parameters.name, NAME_SIZE, "ring");
    scheduler_post(fixture->scheduler, &upload->call);
    while (LIST_EMPTY(&fixture->scheduler->namings)) {
        run_towards(fixture, upload);
    }
    assert_false(end_again(fixture, job));
    wait_for(fixture, upload);
    forget(upload);
    assert_string_equal(owner_of(fixture, "ring")->row.id, other);
    restart(fixture);
    assert_string_equal(owner_of(fixture, "ring")->row.id, other);
}

/* A change whose result is there at once is stored before the name moves. */
static void the_parent_is_a_version_as_soon_as_the_name_is_on_the_disk(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    struct scheduler *scheduler = fixture->scheduler;
    memcpy(changed, job->graph_id, sizeof(changed));
    while (!LIST_EMPTY(&scheduler->namings)) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    struct graph_entry *entry = graph_table_find_id(scheduler->graphs, parent);
    assert_int_equal(graph_table_name(scheduler->graphs, "ring", entry), STATUS_OK);
    assert_string_equal(entry->row.version_of, "");
    struct commit *commit;
    assert_int_equal(scheduler_commit_create(scheduler, NULL, &commit), STATUS_OK);
    versions_add_name(scheduler, job, commit);
    assert_non_null(commit->change.name_row);
    assert_non_null(commit->change.parent_row);
    commit->entry = entry;
    scheduler_commit_send(commit);
    while (entry->changes > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    restart(fixture);
    assert_string_equal(owner_of(fixture, "ring")->row.id, changed);
    entry = graph_table_find_id(fixture->scheduler->graphs, parent);
    assert_string_equal(entry->row.version_of, "ring");
}

static void a_graph_that_is_being_deleted_loses_no_name(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    store_named(fixture, RING, "ring");
    struct question *deletion = new_question(CALL_DELETE_GRAPH, parent);
    scheduler_post(fixture->scheduler, &deletion->call);
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, parent);
    while (!entry->deleting) {
        run_towards(fixture, deletion);
    }
    assert_false(end_again(fixture, job));
    wait_for(fixture, deletion);
    forget(deletion);
    restart(fixture);
    assert_null(graph_table_find_id(fixture->scheduler->graphs, parent));
    assert_null(owner_of(fixture, "ring"));
}

static void expect_deleted(struct fixture *fixture, const char *id)
{
    struct question *deletion = new_question(CALL_DELETE_GRAPH, id);
    call(fixture, deletion, STATUS_OK, 204);
    forget(deletion);
    restart(fixture);
    assert_null(graph_table_find_id(fixture->scheduler->graphs, id));
}

static void a_graph_with_a_name_is_no_version(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    memcpy(changed, job->graph_id, sizeof(changed));
    store_named(fixture, RING, "ring");
    struct question *upload = new_upload(CALL_STORE_GRAPH, "p sp 3 3\na 1 2 2\na 2 3 2\na 3 1 4\n");
    snprintf(upload->call.submit.parameters.name, NAME_SIZE, "ring");
    scheduler_post(fixture->scheduler, &upload->call);
    while (LIST_EMPTY(&fixture->scheduler->namings)) {
        run_towards(fixture, upload);
    }
    assert_false(end_again(fixture, job));
    wait_for(fixture, upload);
    forget(upload);
    const struct graph_entry *owner = owner_of(fixture, "ring");
    assert_string_equal(owner->row.id, changed);
    assert_null(owner->version_of);
    expect_deleted(fixture, changed);
}

static void a_graph_that_is_being_deleted_becomes_no_version(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    memcpy(changed, job->graph_id, sizeof(changed));
    store_named(fixture, LINE, "ring");
    struct question *deletion = new_question(CALL_DELETE_GRAPH, changed);
    scheduler_post(fixture->scheduler, &deletion->call);
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, changed);
    while (!entry->deleting) {
        run_towards(fixture, deletion);
    }
    assert_false(end_again(fixture, job));
    assert_null(entry->version_of); /* its row would come back, and its memory is free soon */
    wait_for(fixture, deletion);
    forget(deletion);
    restart(fixture);
    assert_null(graph_table_find_id(fixture->scheduler->graphs, changed));
}

/* While the commit that keeps it is under way, also as an end is stored again. */
static void a_version_that_is_asked_for_is_none_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, parent);
    while (entry->changes > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    assert_string_equal(entry->row.version_of, "ring");
    struct question *upload = new_upload(CALL_STORE_GRAPH, RING);
    scheduler_post(fixture->scheduler, &upload->call);
    while (entry->changes == 0) {
        run_towards(fixture, upload);
    }
    versions_store_again(fixture->scheduler, job);
    wait_for(fixture, upload);
    forget(upload);
    restart(fixture);
    entry = graph_table_find_id(fixture->scheduler->graphs, parent);
    assert_string_equal(entry->row.version_of, "");
}

/* A full disk keeps the end back meanwhile. */
static void a_name_goes_to_the_disk_though_the_parent_is_deleted(void **state)
{
    struct fixture *fixture = *state;
    char parent[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    struct question *deletion = new_question(CALL_DELETE_GRAPH, parent);
    call(fixture, deletion, STATUS_OK, 204);
    forget(deletion);
    assert_true(end_again(fixture, job));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCHEDULER_TEST(the_name_stays_with_the_last_graph_that_was_solved),
        SCHEDULER_TEST(so_many_versions_are_kept),
        SCHEDULER_TEST(changes_that_fail_keep_the_versions_that_had_the_name),
        SCHEDULER_TEST(they_keep_them_after_a_restart_too),
        SCHEDULER_TEST(versions_go_with_their_name),
        SCHEDULER_TEST(a_name_that_is_just_being_given_away_does_not_move),
        SCHEDULER_TEST(the_parent_is_a_version_as_soon_as_the_name_is_on_the_disk),
        SCHEDULER_TEST(a_graph_that_is_being_deleted_loses_no_name),
        SCHEDULER_TEST(a_graph_with_a_name_is_no_version),
        SCHEDULER_TEST(a_graph_that_is_being_deleted_becomes_no_version),
        SCHEDULER_TEST(a_version_that_is_asked_for_is_none_after_a_restart),
        SCHEDULER_TEST(a_name_goes_to_the_disk_though_the_parent_is_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
