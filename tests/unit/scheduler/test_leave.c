#include "tests/lib/scheduler_fixture.h"

/* A request whose client disconnects. It exists until the scheduler has noticed the disconnect. */
struct waiting {
    struct question question;
    bool noted;
};

static void set_noted(struct call *call)
{
    struct waiting *waiting = (struct waiting *)(void *)call;
    waiting->noted = true;
}

static void post_waiting(struct fixture *fixture, enum call_kind kind, const char *job_id,
                         struct waiting *ret_waiting)
{
    struct question *question = new_question(kind, job_id);
    if (kind == CALL_EVENTS) { /* the wait follows the first piece of the stream */
        fixture->config.heartbeat_s = LONG_S;
        call(fixture, question, STATUS_OK, 200);
        call_finish(&question->call);
        question->answered = false;
    }
    *ret_waiting = (struct waiting){.question = *question};
    free(question);
    struct call *waits = &ret_waiting->question.call;
    waits->context = &ret_waiting->question.answered;
    waits->left_noted = set_noted;
    waits->wait_s = LONG_S;
    scheduler_post(fixture->scheduler, waits);
}

static void assert_leaving_ends(struct fixture *fixture, enum call_kind kind, const char *job_id)
{
    struct waiting waiting;
    post_waiting(fixture, kind, job_id, &waiting);
    assert_int_equal(scheduler_calls_open(fixture->scheduler), 1);
    scheduler_post_left(fixture->scheduler, &waiting.question.call);
    run_until(fixture, &waiting.noted);
    assert_true(waiting.question.answered && waiting.question.call.client_left);
    assert_int_equal(waiting.question.call.http_status, 200);
    assert_int_equal(scheduler_calls_open(fixture->scheduler), 0);
    call_finish(&waiting.question.call);
}

/* The watched job is queued behind another job, so no progress event ends the stream's wait before
 * the client disconnects. */
SCHEDULER_TEST(a_wait_ends_when_its_client_disconnects)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    assert_leaving_ends(fixture, CALL_JOB, queued);
    assert_leaving_ends(fixture, CALL_EVENTS, queued);
    cancel(fixture, queued);
    cancel(fixture, running);
}

SCHEDULER_TEST(a_disconnect_does_not_end_the_waits_of_other_clients)
{
    char job_id[JOB_ID_SIZE];
    struct waiting waiting[5];
    submit_long(fixture, 1, job_id);
    for (int i = 0; i < 5; i++) {
        post_waiting(fixture, CALL_JOB, job_id, &waiting[i]);
    }
    scheduler_post_left(fixture->scheduler, &waiting[2].question.call);
    run_until(fixture, &waiting[2].noted);
    for (int i = 0; i < 5; i++) {
        assert_true(waiting[i].question.answered == (i == 2));
    }
    cancel(fixture, job_id);
    for (int i = 0; i < 5; i++) {
        wait_for(fixture, &waiting[i].question);
        assert_true(waiting[i].question.call.client_left == (i == 2));
        call_finish(&waiting[i].question.call);
    }
}

SCHEDULER_TEST(a_disconnect_after_the_response_changes_nothing)
{
    char job_id[JOB_ID_SIZE];
    struct waiting waiting;
    submit_long(fixture, 1, job_id);
    post_waiting(fixture, CALL_JOB, job_id, &waiting);
    cancel(fixture, job_id);
    wait_for(fixture, &waiting.question);
    waiting.question.answered = false;
    scheduler_post_left(fixture->scheduler, &waiting.question.call);
    run_until(fixture, &waiting.noted);
    assert_false(waiting.question.answered);
    call_finish(&waiting.question.call);
}
