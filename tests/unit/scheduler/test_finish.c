#include "server/scheduler/finish.h"
#include "server/scheduler/requests.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/start_stop.h"
#include "tests/lib/scheduler_fixture.h"
#include "tests/lib/steps_fixture.h"

#include <signal.h>
#include <sys/resource.h>

SCHEDULER_TEST(a_deadline_fails_a_job_that_is_queued_or_running)
{
    char running[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    question->call.submit.parameters.deadline_s = 0.001;
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_t *problem = json_object_get(body, "problem");
    assert_string_equal(json_string_value(json_object_get(problem, "code")), "DeadlineExceeded");
    json_decref(body);
    forget(question);
    cancel(fixture, running);
}

SCHEDULER_TEST(a_deadline_survives_a_restart)
{
    char running[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    question->call.submit.parameters.deadline_s = 0.5;
    call(fixture, question, STATUS_OK, 202);
    scheduler_drain(fixture->scheduler, set_drained, fixture);
    scheduler_drain_faster(fixture->scheduler);
    run_until(fixture, &fixture->drained);
    restart(fixture);
    finish_job(fixture, question->call.job_id, "failed");
    forget(question);
    cancel(fixture, running);
}

/* A limit on file sizes simulates a disk that has become full since the job was accepted. */
SCHEDULER_TEST(a_job_without_disk_space_for_its_result_fails)
{
    struct rlimit before;
    char job_id[JOB_ID_SIZE];
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 1000000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    submit_ring(fixture, 600, 1, job_id);
    finish_job(fixture, job_id, "failed");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    json_t *body = document(fixture, CALL_JOB, job_id);
    json_t *problem = json_object_get(body, "problem");
    assert_string_equal(json_string_value(json_object_get(problem, "code")), "DiskFull");
    assert_non_null(strstr(json_string_value(json_object_get(problem, "detail")), "600 vertices"));
    json_decref(body);
}

SCHEDULER_TEST(the_oldest_jobs_are_removed_from_the_history)
{
    char job_ids[4][JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    fixture->config.history_limit = 2;
    for (int i = 0; i < 4; i++) {
        solve(fixture, RING, job_ids[i], graph_id);
    }
    restart(fixture);
    ask(fixture, CALL_JOB, job_ids[0], STATUS_NO_SUCH_JOB, 404);
    assert_job_state(fixture, job_ids[3], "done");
}

SCHEDULER_TEST(a_graph_does_not_point_to_a_forgotten_job)
{
    char job_id[JOB_ID_SIZE];
    char first[GRAPH_ID_SIZE];
    char second[GRAPH_ID_SIZE];
    fixture->config.history_limit = 1;
    solve(fixture, RING, job_id, first);
    solve(fixture, LINE, job_id, second);
    restart(fixture);
    json_t *body = document(fixture, CALL_GRAPH, first);
    assert_true(json_is_null(json_object_get(body, "job")));
    json_decref(body);
    body = document(fixture, CALL_GRAPH, second);
    assert_string_equal(json_string_value(json_object_get(body, "job")), job_id);
    json_decref(body);
}

SCHEDULER_TEST(the_total_time_is_the_sum_of_its_parts)
{
    char *edges = ring_of(600, 1);
    struct question *question = new_upload(CALL_SUBMIT, edges);
    question->call.submit.parse_s = 100; /* simulates a slow upload */
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_t *timings = json_object_get(body, "timings");
    double total_s = json_real_value(json_object_get(timings, "total_s"));
    double sum_s = 0;
    const char *key;
    json_t *value;
    json_object_foreach(timings, key, value)
    {
        sum_s += strcmp(key, "total_s") == 0 ? 0 : json_number_value(value);
    }
    assert_true(sum_s > 100 && sum_s <= total_s + 0.01 && sum_s > 0.9 * total_s);
    json_decref(body);
    forget(question);
    free(edges);
}

#define MANY 8000

static void add_jobs(struct fixture *fixture, const char *graph_id, enum job_state state)
{
    for (int i = 0; i < MANY; i++) {
        struct job *job;
        assert_int_equal(job_create(graph_id, KIND_I4, clock_wall_s(), &job), STATUS_OK);
        struct job *added = job;
        job->tenant = fixture->scheduler->nobody;
        job->row.state = state;
        assert_int_equal(job_table_add(&fixture->scheduler->jobs, &job), STATUS_OK);
        if (job_state_is_final(state)) {
            job_table_end(&fixture->scheduler->jobs, added);
        }
    }
}

static void trim_history(void *context)
{
    finish_trim_history(context);
}

static void expire_deadlines(void *context)
{
    finish_expired(context);
}

static void end_known(void *context)
{
    struct scheduler *scheduler = context;
    struct job *job;
    CHECK(job_create(LIST_FIRST(&scheduler->graphs.all)->row.id, KIND_I4, 1, &job) == STATUS_OK);
    job->graph = LIST_FIRST(&scheduler->graphs.all);
    results_end_known_job(job);
}

static void publish(void *context)
{
    struct scheduler *scheduler = context;
    struct graph_entry *entry = LIST_FIRST(&scheduler->graphs.all);
    CHECK(results_publish(scheduler, entry, entry->results[KIND_I4].result) == STATUS_OK);
}

static void list_jobs_of_another(void *context)
{
    struct scheduler *scheduler = context;
    struct question question = {.call = {.kind = CALL_JOBS, .answered = set_answered}};
    question.call.context = &question.answered;
    question.call.scheduler = scheduler;
    question.call.list.limit = 50;
    CHECK(tenant_find(scheduler_tenants(scheduler), "another", &question.call.tenant) == STATUS_OK);
    requests_list_jobs(scheduler, &question.call);
    CHECK(question.answered);
}

/* Counts the instructions of a step of a scheduler with two finished jobs and, if requested, many
 * older or newer jobs. */
static long steps_of(void (*step)(void *context), bool has_older, enum job_state state,
                     bool has_newer)
{
    void *made = NULL;
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    assert_int_equal(set_up(&made), 0);
    struct fixture *fixture = made;
    if (has_older) {
        add_jobs(fixture, "g_other", state);
    }
    solve(fixture, LINE, job_id, graph_id);
    solve(fixture, RING, job_id, graph_id);
    if (has_newer) {
        add_jobs(fixture, graph_id, state);
    }
    fixture->config.history_limit = (uint32_t)fixture->scheduler->jobs.history_count - 1;
    const long steps = count_steps(step, fixture->scheduler);
    fixture->config.history_limit = 10 * MANY;
    assert_int_equal(tear_down(&made), 0);
    return steps;
}

TEST(the_cost_of_a_scheduler_step_is_independent_of_the_number_of_jobs)
{
    static const struct {
        void (*step)(void *context);
        bool older;
        bool newer;
        enum job_state state;
    } cases[] = {
        {trim_history, true, false, JOB_QUEUED},      {expire_deadlines, true, true, JOB_DONE},
        {end_known, false, true, JOB_QUEUED},         {publish, false, true, JOB_DONE},
        {list_jobs_of_another, true, true, JOB_DONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const long few = steps_of(cases[i].step, false, cases[i].state, false);
        if (few == 0) {
            skip();
        }
        const long many = steps_of(cases[i].step, cases[i].older, cases[i].state, cases[i].newer);
        /* A walk over all jobs would take at least four instructions per job. The limit leaves room
         * for other variation: the first call of a library function takes several thousand
         * instructions, and an allocator that other threads have used takes hundreds more. */
        assert_in_range(many, 0, few + 3 * MANY);
    }
}
