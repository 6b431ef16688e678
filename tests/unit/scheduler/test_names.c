#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "tests/lib/change_fixture.h"

static unsigned count_graphs(const struct fixture *fixture)
{
    const struct graph_entry *entry = fixture->scheduler->graphs->newest;
    unsigned count = 0;
    for (; entry != NULL; entry = entry->older) {
        count++;
    }
    return count;
}

/* Until graphs without a name are deleted. */
static void run_until_graphs(struct fixture *fixture, unsigned count)
{
    while (count_graphs(fixture) > count) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

static bool is_known(const struct fixture *fixture, const char *id)
{
    return graph_table_find_id(fixture->scheduler->graphs, id) != NULL;
}

SCHEDULER_TEST(name_stays_with_the_last_graph_that_was_solved)
{
    char changed[GRAPH_ID_SIZE];
    char failed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 2, "done", changed);
    change(fixture, "ring", -9, "failed", failed);
    assert_string_equal(owner_of(fixture, "ring")->row.id, changed);
    run_until_graphs(fixture, 2);
    assert_false(is_known(fixture, failed));
    restart(fixture);
    assert_string_equal(owner_of(fixture, "ring")->row.id, changed);
    assert_distance(fixture, "ring", 0, 2, "4");
}

/* The graph that was uploaded, and the last one. */
SCHEDULER_TEST(graphs_that_changes_made_go_when_the_name_moves_on)
{
    char first[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    for (int i = 0; i < 8; i++) {
        change(fixture, "ring", 10 + i, "done", changed);
    }
    run_until_graphs(fixture, 2);
    restart(fixture);
    for (int i = 0; i < 3; i++) {
        change(fixture, "ring", 20 + i, "done", changed);
    }
    run_until_graphs(fixture, 2);
    assert_true(is_known(fixture, first) && is_known(fixture, changed));
    assert_distance(fixture, "ring", 0, 2, "24");
}

/* A kill between the move of the name and the deletion. */
SCHEDULER_TEST(start_deletes_graphs_that_lost_their_name)
{
    char changed[GRAPH_ID_SIZE];
    char last[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 10, "done", changed);
    struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, changed);
    entry->active_jobs++;
    change(fixture, "ring", 11, "done", last);
    while (fixture->scheduler->changes > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    assert_true(is_known(fixture, changed)); /* a job uses it */
    entry->active_jobs--;
    restart(fixture);
    run_until_graphs(fixture, 2);
    assert_false(is_known(fixture, changed));
}

SCHEDULER_TEST(graph_of_a_change_by_id_stays)
{
    char first[GRAPH_ID_SIZE];
    char changed[GRAPH_ID_SIZE];
    char last[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    memcpy(first, owner_of(fixture, "ring")->row.id, sizeof(first));
    change(fixture, first, 10, "done", changed);
    change(fixture, changed, 11, "done", last);
    restart(fixture);
    assert_true(is_known(fixture, changed) && is_known(fixture, last));
}

/* An upload takes the name. */
SCHEDULER_TEST(graph_that_a_change_made_goes_when_an_upload_takes_its_name)
{
    char changed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 10, "done", changed);
    store_named(fixture, LINE, "ring");
    run_until_graphs(fixture, 2);
    assert_false(is_known(fixture, changed));
}

/* ---- At the end of a job ---- */

/* The job that changed RING, and that has moved the name to its graph. */
static const struct job *change_ring(struct fixture *fixture, char parent[GRAPH_ID_SIZE])
{
    char changed[GRAPH_ID_SIZE];
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
    names_move(scheduler, job, graph_table_find_id(scheduler->graphs, job->graph_id));
    assert_int_equal(scheduler_commit_create(scheduler, NULL, &commit), STATUS_OK);
    names_add_row(scheduler, job, commit);
    const bool is_named = store_find_op(&commit->change, STORE_PUT_NAME) != NULL;
    scheduler_commit_send(commit);
    return is_named;
}

/* The catalogue has both in order, so that the name would be another's after a restart. */
SCHEDULER_TEST(a_name_that_is_just_being_given_away_does_not_move)
{
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

SCHEDULER_TEST(a_graph_that_is_being_deleted_loses_no_name)
{
    char parent[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    store_named(fixture, RING, "ring");
    struct question *deletion = new_question(CALL_DELETE_GRAPH, parent);
    scheduler_post(fixture->scheduler, &deletion->call);
    const struct graph_entry *entry = graph_table_find_id(fixture->scheduler->graphs, parent);
    while (entry->state != GRAPH_DELETING) {
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

SCHEDULER_TEST(graph_with_a_name_is_not_swept)
{
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
    names_sweep(fixture->scheduler, changed);
    assert_int_not_equal(owner->state, GRAPH_DELETING);
    expect_deleted(fixture, changed);
}

/* A full disk keeps the end back meanwhile. */
SCHEDULER_TEST(a_name_goes_to_the_disk_though_the_parent_is_deleted)
{
    char parent[GRAPH_ID_SIZE];
    const struct job *job = change_ring(fixture, parent);
    struct question *deletion = new_question(CALL_DELETE_GRAPH, parent);
    call(fixture, deletion, STATUS_OK, 204);
    forget(deletion);
    assert_true(end_again(fixture, job));
}
