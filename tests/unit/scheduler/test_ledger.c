#include "server/scheduler/ledger.h"
#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_full_queue_refuses_a_job_and_says_when_to_retry)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    fixture->config.queue_limit = 1;
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    assert_int_equal(atomic_load(&scheduler_admission(fixture->scheduler)->queue_free), 0);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    call(fixture, question, STATUS_QUEUE_FULL, 429);
    assert_true(question->call.retry_after_s > 0);
    forget(question);
    cancel(fixture, running);
    cancel(fixture, queued);
    finish_job(fixture, queued, "cancelled");
    assert_int_equal(atomic_load(&scheduler_admission(fixture->scheduler)->queue_free), 1);
}

TEST(refusals_for_lack_of_space_have_a_retry_time)
{
    assert_int_equal(ledger_retry_after_s(STATUS_UPLOAD_MEMORY), 2);
    assert_int_equal(ledger_retry_after_s(STATUS_DISK_FULL), 60);
    assert_int_equal(ledger_retry_after_s(STATUS_BAD_GRAPH), 0);
}
