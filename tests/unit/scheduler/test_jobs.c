#include "server/scheduler/graphs.h"
#include "server/scheduler/jobs.h"
#include "server/scheduler/tenants.h"
#include "tests/lib/test.h"

static struct job *new_job(void)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    return job;
}

TEST(a_job_is_restored_from_its_row)
{
    struct job *job = new_job();
    job->row.priority = 7;
    job->row.deadline_s = 30;
    job->row.state = JOB_DONE;
    struct job *restored;
    assert_int_equal(job_restore(&job->row, &restored), STATUS_OK);
    assert_string_equal(restored->row.id, job->row.id);
    assert_string_equal(restored->row.graph_id, "g_one");
    assert_int_equal(restored->row.priority, 7);
    assert_true(restored->row.deadline_s == 30 && restored->row.created_s == 1000);
    assert_true(restored->durability == JOB_END_STORED);
    job_destroy(restored);
    job_destroy(job);
}

TEST(an_invalid_report_is_dropped)
{
    struct job *job = new_job();
    struct job *restored = NULL;
    job->row.report = "{";
    assert_int_equal(job_restore(&job->row, &restored), STATUS_OK);
    assert_int_equal(restored->report.result.form, RESULT_FORM_MATRIX);
    job_destroy(restored);
    job_destroy(job);
}

TEST(progress_and_remaining_time_match_the_state)
{
    struct job *job = new_job();
    const double seconds[PHASE_COUNT] = {[PHASE_SOLVING] = 10, [PHASE_WRITING] = 2};
    assert_true(job_progress(job, 60) == 0 && job_eta_s(job, 60) < 0);
    struct task_signal signal = {0};
    job->row.state = JOB_RUNNING;
    job->signal = &signal;
    assert_true(job_progress(job, 60) == 0 && job_eta_s(job, 60) < 0);
    progress_expect(&job->signal->progress, seconds, 60);
    progress_tell(&job->signal->progress, PHASE_SOLVING, 0, 60);
    assert_true(job_eta_s(job, 63) == 9 && job_progress(job, 63) == 0.25);
    job->signal = NULL;
    job->progress = 0.25;
    job->row.state = JOB_FAILED;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 0.25);
    job->row.state = JOB_DONE;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 1);
    job->row.state = JOB_QUEUED;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 0);
    job_destroy(job);
}

static struct tenant nobody;

static int set_up(void **state)
{
    static struct job_table table;
    job_table_init(&table);
    *state = &table;
    return 0;
}

static int tear_down(void **state)
{
    job_table_finish(*state);
    return 0;
}

static struct job *add(struct job_table *table, const char *key)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    memcpy(job->row.idempotency_key, key, strlen(key) + 1);
    job->durability = JOB_ACCEPTED;
    job->tenant = &nobody;
    struct job *added = job;
    assert_int_equal(job_table_add(table, &job), STATUS_OK);
    assert_null(job);
    return added;
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct job_table *table, set_up, tear_down)

FIXTURE_TEST(a_job_is_found_by_its_id_and_its_idempotency_key)
{
    struct job *job = add(table, "order-1");
    struct job *other = add(table, "order-2");
    assert_ptr_equal(job_table_find(table, &nobody, job->row.id), job);
    assert_ptr_equal(job_table_find_key(table, &nobody, "order-2"), other);
    assert_null(job_table_find(table, &nobody, "j_absent"));
    assert_null(job_table_find_key(table, &nobody, "order-3"));
}

