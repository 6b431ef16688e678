#include "server/job/desk_internal.h"
#include "tests/unit/desk_fixture.h"

static void queue_ring(struct fixture *fixture, unsigned n, unsigned weight, int priority,
                       char job_id[JOB_ID_SIZE])
{
    char *edges = ring_of(n, weight);
    struct question *question = new_upload(ASK_SUBMIT, edges);
    question->ask.parameters.priority = priority;
    ask(fixture, question, STATUS_OK, 202);
    memcpy(job_id, question->ask.job_id, JOB_ID_SIZE);
    forget(question);
    free(edges);
}

static json_int_t position_of(struct fixture *fixture, const char *job_id)
{
    struct question *question = new_question(ASK_JOB, job_id);
    ask(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_int_t position = json_integer_value(json_object_get(body, "position"));
    json_decref(body);
    forget(question);
    return position;
}

static double eta_of(struct fixture *fixture, const char *job_id)
{
    struct question *question = new_question(ASK_JOB, job_id);
    ask(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    const json_t *eta = json_object_get(body, "eta_s");
    double seconds = json_is_number(eta) ? json_number_value(eta) : -1;
    json_decref(body);
    forget(question);
    return seconds;
}

static void a_queued_job_waits_for_the_one_that_runs(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 2, 0, queued);
    assert_true(eta_of(fixture, queued) >= 0);
    cancel(fixture, running);
    finish_job(fixture, queued, "done");
    assert_true(eta_of(fixture, queued) < 0);
}

/* Also where its graph is in a file alone: the time that it may take is judged by that. */
static void a_work_says_how_many_edges_its_graph_has(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    const struct desk_worker *seat = fixture->desk->workers[0];
    assert_int_equal(seat->load.count, 1);
    const struct graph_entry *entry =
        graph_table_find_id(fixture->desk->graphs, seat->works[0].graph_id);
    assert_non_null(entry);
    assert_true(entry->row.edge_count > 0);
    assert_int_equal(seat->works[0].edge_count, entry->row.edge_count);
    assert_int_equal(seat->works[0].negative, entry->row.summary.negative);
    cancel(fixture, running);
}

static void a_higher_priority_goes_first(void **state)
{
    struct fixture *fixture = *state;
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

/* The second would take as long if it were solved again: it has no device time at all. */
static void an_equal_job_ends_without_a_second_solve(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char first[JOB_ID_SIZE];
    char second[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_ring(fixture, 1000, 1, first);
    submit_ring(fixture, 1000, 1, second);
    cancel(fixture, running);
    finish_job(fixture, second, "done");
    assert_job_state(fixture, first, "done");
    struct question *question = new_question(ASK_JOB, second);
    ask(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_t *timings = json_object_get(body, "timings");
    assert_true(json_number_value(json_object_get(timings, "compute_s")) == 0);
    json_decref(body);
    forget(question);
}

/* ---- What goes together ---- */

/* More vertices than the CPU solver takes in a batch, but soon solved. */
#define LARGE_VERTICES 520
/* As many, one after the other, that a cancel comes before the last. */
#define SLOW_VERTICES 512
#define SLOW_JOBS 8

/* The loads that the one worker was given from the first on. */
static uint64_t loads(const struct fixture *fixture)
{
    return fixture->desk->batch_number;
}

static double started_at(struct fixture *fixture, const char *job_id)
{
    const struct job *job = job_table_find(fixture->desk->jobs, NULL, job_id);
    assert_non_null(job);
    return job->started_s;
}

static void small_jobs_that_wait_go_together(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char small[5][JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    for (unsigned i = 0; i < 5; i++) {
        queue_ring(fixture, 5 + i, 1, 0, small[i]);
    }
    cancel(fixture, running);
    for (unsigned i = 0; i < 5; i++) {
        finish_job(fixture, small[i], "done");
        assert_distance(fixture, small[i], 0, 4, "4");
    }
    assert_int_equal(loads(fixture), 2);
}

static void small_jobs_do_not_overtake_a_large_one(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char before[2][JOB_ID_SIZE];
    char large[JOB_ID_SIZE];
    char after[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 1, 0, before[0]);
    queue_ring(fixture, 6, 1, 0, before[1]);
    queue_ring(fixture, LARGE_VERTICES, 1, 0, large);
    queue_ring(fixture, 7, 1, 0, after);
    cancel(fixture, running);
    finish_job(fixture, after, "done");
    assert_int_equal(loads(fixture), 4);
    assert_true(started_at(fixture, before[0]) <= started_at(fixture, before[1]));
    assert_true(started_at(fixture, before[1]) <= started_at(fixture, large));
    assert_true(started_at(fixture, large) < started_at(fixture, after));
}

static void a_large_job_of_lower_priority_is_overtaken_by_all_small_ones(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char large[JOB_ID_SIZE];
    char low[JOB_ID_SIZE];
    char high[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, LARGE_VERTICES, 1, 1, large);
    queue_ring(fixture, 5, 1, 0, low);
    queue_ring(fixture, 6, 1, 9, high);
    cancel(fixture, running);
    finish_job(fixture, low, "done");
    /* The urgent one, the large one, the one that has time. */
    assert_int_equal(loads(fixture), 4);
    assert_true(started_at(fixture, high) <= started_at(fixture, large));
    assert_true(started_at(fixture, large) <= started_at(fixture, low));
}

static void an_equal_small_job_waits_for_the_first(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char first[JOB_ID_SIZE];
    char equal[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 1, 0, first);
    queue_ring(fixture, 5, 1, 0, equal);
    cancel(fixture, running);
    finish_job(fixture, equal, "done");
    const struct job *job = job_table_find(fixture->desk->jobs, NULL, equal);
    assert_true(job->report.timings.compute_s == 0);
    assert_job_state(fixture, first, "done");
}

static void a_negative_cycle_among_small_jobs_is_its_own_failure(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char good[2][JOB_ID_SIZE];
    char bad[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    queue_ring(fixture, 5, 1, 0, good[0]);
    struct question *question = new_upload(ASK_SUBMIT, NEGATIVE_RING);
    ask(fixture, question, STATUS_OK, 202);
    memcpy(bad, question->ask.job_id, JOB_ID_SIZE);
    forget(question);
    queue_ring(fixture, 6, 1, 0, good[1]);
    cancel(fixture, running);
    finish_job(fixture, bad, "failed");
    finish_job(fixture, good[0], "done");
    finish_job(fixture, good[1], "done");
    assert_int_equal(loads(fixture), 2);
    const struct job *job = job_table_find(fixture->desk->jobs, NULL, bad);
    assert_int_equal(job->report.problem.status, STATUS_NEGATIVE_CYCLE);
    assert_non_null(job->report.cycle);
}

static void one_of_many_running_is_cancelled_alone(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char slow[SLOW_JOBS][JOB_ID_SIZE];
    char *last = slow[SLOW_JOBS - 1];
    submit_long(fixture, 1, running);
    for (unsigned i = 0; i < SLOW_JOBS; i++) {
        queue_ring(fixture, SLOW_VERTICES, 2 + i, 0, slow[i]);
    }
    cancel(fixture, running);
    finish_job(fixture, running, "cancelled");
    while (fixture->desk->batch_number < 2) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    assert_job_state(fixture, last, "running");
    cancel(fixture, last);
    finish_job(fixture, last, "cancelled");
    for (unsigned i = 0; i + 1 < SLOW_JOBS; i++) {
        finish_job(fixture, slow[i], "done");
    }
    assert_int_equal(loads(fixture), 2);
}

static void small_jobs_under_way_are_put_back_by_a_drain(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char slow[3][JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    for (unsigned i = 0; i < 3; i++) {
        queue_ring(fixture, SLOW_VERTICES, 2 + i, 0, slow[i]);
    }
    cancel(fixture, running);
    finish_job(fixture, running, "cancelled");
    desk_drain(fixture->desk, set_drained, fixture);
    desk_drain_faster(fixture->desk);
    run_until(fixture, &fixture->drained);
    restart(fixture);
    for (unsigned i = 0; i < 3; i++) {
        finish_job(fixture, slow[i], "done");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_queued_job_waits_for_the_one_that_runs),
        DESK_TEST(a_work_says_how_many_edges_its_graph_has),
        DESK_TEST(a_higher_priority_goes_first),
        DESK_TEST(an_equal_job_ends_without_a_second_solve),
        DESK_TEST(small_jobs_that_wait_go_together),
        DESK_TEST(small_jobs_do_not_overtake_a_large_one),
        DESK_TEST(a_large_job_of_lower_priority_is_overtaken_by_all_small_ones),
        DESK_TEST(an_equal_small_job_waits_for_the_first),
        DESK_TEST(a_negative_cycle_among_small_jobs_is_its_own_failure),
        DESK_TEST(one_of_many_running_is_cancelled_alone),
        DESK_TEST(small_jobs_under_way_are_put_back_by_a_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
