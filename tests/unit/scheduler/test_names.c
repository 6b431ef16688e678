#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "tests/lib/change_fixture.h"

static unsigned count_graphs(const struct fixture *fixture)
{
    const struct graph_entry *entry = LIST_FIRST(&fixture->scheduler->graphs.all);
    unsigned count = 0;
    for (; entry != NULL; entry = LIST_NEXT(entry, in_table)) {
        count++;
    }
    return count;
}

/* Runs the loop until the deletion of unnamed graphs has left only `count` graphs. */
static void run_until_graphs(struct fixture *fixture, unsigned count)
{
    while (count_graphs(fixture) > count) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

static bool is_known(const struct fixture *fixture, const char *id)
{
    return graph_table_find_id(&fixture->scheduler->graphs, id) != NULL;
}

SCHEDULER_TEST(a_name_stays_with_the_last_solved_graph)
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

SCHEDULER_TEST(changed_graphs_are_deleted_when_their_name_moves_to_another_graph)
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

/* Simulates a daemon that is killed after the name has moved but before the graph is deleted. */
SCHEDULER_TEST(graphs_that_lost_their_name_are_deleted_at_startup)
{
    char changed[GRAPH_ID_SIZE];
    char last[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 10, "done", changed);
    struct graph_entry *entry = graph_table_find_id(&fixture->scheduler->graphs, changed);
    entry->active_jobs++;
    change(fixture, "ring", 11, "done", last);
    while (fixture->scheduler->changes > 0) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    assert_true(is_known(fixture, changed)); /* a job still uses the graph */
    entry->active_jobs--;
    restart(fixture);
    run_until_graphs(fixture, 2);
    assert_false(is_known(fixture, changed));
}

SCHEDULER_TEST(a_graph_created_by_changing_a_graph_given_by_id_is_not_deleted)
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

SCHEDULER_TEST(a_changed_graph_is_deleted_when_an_upload_takes_its_name)
{
    char changed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    change(fixture, "ring", 10, "done", changed);
    store_named(fixture, LINE, "ring");
    run_until_graphs(fixture, 2);
    assert_false(is_known(fixture, changed));
}

/* Returns an upload with the name `ring`. A request with wait_s > 0 gets its response when the job
 * ends. */
static struct question *new_named(const char *edges, int priority, double wait_s)
{
    struct question *question = new_upload(CALL_SUBMIT, edges);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "ring");
    question->call.submit.parameters.priority = priority;
    question->call.wait_s = wait_s;
    return question;
}

/* Queues an upload behind the job that occupies the worker. */
static void queue_named(struct fixture *fixture, const char *edges, int priority,
                        struct question **ret_question)
{
    *ret_question = new_named(edges, priority, 0);
    call(fixture, *ret_question, STATUS_OK, 202);
}

SCHEDULER_TEST(a_name_stays_with_its_graph_when_an_upload_fails)
{
    store_named(fixture, RING, "ring");
    struct question *upload = new_named(NEGATIVE_RING, 0, LONG_S);
    call(fixture, upload, STATUS_OK, 200);
    assert_state(upload, "failed");
    assert_distance(fixture, "ring", 0, 2, "3");
    restart(fixture);
    assert_distance(fixture, "ring", 0, 2, "3");
    forget(upload);
}

SCHEDULER_TEST(a_name_refers_to_the_last_accepted_upload)
{
    struct question *first;
    struct question *last;
    char job[JOB_ID_SIZE];
    store_named(fixture, RING, "ring");
    submit_long(fixture, 1, job);
    queue_named(fixture, "p sp 3 2\na 1 2 1\na 2 3 1\n", 0, &first);
    queue_named(fixture, LINE, 9, &last);
    cancel(fixture, job);
    finish_job(fixture, last->call.job_id, "done");
    finish_job(fixture, first->call.job_id, "done");
    assert_distance(fixture, "ring", 0, 2, "11");
    restart(fixture);
    assert_distance(fixture, "ring", 0, 2, "11");
    forget(first);
    forget(last);
}

SCHEDULER_TEST(a_change_by_name_waits_for_an_upload_with_that_name)
{
    struct question *upload;
    char job[JOB_ID_SIZE];
    store_named(fixture, RING, "ring");
    submit_long(fixture, 1, job);
    queue_named(fixture, LINE, 0, &upload);
    struct question *changed = new_change(fixture, "ring", 9);
    cancel(fixture, job);
    call(fixture, changed, STATUS_OK, 200);
    assert_state(changed, "done");
    assert_distance(fixture, "ring", 0, 2, "15");
    forget(upload);
    forget(changed);
}

