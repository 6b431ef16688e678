#include "server/scheduler/jobs.h"
#include "server/scheduler/queue.h"
#include "tests/lib/test.h"

static struct job *pop(struct job_queue *queue)
{
    struct job *job = queue_first(queue, NULL);
    if (job != NULL) {
        queue_remove(queue, job);
    }
    return job;
}

TEST(an_empty_queue_returns_no_job)
{
    struct job_queue queue = {0};
    assert_null(pop(&queue));
}

TEST(jobs_of_equal_priority_start_in_order_of_arrival)
{
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job jobs[3] = {0};
    for (int i = 0; i < 3; i++) {
        queue_push(&queue, &share, &jobs[i]);
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(pop(&queue), &jobs[i]);
    }
    assert_int_equal(queue.count, 0);
}

TEST(a_job_with_higher_priority_is_popped_first)
{
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job low = {.row.priority = 0};
    struct job middle = {.row.priority = 5};
    struct job high = {.row.priority = 9};
    queue_push(&queue, &share, &middle);
    queue_push(&queue, &share, &low);
    queue_push(&queue, &share, &high);
    assert_ptr_equal(pop(&queue), &high);
    assert_ptr_equal(pop(&queue), &middle);
    assert_ptr_equal(pop(&queue), &low);
}

TEST(jobs_above_the_vertex_limit_are_skipped)
{
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job large = {.row.priority = 9, .vertex_count = 101, .cost = KIND_I4};
    struct job wide = {.row.priority = 5, .vertex_count = 51, .cost = KIND_F8};
    struct job small = {.row.priority = 0, .vertex_count = 100, .cost = KIND_I4};
    struct job other = {.row.priority = 0, .vertex_count = 50, .cost = KIND_F8};
    uint32_t limit[COST_COUNT] = {[KIND_I4] = 100, [KIND_F8] = 50};
    queue_push(&queue, &shares[0], &large);
    queue_push(&queue, &shares[0], &wide);
    assert_null(queue_first(&queue, limit));
    queue_push(&queue, &shares[0], &small);
    assert_ptr_equal(queue_first(&queue, limit), &small);
    /* A tenant that was served more comes first if the other has no job that is small enough. */
    shares[1].served = 1e9;
    queue_push(&queue, &shares[1], &other);
    assert_ptr_equal(queue_first(&queue, limit), &small);
    queue_remove(&queue, &small);
    assert_ptr_equal(queue_first(&queue, limit), &other);
    assert_ptr_equal(pop(&queue), &large);
}

TEST(a_removed_job_leaves_the_others_in_order)
{
    for (int removed = 0; removed < 3; removed++) {
        struct job_queue queue = {0};
        struct job_share share = {0};
        struct job jobs[3] = {0};
        for (int i = 0; i < 3; i++) {
            queue_push(&queue, &share, &jobs[i]);
        }
        queue_remove(&queue, &jobs[removed]);
        assert_int_equal(queue.count, 2);
        for (int i = 0; i < 3; i++) {
            if (i != removed) {
                assert_ptr_equal(pop(&queue), &jobs[i]);
            }
        }
        assert_null(pop(&queue));
    }
}

TEST(a_queue_position_counts_the_jobs_ahead)
{
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job first = {.row.priority = 1};
    struct job second = {.row.priority = 1};
    struct job urgent = {.row.priority = 2};
    struct job idle = {.row.priority = 0};
    queue_push(&queue, &share, &first);
    queue_push(&queue, &share, &second);
    queue_push(&queue, &share, &urgent);
    queue_push(&queue, &share, &idle);
    assert_int_equal(queue_ahead(&queue, &urgent).number, 0);
    assert_int_equal(queue_ahead(&queue, &first).number, 1);
    assert_int_equal(queue_ahead(&queue, &second).number, 2);
    assert_int_equal(queue_ahead(&queue, &idle).number, 3);
}

TEST(the_first_job_stays_in_the_queue_until_popped)
{
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job job = {0};
    assert_null(queue_first(&queue, NULL));
    queue_push(&queue, &share, &job);
    assert_ptr_equal(queue_first(&queue, NULL), &job);
    assert_ptr_equal(pop(&queue), &job);
    assert_null(queue_first(&queue, NULL));
}

