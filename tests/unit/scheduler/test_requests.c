#include "server/scheduler/choose_form.h"
#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_t loop_thread;
static size_t unmapped_bytes;

int munmap(void *address, size_t size)
{
    if (pthread_equal(pthread_self(), loop_thread)) {
        unmapped_bytes += size;
    }
    return (int)syscall(SYS_munmap, address, size);
}

/* Unmapping a result takes about 30 ms per GiB, which would delay all other requests. */
SCHEDULER_TEST(a_deletion_does_not_unmap_results_on_the_event_loop)
{
    char *edges = ring_of(300, 1);
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, edges, job_id, graph_id);
    free(edges);
    restart(fixture); /* drops the reference of the commit, which could be the last one */
    loop_thread = pthread_self();
    unmapped_bytes = 0;
    ask(fixture, CALL_DELETE_GRAPH, graph_id, STATUS_OK, 204);
    assert_true(unmapped_bytes < (size_t)300 * 300 * 2);
}

SCHEDULER_TEST(only_an_idle_graph_can_be_deleted)
{
    char job_id[JOB_ID_SIZE];
    submit_long(fixture, 1, job_id);
    ask(fixture, CALL_DELETE_GRAPH, job_id, STATUS_GRAPH_IN_USE, 409);
    cancel(fixture, job_id);
    finish_job(fixture, job_id, "cancelled");
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    ask(fixture, CALL_DELETE_GRAPH, graph_id, STATUS_OK, 204);
    assert_null(result_table_find(fixture->results, 0, graph_id));
    assert_null(result_table_find(fixture->results, 0, job_id));
    ask(fixture, CALL_GRAPH, graph_id, STATUS_NO_SUCH_GRAPH, 404);
    assert_job_state(fixture, job_id, "done");
}

#define ESTIMATES 16

/* The test replaces the graph's file with a pipe without a writer, so that estimates that read the
 * file block. */
SCHEDULER_TEST(an_upload_does_not_wait_for_estimates)
{
    char *edges = ring_of(FORM_MATRIX_VERTICES + 1, 1);
    struct question *question = new_upload(CALL_STORE_GRAPH, edges);
    struct question *estimates[ESTIMATES];
    char path[640];
    uint32_t refused = 0;
    free(edges);
    call(fixture, question, STATUS_OK, 201);
    snprintf(path, sizeof(path), "%s/graphs/%s", fixture->folder, question->call.graph_id);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (int i = 0; i < ESTIMATES; i++) {
        estimates[i] = new_question(CALL_ESTIMATE, question->call.graph_id);
        scheduler_post(fixture->scheduler, &estimates[i]->call);
    }
    forget(question);
    question = new_upload(CALL_STORE_GRAPH, LINE);
    call_and_forget(fixture, question, STATUS_OK, 201);
    const int pipe = open(path, O_RDWR | O_CLOEXEC);
    assert_true(pipe >= 0);
    assert_int_equal(unlink(path), 0);
    close(pipe);
    for (int i = 0; i < ESTIMATES; i++) {
        wait_for(fixture, estimates[i]);
        refused +=
            estimates[i]->call.status == STATUS_QUEUE_FULL && estimates[i]->call.retry_after_s > 0;
        forget(estimates[i]);
    }
    assert_true(refused > 0 && refused < ESTIMATES);
}

SCHEDULER_TEST(jobs_are_listed_newest_first_page_by_page)
{
    char job_ids[3][JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    for (int i = 0; i < 3; i++) {
        solve(fixture, RING, job_ids[i], graph_id);
    }
    struct question *question = new_question(CALL_JOBS, "");
    question->call.list.limit = 2;
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    json_t *jobs = json_object_get(body, "jobs");
    assert_int_equal(json_array_size(jobs), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(jobs, 0), "id")),
                        job_ids[2]);
    assert_string_equal(json_string_value(json_object_get(body, "next")), job_ids[1]);
    json_decref(body);
    forget(question);
    question = new_question(CALL_JOBS, "");
    snprintf(question->call.list.cursor, JOB_ID_SIZE, "%s", job_ids[1]);
    call(fixture, question, STATUS_OK, 200);
    body = body_of(question);
    jobs = json_object_get(body, "jobs");
    assert_int_equal(json_array_size(jobs), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(jobs, 0), "id")),
                        job_ids[0]);
    assert_true(json_is_null(json_object_get(body, "next")));
    json_decref(body);
    forget(question);
}

/* A page ends after a limited number of jobs, so that each page takes little time even if few jobs
 * match the filter. */
SCHEDULER_TEST(a_filter_that_matches_few_jobs_ends_the_page_early)
{
    char failed[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    struct tenant *tenant;
    solve(fixture, NEGATIVE_RING, failed, graph_id);
    assert_int_equal(tenant_find(scheduler_tenants(fixture->scheduler), "", &tenant), STATUS_OK);
    for (int i = 0; i < 20000; i++) {
        struct job *job;
        assert_int_equal(job_create(graph_id, KIND_I4, clock_wall_s(), &job), STATUS_OK);
        job->tenant = tenant;
        job->durability = JOB_ACCEPTED;
        job->row.state = JOB_CANCELLED;
        assert_int_equal(job_table_add(&fixture->scheduler->jobs, &job), STATUS_OK);
    }
    struct question *question = new_question(CALL_JOBS, "");
    question->call.list.filter_state = true;
    question->call.list.state = JOB_FAILED;
    call(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    const char *next = json_string_value(json_object_get(body, "next"));
    assert_int_equal(json_array_size(json_object_get(body, "jobs")), 0);
    assert_non_null(next);
    forget(question);
    question = new_question(CALL_JOBS, "");
    question->call.list.filter_state = true;
    question->call.list.state = JOB_FAILED;
    snprintf(question->call.list.cursor, sizeof(question->call.list.cursor), "%s", next);
    json_decref(body);
    call(fixture, question, STATUS_OK, 200);
    body = body_of(question);
    const json_t *found = json_array_get(json_object_get(body, "jobs"), 0);
    assert_string_equal(json_string_value(json_object_get(found, "id")), failed);
    assert_true(json_is_null(json_object_get(body, "next")));
    json_decref(body);
    forget(question);
}