SCHEDULER_TEST(if_match_and_if_none_match_guard_a_name)
{
    static const struct {
        const char *if_match; /* "": no header; "=": the ETag of the graph that has the name */
        const char *if_none_match;
        bool is_named;
        bool passes;
    } cases[] = {
        {"", "*", false, true},           {"", "*", true, false},          {"=", "", true, true},
        {"\"g_other\"", "", true, false}, {"*", "", true, true},           {"*", "", false, false},
        {"", "=", true, false},           {"", "\"g_other\"", true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char tag[GRAPH_ID_SIZE + 2] = "";
        if (cases[i].is_named) {
            store_named(fixture, RING, "ring");
            snprintf(tag, sizeof(tag), "\"%s\"", owner_of(fixture, "ring")->row.id);
        }
        struct question *upload = new_named(LINE, 0, LONG_S);
        snprintf(upload->call.if_match, IF_MATCH_SIZE, "%s",
                 cases[i].if_match[0] == '=' ? tag : cases[i].if_match);
        snprintf(upload->call.if_none_match, IF_MATCH_SIZE, "%s",
                 cases[i].if_none_match[0] == '=' ? tag : cases[i].if_none_match);
        call(fixture, upload, cases[i].passes ? STATUS_OK : STATUS_PRECONDITION_FAILED,
             cases[i].passes ? 200 : 412);
        if (owner_of(fixture, "ring") != NULL) {
            ask(fixture, CALL_DELETE_GRAPH, "ring", STATUS_OK, 204);
        }
        forget(upload);
    }
}

SCHEDULER_TEST(if_match_fails_while_the_name_is_about_to_move)
{
    struct question *upload;
    char job[JOB_ID_SIZE];
    store_named(fixture, RING, "ring");
    submit_long(fixture, 1, job);
    queue_named(fixture, LINE, 0, &upload);
    struct question *guarded = new_named("p sp 3 2\na 1 2 1\na 2 3 1\n", 0, 0);
    snprintf(guarded->call.if_match, IF_MATCH_SIZE, "\"%s\"", owner_of(fixture, "ring")->row.id);
    call(fixture, guarded, STATUS_PRECONDITION_FAILED, 412);
    assert_non_null(strstr(guarded->call.problem.detail, "about to move"));
    cancel(fixture, job);
    finish_job(fixture, upload->call.job_id, "done");
    forget(upload);
    forget(guarded);
}

/* Changes the graph `ring`; its name moves to the changed graph. Returns the job of the change. */
static struct job *change_ring(struct fixture *fixture, char parent[GRAPH_ID_SIZE])
{
    char changed[GRAPH_ID_SIZE];
    store_named(fixture, RING, "ring");
    memcpy(parent, owner_of(fixture, "ring")->row.id, GRAPH_ID_SIZE);
    change(fixture, "ring", 2, "done", changed);
    return LIST_FIRST(&graph_table_find_id(&fixture->scheduler->graphs, changed)->jobs);
}

/* Runs the loop once, to reach a state that lasts until the request is answered. If the disk was so
 * fast that the request is already answered, the state is over, so the test is skipped. */
static void run_towards(struct fixture *fixture, struct question *question)
{
    uv_run(&fixture->loop, UV_RUN_ONCE);
    if (question->answered) {
        forget(question);
        skip();
    }
}

/* Repeats the last step of a job. Returns whether this step writes the name to the disk. */
static bool end_again(struct fixture *fixture, struct job *job)
{
    struct scheduler *scheduler = fixture->scheduler;
    struct commit *commit;
    names_move(scheduler, job);
    assert_int_equal(commit_create(scheduler, NULL, &commit), STATUS_OK);
    names_add_row(scheduler, job, commit);
    const bool is_named = store_find_op(&commit->change, STORE_PUT_NAME) != NULL;
    commit_send(commit);
    return is_named;
}

SCHEDULER_TEST(no_name_moves_away_from_a_graph_that_is_being_deleted)
{
    char parent[GRAPH_ID_SIZE];
    struct job *job = change_ring(fixture, parent);
    store_named(fixture, RING, "ring");
    struct question *deletion = new_question(CALL_DELETE_GRAPH, parent);
    scheduler_post(fixture->scheduler, &deletion->call);
    const struct graph_entry *entry = graph_table_find_id(&fixture->scheduler->graphs, parent);
    while (entry->state != GRAPH_DELETING) {
        run_towards(fixture, deletion);
    }
    assert_false(end_again(fixture, job));
    wait_for(fixture, deletion);
    forget(deletion);
    restart(fixture);
    assert_null(graph_table_find_id(&fixture->scheduler->graphs, parent));
    assert_null(owner_of(fixture, "ring"));
}

/* The last step of the job comes after the deletion of the parent, as can happen on a full disk. */
SCHEDULER_TEST(a_name_is_stored_even_if_the_parent_is_deleted)
{
    char parent[GRAPH_ID_SIZE];
    struct job *job = change_ring(fixture, parent);
    ask(fixture, CALL_DELETE_GRAPH, parent, STATUS_OK, 204);
    assert_true(end_again(fixture, job));
}
