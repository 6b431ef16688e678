#include "server/scheduler/start_stop.h"
#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_result_lost_from_disk_is_recomputed_by_the_same_job)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    char path[768];
    solve(fixture, RING, job_id, graph_id);
    stop(fixture);
    snprintf(path, sizeof(path), "%s/results/%s.i4.result", fixture->folder, graph_id);
    assert_int_equal(remove(path), 0);
    start(fixture);
    finish_job(fixture, job_id, "done");
    assert_distance(fixture, job_id, 0, 2, "3");
}

SCHEDULER_TEST(a_lost_result_shared_by_two_jobs_is_recomputed_by_the_later_job)
{
    char first[JOB_ID_SIZE];
    char second[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    char path[768];
    solve(fixture, RING, first, graph_id);
    solve(fixture, RING, second, graph_id);
    stop(fixture);
    snprintf(path, sizeof(path), "%s/results/%s.i4.result", fixture->folder, graph_id);
    assert_int_equal(remove(path), 0);
    start(fixture);
    assert_job_state(fixture, first, "done");
    finish_job(fixture, second, "done");
    ask(fixture, CALL_RESULT, first, STATUS_OK, 200);
    assert_distance(fixture, first, 0, 2, "3");
}

SCHEDULER_TEST(a_done_job_stays_done_when_its_graph_is_deleted_and_uploaded_again)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    ask(fixture, CALL_DELETE_GRAPH, graph_id, STATUS_OK, 204);
    struct question *question = new_upload(CALL_STORE_GRAPH, RING);
    call_and_forget(fixture, question, STATUS_OK, 201);
    restart(fixture);
    assert_job_state(fixture, job_id, "done");
}
