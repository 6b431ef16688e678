#include "tests/unit/desk_fixture.h"

#include <stdatomic.h>
#include <sys/statvfs.h>

static atomic_ulong free_blocks = 1UL << 40;

/* In front of the real one: a disk of any fullness. */
int fstatvfs(int descriptor, struct statvfs *ret_info)
{
    (void)descriptor;
    *ret_info = (struct statvfs){
        .f_bavail = atomic_load(&free_blocks), .f_blocks = 1UL << 40, .f_frsize = 1};
    return 0;
}

static void a_graph_solved_before_is_done_at_once(void **state)
{
    char first[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(*state, RING, first, graph_id);
    struct question *question = new_upload(ASK_SUBMIT, RING);
    ask(*state, question, STATUS_OK, 200);
    assert_state(question, "done");
    assert_string_not_equal(question->ask.job_id, first);
    assert_distance(*state, question->ask.job_id, 0, 2, "3");
    forget(question);
}

static void two_uploads_of_one_new_graph_at_the_same_time_are_both_accepted(void **state)
{
    struct fixture *fixture = *state;
    struct question *one = new_upload(ASK_SUBMIT, RING);
    struct question *two = new_upload(ASK_SUBMIT, RING);
    one->ask.wait_s = two->ask.wait_s = LONG_S;
    one->ask.wait_until_final = two->ask.wait_until_final = true;
    desk_post(fixture->desk, &one->ask);
    desk_post(fixture->desk, &two->ask);
    wait_for(fixture, one);
    wait_for(fixture, two);
    assert_string_equal(one->ask.graph_id, two->ask.graph_id);
    assert_string_not_equal(one->ask.job_id, two->ask.job_id);
    assert_state(one, "done");
    assert_state(two, "done");
    forget(one);
    forget(two);
}

static struct question *new_keyed(const char *edges, const char *key)
{
    struct question *question = new_upload(ASK_SUBMIT, edges);
    snprintf(question->ask.idempotency_key, IDEMPOTENCY_KEY_SIZE, "%s", key);
    question->ask.wait_s = LONG_S;
    question->ask.wait_until_final = true;
    return question;
}

static void a_repeated_key_gives_the_same_job_also_after_a_restart(void **state)
{
    struct question *first = new_keyed(RING, "order-1");
    ask(*state, first, STATUS_OK, 200);
    struct question *second = new_keyed(RING, "order-1");
    ask(*state, second, STATUS_OK, 200);
    assert_string_equal(second->ask.job_id, first->ask.job_id);
    forget(second);
    restart(*state);
    second = new_keyed(RING, "order-1");
    ask(*state, second, STATUS_OK, 200);
    assert_string_equal(second->ask.job_id, first->ask.job_id);
    forget(second);
    forget(first);
}

/* Of a stored graph, so that nothing but the commit lies between the ask and its answer. */
static struct question *new_stored(const char *graph_id, const char *key)
{
    struct question *question = new_question(ASK_SUBMIT, graph_id);
    snprintf(question->ask.idempotency_key, IDEMPOTENCY_KEY_SIZE, "%s", key);
    return question;
}

static void a_repeat_during_the_commit_is_not_answered_before_it(void **state)
{
    struct fixture *fixture = *state;
    struct question *graph = new_upload(ASK_STORE_GRAPH, RING);
    ask(fixture, graph, STATUS_OK, 201);
    struct question *first = new_stored(graph->ask.graph_id, "order-1");
    struct question *second = new_stored(graph->ask.graph_id, "order-1");
    desk_post(fixture->desk, &first->ask);
    desk_post(fixture->desk, &second->ask);
    wait_for(fixture, second);
    assert_true(first->answered);
    assert_string_equal(second->ask.job_id, first->ask.job_id);
    forget(first);
    forget(second);
    forget(graph);
}

static void a_key_used_for_another_request_is_a_mismatch(void **state)
{
    struct question *question = new_keyed(RING, "order-1");
    ask(*state, question, STATUS_OK, 200);
    forget(question);
    question = new_keyed(LINE, "order-1");
    ask(*state, question, STATUS_IDEMPOTENCY_MISMATCH,
        status_info(STATUS_IDEMPOTENCY_MISMATCH)->http);
    forget(question);
}

static void a_graph_uploaded_while_it_is_deleted_stays(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, RING, job_id, graph_id);
    struct question *deletion = new_question(ASK_DELETE_GRAPH, graph_id);
    struct question *upload = new_upload(ASK_SUBMIT, RING);
    upload->ask.wait_s = LONG_S;
    upload->ask.wait_until_final = true;
    desk_post(fixture->desk, &deletion->ask);
    desk_post(fixture->desk, &upload->ask);
    wait_for(fixture, deletion);
    wait_for(fixture, upload);
    assert_state(upload, "done");
    forget(deletion);
    forget(upload);
    restart(fixture);
    assert_distance(fixture, graph_id, 0, 2, "3");
}

static void a_job_without_room_for_its_result_is_refused_and_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    char graph_id[GRAPH_ID_SIZE];
    solve(fixture, LINE, job_id, graph_id);
    size_t bytes = 0;
    assert_int_equal(result_file_size(3, KIND_I4, &bytes), STATUS_OK);
    atomic_store(&free_blocks, bytes - 1);
    struct question *question = new_upload(ASK_SUBMIT, RING);
    ask(fixture, question, STATUS_DISK_FULL, 507);
    assert_true(question->ask.problem.limit == (double)(bytes - 1));
    assert_true(question->ask.problem.actual > (double)bytes);
    forget(question);
    question = new_question(ASK_GRAPHS, "");
    ask(fixture, question, STATUS_OK, 200);
    json_t *body = body_of(question);
    assert_int_equal(json_array_size(json_object_get(body, "graphs")), 1);
    json_decref(body);
    forget(question);
    /* What needs no room is still taken, and the refused one once there is some. */
    solve(fixture, LINE, job_id, graph_id);
    atomic_store(&free_blocks, 1UL << 40);
    solve(fixture, RING, job_id, graph_id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_graph_solved_before_is_done_at_once),
        DESK_TEST(two_uploads_of_one_new_graph_at_the_same_time_are_both_accepted),
        DESK_TEST(a_repeated_key_gives_the_same_job_also_after_a_restart),
        DESK_TEST(a_repeat_during_the_commit_is_not_answered_before_it),
        DESK_TEST(a_key_used_for_another_request_is_a_mismatch),
        DESK_TEST(a_graph_uploaded_while_it_is_deleted_stays),
        DESK_TEST(a_job_without_room_for_its_result_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
