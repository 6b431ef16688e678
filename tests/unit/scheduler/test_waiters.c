#include "server/scheduler/start_stop.h"
#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_wait_for_a_change_ends_with_the_change)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_question(CALL_JOB, queued);
    question->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &question->call);
    cancel(fixture, running);
    wait_for(fixture, question);
    assert_state(question, "running");
    forget(question);
    cancel(fixture, queued);
}

/* Returns a request for an event stream. `seen` is the last event that the client has seen; NULL:
 * no event. */
static struct question *new_stream(struct fixture *fixture, const char *job_id, const char *seen)
{
    struct question *question = new_question(CALL_EVENTS, job_id);
    fixture->config.heartbeat_s = LONG_S;
    if (seen != NULL) {
        snprintf(question->call.place.seen, EVENT_ID_SIZE, "%s", seen);
    }
    return question;
}

static void post_again(struct fixture *fixture, struct question *question)
{
    call_finish(&question->call);
    question->answered = false;
    scheduler_post(fixture->scheduler, &question->call);
}

static void assert_has(const struct question *question, const char *words)
{
    assert_non_null(question->call.body);
    if (strstr(question->call.body, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, question->call.body);
    }
}

SCHEDULER_TEST(a_stream_sends_the_state_and_then_each_change)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_stream(fixture, queued, NULL);
    call(fixture, question, STATUS_OK, 200);
    assert_int_equal(strncmp(question->call.body, "retry: ", 7), 0);
    assert_has(question, "\n\nid: queued-");
    assert_has(question, "\nevent: state\ndata: {\"id\":");
    assert_false(question->call.place.ended);
    post_again(fixture, question);
    cancel(fixture, running);
    wait_for(fixture, question);
    assert_int_equal(strncmp(question->call.body, "id: running-", 12), 0);
    post_again(fixture, question);
    cancel(fixture, queued);
    do {
        wait_for(fixture, question);
    } while (!question->call.place.ended && (post_again(fixture, question), true));
    assert_int_equal(strncmp(question->call.body, "id: cancelled-", 14), 0);
    forget(question);
}

/* The client watches the last of three jobs, which moves forward in the queue. */
SCHEDULER_TEST(a_move_in_the_queue_is_sent_as_a_progress_event)
{
    char running[JOB_ID_SIZE];
    char next[JOB_ID_SIZE];
    char last[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, next);
    submit_long(fixture, 3, last);
    struct question *question = new_stream(fixture, last, NULL);
    call(fixture, question, STATUS_OK, 200);
    assert_int_equal(question->call.place.position, 1);
    post_again(fixture, question);
    cancel(fixture, next);
    wait_for(fixture, question);
    assert_has(question, "event: progress\ndata: {\"id\":\"");
    assert_has(question, "\"state\":\"queued\",\"position\":0,\"progress\":0,");
    assert_null(strstr(question->call.body, "id: "));
    forget(question);
    cancel(fixture, last);
    cancel(fixture, running);
}

SCHEDULER_TEST(the_final_state_is_sent_only_to_streams_that_missed_it)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    struct question *missed = new_stream(fixture, job_id, "queued-1");
    call(fixture, missed, STATUS_OK, 200);
    assert_has(missed, "\"state\":\"done\"");
    assert_true(missed->call.place.ended);
    struct question *known = new_stream(fixture, job_id, missed->call.place.seen);
    call(fixture, known, STATUS_OK, 204);
    assert_null(known->call.body);
    struct question *late = new_stream(fixture, job_id, NULL);
    call(fixture, late, STATUS_OK, 204);
    restart(fixture);
    struct question *after = new_stream(fixture, job_id, missed->call.place.seen);
    call(fixture, after, STATUS_OK, 204);
    forget(missed);
    forget(known);
    forget(late);
    forget(after);
}
