#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_query_for_a_missing_result_waits_for_the_job)
{
    struct question *upload = new_upload(CALL_STORE_GRAPH, RING);
    call(fixture, upload, STATUS_OK, 201);
    ask(fixture, CALL_RESULT, upload->call.graph_id, STATUS_NOT_SOLVED, 409);
    struct question *question = new_question(CALL_RESULT, upload->call.graph_id);
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    assert_distance(fixture, upload->call.graph_id, 0, 2, "3");
    forget(question);
    forget(upload);
}

static uint32_t count_jobs(const struct fixture *fixture, const char *graph_id)
{
    const struct graph_entry *entry = graph_table_find_id(&fixture->scheduler->graphs, graph_id);
    const struct job *job;
    uint32_t count = 0;
    LIST_FOREACH(job, &entry->jobs, of_graph)
    {
        count++;
    }
    return count;
}

static void post_wait(struct fixture *fixture, const char *key, struct question **ret_question)
{
    *ret_question = new_question(CALL_RESULT, key);
    (*ret_question)->call.wait_s = LONG_S;
    scheduler_post(fixture->scheduler, &(*ret_question)->call);
}

static void end_wait(struct fixture *fixture, struct question *question)
{
    wait_for(fixture, question);
    assert_int_equal(question->call.status, STATUS_OK);
    forget(question);
}

/* The second query arrives before the job of the first query is on the disk. */
SCHEDULER_TEST(queries_that_wait_for_one_result_share_a_job)
{
    struct question *upload = new_upload(CALL_STORE_GRAPH, RING);
    struct question *questions[2];
    call(fixture, upload, STATUS_OK, 201);
    for (int i = 0; i < 2; i++) {
        post_wait(fixture, upload->call.graph_id, &questions[i]);
    }
    for (int i = 0; i < 2; i++) {
        end_wait(fixture, questions[i]);
    }
    assert_int_equal(count_jobs(fixture, upload->call.graph_id), 1);
    forget(upload);
}

/* The graph is deleted and uploaded again. The first job's ID then finds the new result, so
 * deleting the graph again must remove this key too. */
SCHEDULER_TEST(a_deleted_graph_leaves_no_result_keys_of_earlier_uploads)
{
    char first[JOB_ID_SIZE];
    char second[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, first, graph_id);
    ask(fixture, CALL_DELETE_GRAPH, graph_id, STATUS_OK, 204);
    solve(fixture, RING, second, graph_id);
    ask(fixture, CALL_RESULT, first, STATUS_OK, 200);
    assert_distance(fixture, first, 0, 2, "3");
    ask(fixture, CALL_DELETE_GRAPH, graph_id, STATUS_OK, 204);
    assert_null(result_table_find(fixture->results, 0, first));
    assert_null(result_table_find(fixture->results, 0, second));
    assert_null(result_table_find(fixture->results, 0, graph_id));
}

static void solve_stored(struct fixture *fixture, const char *graph_id,
                         const struct job_parameters *parameters)
{
    struct question *question = new_question(CALL_SUBMIT, graph_id);
    question->call.submit.parameters = *parameters;
    question->call.wait_s = LONG_S;
    call_and_forget(fixture, question, STATUS_OK, 200);
}

static struct result *published(const struct fixture *fixture, const char *graph_id, enum kind kind)
{
    return graph_table_find_id(&fixture->scheduler->graphs, graph_id)->results[kind].result;
}

/* A full queue accepts the job that replaces a damaged result. The job is created at once: the form
 * of its result is known, so the graph need not be measured to choose a form. */
