#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/start_stop.h"
#include "tests/lib/scheduler_fixture.h"

static struct question *post_waiting(struct fixture *fixture, enum call_kind kind,
                                     const char *job_id)
{
    struct question *question = new_question(kind, job_id);
    if (kind == CALL_EVENTS) { /* the wait follows the first piece of the stream */
        fixture->config.heartbeat_s = LONG_S;
        call(fixture, question, STATUS_OK, 200);
        call_finish(&question->call);
        question->answered = false;
    }
    question->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &question->call);
    return question;
}

/* is_held: the client disconnects after the scheduler has begun to hold the call, not before. */
static void assert_leaving_ends(struct fixture *fixture, enum call_kind kind, const char *job_id,
                                bool is_held)
{
    struct question *waiting = post_waiting(fixture, kind, job_id);
    assert_int_equal(scheduler_calls_open(fixture->scheduler), 1);
    if (is_held) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
        assert_false(waiting->answered);
    }
    scheduler_note_left(fixture->scheduler, &waiting->call);
    wait_for(fixture, waiting);
    assert_int_equal(waiting->call.http_status, 200);
    assert_int_equal(scheduler_calls_open(fixture->scheduler), 0);
    forget(waiting);
}

/* The watched job is queued behind another job, so no progress event ends the stream's wait before
 * the client disconnects. */
SCHEDULER_TEST(a_wait_ends_when_its_client_disconnects)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    for (int is_held = 0; is_held < 2; is_held++) {
        assert_leaving_ends(fixture, CALL_JOB, queued, is_held);
        assert_leaving_ends(fixture, CALL_EVENTS, queued, is_held);
    }
    cancel(fixture, queued);
    cancel(fixture, running);
}

SCHEDULER_TEST(a_disconnect_does_not_end_the_waits_of_other_clients)
{
    char job_id[JOB_ID_SIZE];
    struct question *waiting[5];
    submit_long(fixture, 1, job_id);
    for (int i = 0; i < 5; i++) {
        waiting[i] = post_waiting(fixture, CALL_JOB, job_id);
    }
    scheduler_note_left(fixture->scheduler, &waiting[2]->call);
    wait_for(fixture, waiting[2]);
    for (int i = 0; i < 5; i++) {
        assert_true(waiting[i]->answered == (i == 2));
    }
    cancel(fixture, job_id);
    for (int i = 0; i < 5; i++) {
        wait_for(fixture, waiting[i]);
        assert_true(atomic_load(&waiting[i]->call.client_left) == (i == 2));
        forget(waiting[i]);
    }
}

SCHEDULER_TEST(a_disconnect_after_the_response_changes_nothing)
{
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    struct question *waiting = post_waiting(fixture, CALL_JOB, job_id);
    cancel(fixture, job_id);
    wait_for(fixture, waiting);
    waiting->answered = false;
    scheduler_note_left(fixture->scheduler, &waiting->call);
    uv_run(&fixture->loop, UV_RUN_ONCE);
    assert_false(waiting->answered);
    waiting->answered = true;
    forget(waiting);
}

/* The deadline of a job that is still queued passes after the service has drained. */
SCHEDULER_TEST(a_disconnect_after_the_drain_changes_nothing)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    struct question *waiting = post_waiting(fixture, CALL_JOB, queued);
    uv_run(&fixture->loop, UV_RUN_ONCE);
    scheduler_drain(fixture->scheduler, set_drained, fixture);
    scheduler_drain_faster(fixture->scheduler);
    run_until(fixture, &fixture->drained);
    struct job *job;
    TAILQ_FOREACH(job, &fixture->scheduler->jobs.unfinished, in_list)
    {
        job->deadline_at_s = 1e-3;
    }
    scheduler_note_left(fixture->scheduler, &waiting->call);
    uv_run(&fixture->loop, UV_RUN_ONCE);
    assert_int_equal(fixture->scheduler->changes, 0);
    forget(waiting);
}
