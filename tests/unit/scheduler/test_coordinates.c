#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

#include <inttypes.h>

static struct question *new_put(const char *graph_id, const char *lines)
{
    struct question *question = new_question(CALL_PUT_COORDINATES, graph_id);

    text_append_string(&question->call.coordinates.document, lines);
    return question;
}

static void put(struct fixture *fixture, const char *graph_id, const char *lines,
                unsigned http_status)
{
    struct question *question = new_put(graph_id, lines);

    call_and_forget(fixture, question, STATUS_OK, http_status);
}

static uint64_t tag_of(const struct fixture *fixture, const char *graph_id)
{
    return graph_table_find_id(&fixture->scheduler->graphs, graph_id)->coordinates.tag;
}

SCHEDULER_TEST(coordinates_count_as_stored_bytes_and_survive_a_restart)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];

    solve(fixture, RING, job_id, graph_id);
    struct tenant *nobody = fixture->scheduler->nobody;
    const uint64_t before = nobody->stored_bytes;
    put(fixture, job_id, "vertex,x,y\n1,2,3\n", 201);
    const uint64_t bytes = nobody->stored_bytes - before;
    assert_true(bytes > 3 * 16);
    put(fixture, graph_id, "vertex,x,y\n1,2,4\n", 200);
    assert_int_equal(nobody->stored_bytes - before, bytes);
    const uint64_t tag = tag_of(fixture, graph_id);
    restart(fixture);
    assert_true(tag_of(fixture, graph_id) == tag);
    ask(fixture, CALL_DELETE_COORDINATES, graph_id, STATUS_OK, 204);
    assert_int_equal(tag_of(fixture, graph_id), 0);
    ask(fixture, CALL_DELETE_COORDINATES, graph_id, STATUS_NO_COORDINATES, 409);
}

SCHEDULER_TEST(coordinates_are_shown_once_they_can_be_read)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    bool was_sent = false;

    solve(fixture, RING, job_id, graph_id);
    struct graph_entry *entry = graph_table_find_id(&fixture->scheduler->graphs, graph_id);
    struct question *question = new_put(graph_id, "vertex,x,y\n1,2,3\n");
    scheduler_post(fixture->scheduler, &question->call);
    while (!question->answered) {
        assert_int_equal(entry->stored_coordinates.located, 0);
        uv_run(&fixture->loop, UV_RUN_ONCE);
        was_sent |= !question->answered && entry->coordinates.located > 0;
    }
    assert_true(was_sent);
    assert_int_equal(entry->stored_coordinates.located, 1);
    forget(question);
}

SCHEDULER_TEST(two_changes_with_the_same_if_match_are_not_both_accepted)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct question *questions[2];
    unsigned refused = 0;

    solve(fixture, RING, job_id, graph_id);
    put(fixture, graph_id, "vertex,x,y\n1,2,3\n", 201);
    for (int i = 0; i < 2; i++) {
        questions[i] = new_put(graph_id, i == 0 ? "vertex,x,y\n1,5,3\n" : "vertex,x,y\n1,6,3\n");
        snprintf(questions[i]->call.if_match, sizeof(questions[i]->call.if_match),
                 "\"%016" PRIx64 "-csv\"", tag_of(fixture, graph_id));
        scheduler_post(fixture->scheduler, &questions[i]->call);
    }
    for (int i = 0; i < 2; i++) {
        wait_for(fixture, questions[i]);
        refused += questions[i]->call.status == STATUS_PRECONDITION_FAILED;
        assert_true(questions[i]->call.status == STATUS_OK ||
                    questions[i]->call.status == STATUS_PRECONDITION_FAILED);
        forget(questions[i]);
    }
    assert_int_equal(refused, 1);
}

SCHEDULER_TEST(coordinates_are_deleted_with_their_graph)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];

    solve(fixture, RING, job_id, graph_id);
    struct question *question = new_put(graph_id, "vertex,x,y\n1,2,3\n");
    struct question *deletion = new_question(CALL_DELETE_GRAPH, graph_id);
    scheduler_post(fixture->scheduler, &question->call);
    scheduler_post(fixture->scheduler, &deletion->call);
    wait_for(fixture, question);
    wait_for(fixture, deletion);
    assert_int_equal(deletion->call.status, STATUS_OK);
    assert_true(question->call.status == STATUS_OK ||
                question->call.status == STATUS_NO_SUCH_GRAPH);
    forget(question);
    forget(deletion);
    solve(fixture, RING, job_id, graph_id);
    assert_int_equal(tag_of(fixture, graph_id), 0);
}

SCHEDULER_TEST(a_third_concurrent_change_of_coordinates_is_refused)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct question *questions[3];
    unsigned refused = 0;

    solve(fixture, RING, job_id, graph_id);
    for (int i = 0; i < 3; i++) {
        questions[i] = new_put(graph_id, "vertex,x,y\n1,2,3\n");
        scheduler_post(fixture->scheduler, &questions[i]->call);
    }
    for (int i = 0; i < 3; i++) {
        wait_for(fixture, questions[i]);
        refused += questions[i]->call.status == STATUS_QUEUE_FULL;
        forget(questions[i]);
    }
    assert_int_equal(refused, 1);
    put(fixture, graph_id, "vertex,x,y\n1,2,4\n", 200);
}
