#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

static void queue_ring(struct fixture *fixture, unsigned n, unsigned weight, int priority,
                       char job_id[JOB_ID_SIZE])
{
    char *edges = ring_of(n, weight);
    struct question *question = new_upload(CALL_SUBMIT, edges);
    question->call.submit.parameters.priority = priority;
    call(fixture, question, STATUS_OK, 202);
    memcpy(job_id, question->call.job_id, JOB_ID_SIZE);
    forget(question);
    free(edges);
}

static json_int_t position_of(struct fixture *fixture, const char *job_id)
{
    json_t *body = document(fixture, CALL_JOB, job_id);
    json_int_t position = json_integer_value(json_object_get(body, "position"));
    json_decref(body);
    return position;
}

static double eta_of(struct fixture *fixture, const char *job_id)
{
    json_t *body = document(fixture, CALL_JOB, job_id);
    const json_t *eta = json_object_get(body, "eta_s");
    double seconds = json_is_number(eta) ? json_number_value(eta) : -1;
    json_decref(body);
    return seconds;
}

SCHEDULER_TEST(a_queued_job_waits_for_the_running_job)
{
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 2, 0, queued);
    assert_true(eta_of(fixture, queued) >= 0);
    cancel(fixture, running);
    finish_job(fixture, queued, "done");
    assert_true(eta_of(fixture, queued) < 0);
}

/* The worker's time limit depends on the number of edges, so the task contains this number even if
 * the graph is only in a file. */
SCHEDULER_TEST(a_task_has_the_edge_count_of_its_graph)
{
    char running[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    const struct scheduler_worker *slot = &fixture->scheduler->workers[0];
    assert_non_null(slot->job);
    const struct graph_entry *entry =
        graph_table_find_id(&fixture->scheduler->graphs, slot->task.graph_id);
    assert_non_null(entry);
    assert_true(entry->row.edge_count > 0);
    assert_int_equal(slot->task.edge_count, entry->row.edge_count);
    assert_int_equal(slot->task.negative, entry->row.summary.negative);
    cancel(fixture, running);
}

SCHEDULER_TEST(a_job_with_higher_priority_starts_first)
{
    char running[JOB_ID_SIZE];
    char low[JOB_ID_SIZE];
    char high[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 2, 0, low);
    queue_ring(fixture, 5, 3, 9, high);
    assert_int_equal(position_of(fixture, high), 0);
    assert_int_equal(position_of(fixture, low), 1);
    cancel(fixture, running);
    finish_job(fixture, low, "done");
    assert_job_state(fixture, high, "done");
}

/* The second job must report exactly the timings of the first solve, because a second solve would
 * have different timings. */
SCHEDULER_TEST(an_equal_job_ends_without_a_second_solve)
{
    char running[JOB_ID_SIZE];
    char first[JOB_ID_SIZE];
    char second[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_ring(fixture, 1000, 1, first);
    submit_ring(fixture, 1000, 1, second);
    cancel(fixture, running);
    finish_job(fixture, second, "done");
    assert_job_state(fixture, first, "done");
    json_t *solved = document(fixture, CALL_JOB, first);
    json_t *known = document(fixture, CALL_JOB, second);
    assert_true(json_equal(json_object_get(solved, "timings"), json_object_get(known, "timings")));
    assert_true(json_is_true(json_object_get(json_object_get(known, "input"), "cached")));
    assert_false(json_is_true(json_object_get(json_object_get(solved, "input"), "cached")));
    json_decref(solved);
    json_decref(known);
}