FIXTURE_TEST(equal_idempotency_keys_of_two_tenants_are_independent)
{
    struct tenant tenants[2] = {{.number = 1}, {.number = 2}};
    struct job *jobs[2];
    for (int i = 0; i < 2; i++) {
        struct job *job;
        assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
        memcpy(job->row.idempotency_key, "order-1", 8);
        job->tenant = &tenants[i];
        job->durability = JOB_ACCEPTED;
        jobs[i] = job;
        assert_int_equal(job_table_add(table, &job), STATUS_OK);
    }
    assert_ptr_equal(job_table_find_key(table, &tenants[0], "order-1"), jobs[0]);
    assert_ptr_equal(job_table_find_key(table, &tenants[1], "order-1"), jobs[1]);
    assert_null(job_table_find_key(table, &nobody, "order-1"));
    assert_ptr_equal(job_table_find(table, &tenants[0], jobs[0]->row.id), jobs[0]);
    assert_null(job_table_find(table, &tenants[1], jobs[0]->row.id));
    assert_null(job_table_find(table, &nobody, jobs[0]->row.id));
    job_table_remove(table, jobs[0]);
    assert_null(job_table_find_key(table, &tenants[0], "order-1"));
    assert_ptr_equal(job_table_find_key(table, &tenants[1], "order-1"), jobs[1]);
    job_table_remove(table, jobs[1]);
}

FIXTURE_TEST(a_graph_lists_its_jobs_and_the_last_finished_job)
{
    struct graph_entry graph = {0};
    struct job *jobs[2];
    for (int i = 0; i < 2; i++) {
        struct job *job = new_job();
        job->graph = &graph;
        job->tenant = &nobody;
        jobs[i] = job;
        assert_int_equal(job_table_add(table, &job), STATUS_OK);
    }
    assert_ptr_equal(LIST_FIRST(&graph.jobs), jobs[1]);
    assert_ptr_equal(LIST_NEXT(jobs[1], of_graph), jobs[0]);
    for (int i = 0; i < 2; i++) {
        assert_null(graph.solvers[KIND_I4]);
        jobs[i]->row.state = JOB_DONE;
        job_table_end(table, jobs[i]);
        assert_ptr_equal(graph.solvers[KIND_I4], jobs[i]);
        job_table_remove(table, jobs[i]);
    }
    assert_true(LIST_EMPTY(&graph.jobs));
    assert_null(graph.solvers[KIND_I4]);
}

FIXTURE_TEST(jobs_without_an_idempotency_key_are_not_found_by_an_empty_key)
{
    struct job *first = add(table, "");
    struct job *second = add(table, "");
    assert_ptr_equal(TAILQ_NEXT(first, in_list), second);
    assert_null(job_table_find_key(table, &nobody, ""));
}

FIXTURE_TEST(a_job_not_yet_accepted_is_found_only_by_its_idempotency_key)
{
    struct job *job = add(table, "order-1");
    job->durability = JOB_ACCEPTING;
    assert_null(job_table_find(table, &nobody, job->row.id));
    assert_ptr_equal(job_table_find_key(table, &nobody, "order-1"), job);
}

FIXTURE_TEST(a_removed_job_is_not_found)
{
    struct job *job = add(table, "order-1");
    char id[JOB_ID_SIZE];
    memcpy(id, job->row.id, sizeof(id));
    job_table_remove(table, job);
    assert_null(job_table_find(table, &nobody, id));
    assert_null(job_table_find_key(table, &nobody, "order-1"));
    assert_true(TAILQ_EMPTY(&table->unfinished));
}

FIXTURE_TEST(the_order_of_creation_survives_removals)
{
    struct job *first = add(table, "");
    struct job *second = add(table, "");
    struct job *third = add(table, "");
    job_table_remove(table, second);
    assert_ptr_equal(TAILQ_FIRST(&table->unfinished), first);
    assert_ptr_equal(TAILQ_NEXT(first, in_list), third);
    job_table_remove(table, third);
    assert_ptr_equal(TAILQ_LAST(&table->unfinished, job_list), first);
}

FIXTURE_TEST(an_overlong_id_is_not_found)
{
    char id[400];
    memset(id, 'j', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    assert_null(job_table_find(table, &nobody, id));
    assert_null(job_table_find_key(table, &nobody, id));
}
