#include "tests/unit/desk_fixture.h"

/* Of a stream that the client has seen up to this id; NULL = it comes anew. */
static struct question *new_stream(struct fixture *fixture, const char *job_id, const char *seen)
{
    struct question *question = new_question(ASK_EVENTS, job_id);
    fixture->config.heartbeat_s = LONG_S;
    if (seen != NULL) {
        snprintf(question->ask.place.seen, EVENT_ID_SIZE, "%s", seen);
    }
    return question;
}

/* The next piece of the same stream. */
static void post_again(struct fixture *fixture, struct question *question)
{
    ask_finish(&question->ask);
    question->answered = false;
    desk_post(fixture->desk, &question->ask);
}

static void assert_has(const struct question *question, const char *words)
{
    assert_non_null(question->ask.body);
    if (strstr(question->ask.body, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", words, question->ask.body);
    }
}

static void a_stream_tells_the_state_and_then_each_change(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_stream(fixture, queued, NULL);
    ask(fixture, question, STATUS_OK, 200);
    assert_int_equal(strncmp(question->ask.body, "retry: ", 7), 0);
    assert_has(question, "\n\nid: queued-");
    assert_has(question, "\nevent: state\ndata: {\"id\":");
    assert_false(question->ask.place.ended);
    post_again(fixture, question);
    cancel(fixture, running);
    wait_for(fixture, question);
    assert_int_equal(strncmp(question->ask.body, "id: running-", 12), 0);
    post_again(fixture, question);
    cancel(fixture, queued);
    do {
        wait_for(fixture, question);
    } while (!question->ask.place.ended && (post_again(fixture, question), true));
    assert_int_equal(strncmp(question->ask.body, "id: cancelled-", 14), 0);
    forget(question);
}

/* Nearer to its turn: of three jobs the watched one is the last. */
static void a_move_within_a_state_is_told_as_progress(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char next[JOB_ID_SIZE];
    char last[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, next);
    submit_long(fixture, 3, last);
    struct question *question = new_stream(fixture, last, NULL);
    ask(fixture, question, STATUS_OK, 200);
    assert_int_equal(question->ask.place.position, 1);
    post_again(fixture, question);
    cancel(fixture, next);
    wait_for(fixture, question);
    assert_has(question, "event: progress\ndata: {\"id\":\"");
    assert_has(question, "\"state\":\"queued\",\"position\":0,\"progress\":0.0000,");
    assert_null(strstr(question->ask.body, "id: "));
    forget(question);
    cancel(fixture, last);
    cancel(fixture, running);
}

static void an_end_that_was_missed_is_told_and_one_that_is_known_is_not(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    struct question *missed = new_stream(fixture, job_id, "queued-1");
    ask(fixture, missed, STATUS_OK, 200);
    assert_has(missed, "\"state\":\"done\"");
    assert_true(missed->ask.place.ended);
    struct question *known = new_stream(fixture, job_id, missed->ask.place.seen);
    ask(fixture, known, STATUS_OK, 204);
    assert_null(known->ask.body);
    struct question *late = new_stream(fixture, job_id, NULL);
    ask(fixture, late, STATUS_OK, 204);
    restart(fixture);
    struct question *after = new_stream(fixture, job_id, missed->ask.place.seen);
    ask(fixture, after, STATUS_OK, 204);
    forget(missed);
    forget(known);
    forget(late);
    forget(after);
}

static void a_silent_stream_has_a_heartbeat(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_stream(fixture, queued, NULL);
    fixture->config.heartbeat_s = 0;
    ask(fixture, question, STATUS_OK, 200);
    post_again(fixture, question);
    wait_for(fixture, question);
    assert_int_equal(question->ask.body[0], ':');
    forget(question);
    cancel(fixture, queued);
    cancel(fixture, running);
}

static void a_drain_ends_streams_with_the_state(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    fixture->config.drain_s = 0;
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *question = new_stream(fixture, queued, NULL);
    ask(fixture, question, STATUS_OK, 200);
    post_again(fixture, question);
    desk_drain(fixture->desk, set_drained, fixture);
    wait_for(fixture, question);
    run_until(fixture, &fixture->drained);
    assert_true(question->ask.place.ended);
    assert_has(question, "\"state\":\"queued\"");
    forget(question);
}

static void an_unknown_job_has_no_events(void **state)
{
    struct fixture *fixture = *state;
    struct question *question = new_stream(fixture, "j_none", NULL);
    ask(fixture, question, STATUS_NO_SUCH_JOB, 404);
    forget(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_stream_tells_the_state_and_then_each_change),
        DESK_TEST(a_move_within_a_state_is_told_as_progress),
        DESK_TEST(an_end_that_was_missed_is_told_and_one_that_is_known_is_not),
        DESK_TEST(a_silent_stream_has_a_heartbeat),
        DESK_TEST(a_drain_ends_streams_with_the_state),
        DESK_TEST(an_unknown_job_has_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