SCHEDULER_TEST(a_damaged_result_is_solved_again_with_the_same_parameters)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    solve_stored(
        fixture, graph_id,
        &(struct job_parameters){
            .kind = KIND_F8, .priority = 7, .verify = true, .form = RESULT_FORM_HIERARCHY});
    solve_stored(fixture, graph_id, &(struct job_parameters){.kind = KIND_I4});
    fixture->config.queue_limit = 0;
    scheduler_note_damaged_result(fixture->scheduler, published(fixture, graph_id, KIND_F8));
    scheduler_deliver_messages(fixture->scheduler);
    const struct job *job =
        LIST_FIRST(&graph_table_find_id(&fixture->scheduler->graphs, graph_id)->jobs);
    assert_int_equal(count_jobs(fixture, graph_id), 4);
    assert_int_equal(job->row.kind, KIND_F8);
    assert_int_equal(job->row.priority, 7);
    assert_true(job->row.verify);
    assert_int_equal(job->report.result.form, RESULT_FORM_HIERARCHY);
    snprintf(job_id, sizeof(job_id), "%s", job->row.id);
    while (job->durability == JOB_ACCEPTING) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    finish_job(fixture, job_id, "done");
    assert_int_equal(count_jobs(fixture, graph_id), 4);
    struct result *result = published(fixture, graph_id, KIND_F8);
    assert_non_null(result);
    assert_int_equal(result_form(result), RESULT_FORM_HIERARCHY);
}

/* The queries arrive before a worker can start the new job. */
SCHEDULER_TEST(queries_wait_for_the_job_that_replaces_a_damaged_result)
{
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct question *questions[2];
    solve(fixture, RING, job_id, graph_id);
    scheduler_note_damaged_result(fixture->scheduler, published(fixture, graph_id, KIND_I4));
    for (int i = 0; i < 2; i++) {
        post_wait(fixture, job_id, &questions[i]);
    }
    for (int i = 0; i < 2; i++) {
        end_wait(fixture, questions[i]);
    }
    assert_int_equal(count_jobs(fixture, graph_id), 2);
    assert_distance(fixture, job_id, 0, 2, "3");
}

SCHEDULER_TEST(the_byte_budget_evicts_the_least_recently_used_result)
{
    char ring_job[JOB_ID_SIZE];
    char ring[GRAPH_ID_SIZE];
    char line_job[JOB_ID_SIZE];
    char line[GRAPH_ID_SIZE];
    fixture->config.result_budget_bytes = 200; /* a 3 x 3 result takes 164 bytes */
    solve(fixture, RING, ring_job, ring);
    solve(fixture, LINE, line_job, line);
    assert_null(result_table_find(fixture->results, 0, ring));
    assert_null(result_table_find(fixture->results, 0, ring_job));
    assert_distance(fixture, line, 0, 2, "11");
    assert_job_state(fixture, ring_job, "done");
    struct question *question = new_question(CALL_RESULT, ring_job);
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    assert_distance(fixture, ring_job, 0, 2, "3");
    assert_null(result_table_find(fixture->results, 0, line));
    forget(question);
}

SCHEDULER_TEST(the_result_count_limit_evicts_the_least_recently_used_result)
{
    char ring_job[JOB_ID_SIZE];
    char ring[GRAPH_ID_SIZE];
    char line_job[JOB_ID_SIZE];
    char line[GRAPH_ID_SIZE];
    fixture->config.result_limit = 1;
    solve(fixture, RING, ring_job, ring);
    assert_distance(fixture, ring, 0, 2, "3");
    solve(fixture, LINE, line_job, line);
    assert_null(result_table_find(fixture->results, 0, ring));
    assert_distance(fixture, line, 0, 2, "11");
    restart(fixture);
    assert_null(result_table_find(fixture->results, 0, ring)); /* an evicted result is not lost */
    assert_distance(fixture, line, 0, 2, "11");
}

static void touch(struct fixture *fixture, const char *graph_id)
{
    struct result *result = result_table_find(fixture->results, 0, graph_id);
    assert_non_null(result);
    result_touch(result, clock_monotonic_s());
    result_unref(result);
}

/* Queries only record their time in the result. The order of eviction is determined when a result
 * has to be evicted. */
