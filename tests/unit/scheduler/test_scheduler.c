#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/start_stop.h"
#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_submitted_graph_is_solved)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    assert_job_state(fixture, job_id, "done");
    assert_distance(fixture, job_id, 0, 2, "3");
    assert_distance(fixture, graph_id, 2, 1, "5");
}

SCHEDULER_TEST(an_upload_without_a_wait_gets_202_before_its_job_ends)
{
    struct question *question = new_upload(CALL_SUBMIT, RING);
    call(fixture, question, STATUS_OK, 202);
    assert_true(question->call.retry_after_s > 0);
    finish_job(fixture, question->call.job_id, "done");
    forget(question);
}

SCHEDULER_TEST(a_drain_answers_waiting_requests_and_refuses_new_jobs)
{
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    struct question *waiting = new_question(CALL_JOB, job_id);
    waiting->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &waiting->call);
    assert_job_state(fixture, job_id, "running");
    scheduler_drain(fixture->scheduler, set_drained, fixture);
    wait_for(fixture, waiting);
    assert_state(waiting, "running");
    forget(waiting);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    call_and_forget(fixture, question, STATUS_DRAINING, 503);
    scheduler_drain_faster(fixture->scheduler);
    run_until(fixture, &fixture->drained);
    assert_job_state(fixture, job_id, "queued");
    question = new_upload(CALL_STORE_GRAPH, RING);
    call_and_forget(fixture, question, STATUS_DRAINING, 503);
}