TEST(decimals_solved_as_i4_have_a_separate_pace_and_vertex_limit)
{
    const uint32_t limit[COST_COUNT] = {[KIND_F8] = 3, [COST_DECIMALS] = 4};
    const struct graph_summary scaled = {.decimals = 2, .distance_bound = 100};
    const struct graph_summary wide = {.decimals = 2, .distance_bound = 1e9};
    struct job_queue queue = {.pace_s = {[KIND_F8] = 3, [COST_DECIMALS] = 1}};
    struct job_share share = {0};
    struct job first = {.row.kind = KIND_F8};
    struct job second = {.row.kind = KIND_F8};
    job_set_graph(&first, 4, &wide);
    job_set_graph(&second, 4, &scaled);
    queue_push(&queue, &share, &first);
    queue_push(&queue, &share, &second);
    assert_true(first.expected_s == 192 && second.expected_s == 64);
    assert_ptr_equal(queue_first(&queue, limit), &second);
}

TEST(the_expected_wait_is_the_time_of_all_jobs_ahead)
{
    struct job_queue queue = {.pace_s = {[KIND_I4] = 1, [KIND_F8] = 3}};
    struct job_share share = {0};
    struct job first = {.cost = KIND_I4, .vertex_count = 2};
    struct job second = {.cost = KIND_F8, .vertex_count = 2};
    struct job last = {.cost = KIND_I4, .vertex_count = 7};
    struct job high = {.cost = KIND_I4, .vertex_count = 3, .row.priority = 1};
    queue_push(&queue, &share, &first);
    queue_push(&queue, &share, &second);
    queue_push(&queue, &share, &last);
    queue_push(&queue, &share, &high);
    assert_true(queue_ahead(&queue, &high).seconds == 0);
    assert_true(queue_ahead(&queue, &first).seconds == 27);
    assert_true(queue_ahead(&queue, &last).seconds == 27 + 8 + 24);
}

static struct job *take(struct job_queue *queue)
{
    struct job *job = queue_first(queue, NULL);
    queue_serve(queue, job);
    return job;
}

/* A tenant that floods the queue with jobs of a high priority delays another tenant by at most the
 * running job. */
TEST(tenants_take_turns_according_to_the_work_done_for_each_tenant)
{
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job flood[4] = {0};
    struct job late[2] = {0};
    for (int i = 0; i < 4; i++) {
        flood[i] = (struct job){.row.priority = 9, .vertex_count = 1000};
        queue_push(&queue, &shares[0], &flood[i]);
    }
    assert_ptr_equal(take(&queue), &flood[0]);
    assert_ptr_equal(take(&queue), &flood[1]);
    for (int i = 0; i < 2; i++) {
        late[i] = (struct job){.vertex_count = 700};
        queue_push(&queue, &shares[1], &late[i]);
        assert_int_equal(queue_ahead(&queue, &late[i]).number, 2 * i);
    }
    assert_ptr_equal(take(&queue), &late[0]); /* an idle tenant gains neither credit nor debt */
    assert_ptr_equal(take(&queue), &late[1]); /* two small jobs cost less than one large job */
    assert_ptr_equal(take(&queue), &flood[2]);
    assert_ptr_equal(take(&queue), &flood[3]);
    assert_null(queue_first(&queue, NULL));
    assert_true(LIST_EMPTY(&queue.shares));
}

TEST(idle_tenants_accumulate_no_credit)
{
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job busy[20] = {0};
    struct job back[20] = {0};
    for (int i = 0; i < 20; i++) {
        busy[i].vertex_count = back[i].vertex_count = 500;
        queue_push(&queue, &shares[0], &busy[i]);
    }
    for (int i = 0; i < 10; i++) {
        assert_ptr_equal(take(&queue), &busy[i]);
    }
    for (int i = 0; i < 20; i++) {
        queue_push(&queue, &shares[1], &back[i]);
    }
    int of_back = 0;
    for (int i = 0; i < 10; i++) {
        const struct job *job = take(&queue);
        assert_null(job->share);
        of_back += job >= back && job < back + 20;
    }
    assert_in_range(of_back, 5, 6);
}

TEST(the_estimated_wait_includes_jobs_of_other_tenants)
{
    struct job_queue queue = {.pace_s = {[KIND_I4] = 1}};
    struct job_share shares[2] = {0};
    struct job flood[9] = {0};
    struct job own[3] = {0};
    for (int i = 0; i < 9; i++) {
        flood[i] = (struct job){.vertex_count = 2, .cost = KIND_I4};
        queue_push(&queue, &shares[0], &flood[i]);
    }
    for (int i = 0; i < 3; i++) {
        own[i] = (struct job){.vertex_count = 2, .cost = KIND_I4};
        queue_push(&queue, &shares[1], &own[i]);
    }
    assert_true(queue_ahead(&queue, &own[0]).seconds == 0);
    assert_true(queue_ahead(&queue, &own[2]).seconds == 16 + 16);
    assert_true(queue_ahead(&queue, &flood[8]).seconds == 64 + 24);
    assert_int_equal(queue_ahead(&queue, &flood[8]).number, 8 + 3);
}