SCHEDULER_TEST(results_are_evicted_in_the_order_of_their_last_queries)
{
    static const unsigned evicted[] = {1, 0, 3, 2};
    char job_id[JOB_ID_SIZE];
    char graph_ids[7][GRAPH_ID_SIZE];
    fixture->config.result_limit = 3;
    for (unsigned i = 0; i < 7; i++) {
        char *edges = ring_of(3, i + 1);
        solve(fixture, edges, job_id, graph_ids[i]);
        free(edges);
        if (i >= 3) {
            struct result *gone = result_table_find(fixture->results, 0, graph_ids[evicted[i - 3]]);
            assert_null(gone);
        }
        if (i == 2) {
            touch(fixture, graph_ids[0]); /* the order of use is now 1 2 0 */
        } else if (i == 3) {
            touch(fixture, graph_ids[2]); /* the order of use is now 0 3 2 */
        }
    }
}

static void solve_kind(struct fixture *fixture, enum kind kind, char graph_id[GRAPH_ID_SIZE])
{
    struct question *question = new_upload(CALL_SUBMIT, RING);
    question->call.submit.parameters.kind = kind;
    question->call.wait_s = LONG_S;
    call(fixture, question, STATUS_OK, 200);
    memcpy(graph_id, question->call.graph_id, GRAPH_ID_SIZE);
    forget(question);
}

static enum kind answering_kind(struct fixture *fixture, const char *graph_id)
{
    struct result *result = result_table_find(fixture->results, 0, graph_id);
    assert_non_null(result);
    enum kind kind = result_kind(result);
    result_unref(result);
    return kind;
}

SCHEDULER_TEST(queries_are_answered_from_the_last_requested_kind_of_result)
{
    char graph_id[GRAPH_ID_SIZE];
    solve_kind(fixture, KIND_I4, graph_id);
    solve_kind(fixture, KIND_F8, graph_id);
    assert_int_equal(answering_kind(fixture, graph_id), KIND_F8);
    solve_kind(fixture, KIND_I4, graph_id); /* the result exists, so no solve is needed */
    assert_int_equal(answering_kind(fixture, graph_id), KIND_I4);
    restart(fixture);
    assert_int_equal(answering_kind(fixture, graph_id), KIND_I4);
}

/* A stored graph contains no loops, but a negative loop still gives the graph a different ID. */
SCHEDULER_TEST(a_graph_with_a_negative_loop_has_a_different_id)
{
    char job_id[JOB_ID_SIZE];
    char plain[GRAPH_ID_SIZE];
    char looped[GRAPH_ID_SIZE];
    solve(fixture, LINE, job_id, plain);
    solve(fixture, "p sp 3 3\na 1 2 5\na 2 3 6\na 2 2 -1\n", job_id, looped);
    assert_string_not_equal(plain, looped);
    assert_job_state(fixture, job_id, "failed");
}

/* Makes all writes of graph files fail by removing their folder while the store is open. */
static void break_store(const struct fixture *fixture)
{
    char command[640];
    snprintf(command, sizeof(command), "rm -rf '%s/graphs'", fixture->folder);
    assert_int_equal(system(command), 0);
}

SCHEDULER_TEST(a_failed_write_leaves_neither_job_nor_graph)
{
    break_store(fixture);
    struct question *question = new_upload(CALL_SUBMIT, RING);
    scheduler_post(fixture->scheduler, &question->call);
    wait_for(fixture, question);
    assert_true(question->call.status == STATUS_IO);
    forget(question);
    question = new_question(CALL_JOBS, "");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.body, "{\"jobs\":[],\"next\":null}");
    forget(question);
    question = new_question(CALL_GRAPHS, "");
    call(fixture, question, STATUS_OK, 200);
    assert_string_equal(question->call.body, "{\"graphs\":[],\"next\":null}");
    forget(question);
    assert_int_equal(atomic_load(&scheduler_admission(fixture->scheduler)->queue_free), 100);
}
