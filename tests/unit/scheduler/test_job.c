#include "server/scheduler/capacity.h"
#include "server/scheduler/job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct job *new_job(void)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    return job;
}

static void a_job_comes_back_from_its_row(void **state)
{
    (void)state;
    struct job *job = new_job();
    job->priority = 7;
    job->deadline_s = 30;
    job->state = JOB_DONE;
    struct job_row row;
    struct job *restored;
    job_fill_row(job, NULL, &row);
    assert_int_equal(job_restore(&row, &restored), STATUS_OK);
    assert_string_equal(restored->id, job->id);
    assert_string_equal(restored->graph_id, "g_one");
    assert_int_equal(restored->priority, 7);
    assert_true(restored->deadline_s == 30 && restored->created_s == 1000);
    assert_true(restored->accepted && restored->committed);
    job_destroy(restored);
    job_destroy(job);
}

static void a_report_that_is_none_is_corrupt(void **state)
{
    (void)state;
    struct job *job = new_job();
    struct job_row row;
    struct job *restored = NULL;
    job_fill_row(job, "{", &row);
    assert_int_equal(job_restore(&row, &restored), STATUS_CORRUPT);
    assert_null(restored);
    job_destroy(job);
}

static void progress_and_the_time_left_are_those_of_the_state(void **state)
{
    (void)state;
    struct job *job = new_job();
    const double seconds[PHASE_COUNT] = {[PHASE_SOLVING] = 10, [PHASE_WRITING] = 2};
    assert_true(job_progress(job, 60) == 0 && job_eta_s(job, 60) < 0);
    job->state = JOB_RUNNING;
    assert_true(job_progress(job, 60) == 0 && job_eta_s(job, 60) < 0);
    progress_expect(&job->signal->progress, seconds, 60);
    progress_tell(&job->signal->progress, PHASE_SOLVING, 0, 60);
    assert_true(job_eta_s(job, 63) == 9 && job_progress(job, 63) == 0.25);
    job->state = JOB_FAILED;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 0.25);
    /* As a worker process that was broken may leave them. */
    const double wild[] = {NAN, INFINITY, -INFINITY, -1, 7};
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        job->signal->progress.shown = wild[i];
        assert_true(job_progress(job, 66) >= 0 && job_progress(job, 66) < 1);
    }
    job->state = JOB_DONE;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 1);
    job->state = JOB_QUEUED;
    assert_true(job_eta_s(job, 66) < 0 && job_progress(job, 66) == 0);
    job_destroy(job);
}

static int set_up(void **state)
{
    struct job_table *table;
    assert_int_equal(job_table_create(&table), STATUS_OK);
    *state = table;
    return 0;
}

static int tear_down(void **state)
{
    job_table_destroy(*state);
    return 0;
}

static struct job *add(struct job_table *table, const char *key)
{
    struct job *job;
    assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
    memcpy(job->idempotency_key, key, strlen(key) + 1);
    job->accepted = true;
    struct job *added = job;
    assert_int_equal(job_table_add(table, &job), STATUS_OK);
    assert_null(job);
    return added;
}

static void a_job_is_found_by_its_id_and_its_key(void **state)
{
    struct job *job = add(*state, "order-1");
    struct job *other = add(*state, "order-2");
    assert_ptr_equal(job_table_find(*state, NULL, job->id), job);
    assert_ptr_equal(job_table_find_key(*state, NULL, "order-2"), other);
    assert_null(job_table_find(*state, NULL, "j_absent"));
    assert_null(job_table_find_key(*state, NULL, "order-3"));
}

static void a_key_of_one_tenant_is_not_that_of_another(void **state)
{
    struct tenant tenants[2] = {{.number = 1}, {.number = 2}};
    struct job *jobs[2];
    for (int i = 0; i < 2; i++) {
        struct job *job;
        assert_int_equal(job_create("g_one", KIND_I4, 1000, &job), STATUS_OK);
        memcpy(job->idempotency_key, "order-1", 8);
        job->tenant = &tenants[i];
        job->accepted = true;
        jobs[i] = job;
        assert_int_equal(job_table_add(*state, &job), STATUS_OK);
    }
    assert_ptr_equal(job_table_find_key(*state, &tenants[0], "order-1"), jobs[0]);
    assert_ptr_equal(job_table_find_key(*state, &tenants[1], "order-1"), jobs[1]);
    assert_null(job_table_find_key(*state, NULL, "order-1"));
    assert_ptr_equal(job_table_find(*state, &tenants[0], jobs[0]->id), jobs[0]);
    assert_null(job_table_find(*state, &tenants[1], jobs[0]->id));
    assert_null(job_table_find(*state, NULL, jobs[0]->id));
    job_table_remove(*state, jobs[0]);
    assert_null(job_table_find_key(*state, &tenants[0], "order-1"));
    assert_ptr_equal(job_table_find_key(*state, &tenants[1], "order-1"), jobs[1]);
    job_table_remove(*state, jobs[1]);
}

static void the_jobs_of_a_graph_are_found_newest_first(void **state)
{
    struct job *other;
    struct job *jobs[3];
    assert_int_equal(job_create("g_two", KIND_I4, 1000, &other), STATUS_OK);
    assert_int_equal(job_table_add(*state, &other), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        jobs[i] = add(*state, "");
    }
    assert_null(job_table_newest_of(*state, "g_none"));
    assert_ptr_equal(job_table_newest_of(*state, "g_one"), jobs[2]);
    assert_ptr_equal(jobs[2]->older_of_graph, jobs[1]);
    job_table_remove(*state, jobs[1]);
    assert_ptr_equal(jobs[2]->older_of_graph, jobs[0]);
    assert_ptr_equal(jobs[0]->newer_of_graph, jobs[2]);
    job_table_remove(*state, jobs[2]);
    assert_ptr_equal(job_table_newest_of(*state, "g_one"), jobs[0]);
    assert_null(jobs[0]->older_of_graph);
    job_table_remove(*state, jobs[0]);
    assert_null(job_table_newest_of(*state, "g_one"));
    assert_non_null(job_table_newest_of(*state, "g_two"));
}

static void jobs_without_a_key_are_not_found_by_the_empty_key(void **state)
{
    struct job *first = add(*state, "");
    struct job *second = add(*state, "");
    assert_ptr_equal(first->newer, second);
    assert_null(job_table_find_key(*state, NULL, ""));
}

static void a_job_not_accepted_is_found_by_its_key_alone(void **state)
{
    struct job *job = add(*state, "order-1");
    job->accepted = false;
    assert_null(job_table_find(*state, NULL, job->id));
    assert_ptr_equal(job_table_find_key(*state, NULL, "order-1"), job);
}

static void a_removed_job_is_not_found(void **state)
{
    struct job *job = add(*state, "order-1");
    char id[JOB_ID_SIZE];
    memcpy(id, job->id, sizeof(id));
    job_table_remove(*state, job);
    assert_null(job_table_find(*state, NULL, id));
    assert_null(job_table_find_key(*state, NULL, "order-1"));
    assert_null(((struct job_table *)*state)->newest);
    assert_null(((struct job_table *)*state)->oldest);
}

static void the_order_of_creation_survives_removals(void **state)
{
    struct job *first = add(*state, "");
    struct job *second = add(*state, "");
    struct job *third = add(*state, "");
    job_table_remove(*state, second);
    assert_ptr_equal(((struct job_table *)*state)->oldest, first);
    assert_ptr_equal(first->newer, third);
    assert_ptr_equal(third->older, first);
    job_table_remove(*state, third);
    assert_ptr_equal(((struct job_table *)*state)->newest, first);
}

static void an_id_too_long_to_be_one_is_not_found(void **state)
{
    char id[400];
    memset(id, 'j', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    assert_null(job_table_find(*state, NULL, id));
    assert_null(job_table_find_key(*state, NULL, id));
}

/* ---- The queue ---- */

static struct job *pop(struct job_queue *queue)
{
    struct job *job = job_queue_first(queue);
    if (job != NULL) {
        job_queue_remove(queue, job);
    }
    return job;
}

static void an_empty_queue_gives_nothing(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    assert_null(pop(&queue));
}

static void equal_priorities_leave_in_the_order_they_came(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job jobs[3] = {0};
    for (int i = 0; i < 3; i++) {
        job_queue_push(&queue, &share, &jobs[i]);
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(pop(&queue), &jobs[i]);
    }
    assert_int_equal(queue.count, 0);
}

static void a_higher_priority_overtakes(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job low = {.priority = 0};
    struct job middle = {.priority = 5};
    struct job high = {.priority = 9};
    job_queue_push(&queue, &share, &middle);
    job_queue_push(&queue, &share, &low);
    job_queue_push(&queue, &share, &high);
    assert_ptr_equal(pop(&queue), &high);
    assert_ptr_equal(pop(&queue), &middle);
    assert_ptr_equal(pop(&queue), &low);
}

static void what_is_too_large_is_passed(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job large = {.priority = 9, .vertex_count = 101, .kind = KIND_I4};
    struct job wide = {.priority = 5, .vertex_count = 51, .kind = KIND_F8};
    struct job small = {.priority = 0, .vertex_count = 100, .kind = KIND_I4};
    struct job other = {.priority = 0, .vertex_count = 50, .kind = KIND_F8};
    uint32_t limit[KIND_COUNT] = {[KIND_I4] = 100, [KIND_F8] = 50};
    job_queue_push(&queue, &shares[0], &large);
    job_queue_push(&queue, &shares[0], &wide);
    assert_null(job_queue_first_within(&queue, limit));
    job_queue_push(&queue, &shares[0], &small);
    assert_ptr_equal(job_queue_first_within(&queue, limit), &small);
    /* Another's that was served more comes when nothing of the first is small enough. */
    shares[1].served = 1e9;
    job_queue_push(&queue, &shares[1], &other);
    assert_ptr_equal(job_queue_first_within(&queue, limit), &small);
    job_queue_remove(&queue, &small);
    assert_ptr_equal(job_queue_first_within(&queue, limit), &other);
    assert_ptr_equal(pop(&queue), &large);
}

static void a_removed_job_leaves_the_others_in_order(void **state)
{
    (void)state;
    for (int removed = 0; removed < 3; removed++) {
        struct job_queue queue = {0};
        struct job_share share = {0};
        struct job jobs[3] = {0};
        for (int i = 0; i < 3; i++) {
            job_queue_push(&queue, &share, &jobs[i]);
        }
        job_queue_remove(&queue, &jobs[removed]);
        assert_int_equal(queue.count, 2);
        for (int i = 0; i < 3; i++) {
            if (i != removed) {
                assert_ptr_equal(pop(&queue), &jobs[i]);
            }
        }
        assert_null(pop(&queue));
    }
}

static void a_position_counts_the_jobs_that_come_before(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job first = {.priority = 1};
    struct job second = {.priority = 1};
    struct job urgent = {.priority = 2};
    struct job idle = {.priority = 0};
    job_queue_push(&queue, &share, &first);
    job_queue_push(&queue, &share, &second);
    job_queue_push(&queue, &share, &urgent);
    job_queue_push(&queue, &share, &idle);
    assert_int_equal(job_queue_position(&queue, &urgent), 0);
    assert_int_equal(job_queue_position(&queue, &first), 1);
    assert_int_equal(job_queue_position(&queue, &second), 2);
    assert_int_equal(job_queue_position(&queue, &idle), 3);
}

static void a_position_is_right_along_a_long_line(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job jobs[9] = {0};
    struct job urgent[2] = {{.priority = 1}, {.priority = 1}};
    for (int i = 0; i < 9; i++) {
        job_queue_push(&queue, &share, &jobs[i]);
    }
    job_queue_push(&queue, &share, &urgent[0]);
    job_queue_push(&queue, &share, &urgent[1]);
    job_queue_remove(&queue, &jobs[4]);
    job_queue_remove(&queue, &urgent[0]);
    for (uint32_t i = 0; i < 9; i++) {
        if (i != 4) {
            assert_int_equal(job_queue_position(&queue, &jobs[i]), i < 4 ? i + 1 : i);
        }
    }
}

static void the_first_stays_until_it_is_taken(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share share = {0};
    struct job job = {0};
    assert_null(job_queue_first(&queue));
    job_queue_push(&queue, &share, &job);
    assert_ptr_equal(job_queue_first(&queue), &job);
    assert_ptr_equal(pop(&queue), &job);
    assert_null(job_queue_first(&queue));
}

static void what_is_ahead_takes_its_time(void **state)
{
    (void)state;
    struct job_queue queue = {.pace_s = {[KIND_I4] = 1, [KIND_F8] = 3}};
    struct job_share share = {0};
    struct job first = {.kind = KIND_I4, .vertex_count = 2};
    struct job second = {.kind = KIND_F8, .vertex_count = 2};
    struct job last = {.kind = KIND_I4, .vertex_count = 7};
    struct job high = {.kind = KIND_I4, .vertex_count = 3, .priority = 1};
    job_queue_push(&queue, &share, &first);
    job_queue_push(&queue, &share, &second);
    job_queue_push(&queue, &share, &last);
    job_queue_push(&queue, &share, &high);
    assert_true(job_queue_seconds_ahead(&queue, &high) == 0);
    assert_true(job_queue_seconds_ahead(&queue, &first) == 27);
    assert_true(job_queue_seconds_ahead(&queue, &last) == 27 + 8 + 24);
}

/* Against a walk, after each of many pushes and removals anywhere. */
static void what_comes_before_is_counted_right_whatever_leaves(void **state)
{
    (void)state;
    static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F8};
    enum { COUNT = 60 };
    struct job_queue queue = {.pace_s = {[KIND_I4] = 1, [KIND_U2] = 2, [KIND_F8] = 3}};
    struct job_share share = {0};
    struct job jobs[COUNT] = {0};
    bool queued[COUNT] = {0};
    uint32_t random = 1;
    for (int step = 0; step < 2000; step++) {
        random = random * 1664525 + 1013904223;
        const size_t chosen = (random >> 16) % COUNT;
        struct job *job = &jobs[chosen];
        if (queued[chosen]) {
            job_queue_remove(&queue, job);
        } else {
            *job = (struct job){.priority = (int)(random >> 28) % 3,
                                .kind = kinds[(random >> 8) % 3],
                                .vertex_count = (random >> 12) % 100};
            job_queue_push(&queue, &share, job);
        }
        queued[chosen] = !queued[chosen];
        uint32_t position = 0;
        double seconds = 0;
        for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
            for (const struct job *j = share.lines[priority].first; j != NULL; j = j->behind) {
                if (step % 7 == 0 || position % 5 == 0) {
                    assert_int_equal(job_queue_position(&queue, j), position);
                    assert_true(job_queue_seconds_ahead(&queue, j) == seconds);
                }
                position++;
                seconds += j->expected_s;
            }
        }
        assert_int_equal(position, queue.count);
    }
}

static struct job *take(struct job_queue *queue)
{
    struct job *job = job_queue_first(queue);
    job_queue_take(queue, job);
    return job;
}

/* One that floods the queue delays another by the job that runs, whatever its priorities. */
static void shares_take_turns_by_what_they_were_served(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job flood[4] = {0};
    struct job late[2] = {0};
    for (int i = 0; i < 4; i++) {
        flood[i] = (struct job){.priority = 9, .vertex_count = 1000};
        job_queue_push(&queue, &shares[0], &flood[i]);
    }
    assert_ptr_equal(take(&queue), &flood[0]);
    assert_ptr_equal(take(&queue), &flood[1]);
    for (int i = 0; i < 2; i++) {
        late[i] = (struct job){.vertex_count = 700};
        job_queue_push(&queue, &shares[1], &late[i]);
        assert_int_equal(job_queue_position(&queue, &late[i]), 2 * i);
    }
    assert_ptr_equal(take(&queue), &late[0]); /* idle time is not saved up, nor owed */
    assert_ptr_equal(take(&queue), &late[1]); /* two of these are less than one of those */
    assert_ptr_equal(take(&queue), &flood[2]);
    assert_ptr_equal(take(&queue), &flood[3]);
    assert_null(job_queue_first(&queue));
    assert_null(queue.shares);
}

static void idle_time_is_not_saved_up(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job_share shares[2] = {0};
    struct job busy[20] = {0};
    struct job back[20] = {0};
    for (int i = 0; i < 20; i++) {
        busy[i].vertex_count = back[i].vertex_count = 500;
        job_queue_push(&queue, &shares[0], &busy[i]);
    }
    for (int i = 0; i < 10; i++) {
        assert_ptr_equal(take(&queue), &busy[i]);
    }
    for (int i = 0; i < 20; i++) {
        job_queue_push(&queue, &shares[1], &back[i]);
    }
    int of_back = 0;
    for (int i = 0; i < 10; i++) {
        const struct job *job = take(&queue);
        assert_null(job->share);
        of_back += job >= back && job < back + 20;
    }
    assert_in_range(of_back, 5, 6);
}

static void seconds_ahead_are_those_of_the_turns_of_others_too(void **state)
{
    (void)state;
    struct job_queue queue = {.pace_s = {[KIND_I4] = 1}};
    struct job_share shares[2] = {0};
    struct job flood[9] = {0};
    struct job own[3] = {0};
    for (int i = 0; i < 9; i++) {
        flood[i] = (struct job){.vertex_count = 2, .kind = KIND_I4};
        job_queue_push(&queue, &shares[0], &flood[i]);
    }
    for (int i = 0; i < 3; i++) {
        own[i] = (struct job){.vertex_count = 2, .kind = KIND_I4};
        job_queue_push(&queue, &shares[1], &own[i]);
    }
    assert_true(job_queue_seconds_ahead(&queue, &own[0]) == 0);
    assert_true(job_queue_seconds_ahead(&queue, &own[2]) == 16 + 16);
    assert_true(job_queue_seconds_ahead(&queue, &flood[8]) == 64 + 24);
    assert_int_equal(job_queue_position(&queue, &flood[8]), 8 + 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_back_from_its_row),
        cmocka_unit_test(a_report_that_is_none_is_corrupt),
        cmocka_unit_test(progress_and_the_time_left_are_those_of_the_state),
        TEST(a_job_is_found_by_its_id_and_its_key),
        TEST(a_key_of_one_tenant_is_not_that_of_another),
        TEST(the_jobs_of_a_graph_are_found_newest_first),
        TEST(jobs_without_a_key_are_not_found_by_the_empty_key),
        TEST(a_job_not_accepted_is_found_by_its_key_alone),
        TEST(a_removed_job_is_not_found),
        TEST(the_order_of_creation_survives_removals),
        TEST(an_id_too_long_to_be_one_is_not_found),
        cmocka_unit_test(an_empty_queue_gives_nothing),
        cmocka_unit_test(equal_priorities_leave_in_the_order_they_came),
        cmocka_unit_test(a_higher_priority_overtakes),
        cmocka_unit_test(what_is_too_large_is_passed),
        cmocka_unit_test(a_removed_job_leaves_the_others_in_order),
        cmocka_unit_test(a_position_counts_the_jobs_that_come_before),
        cmocka_unit_test(a_position_is_right_along_a_long_line),
        cmocka_unit_test(the_first_stays_until_it_is_taken),
        cmocka_unit_test(shares_take_turns_by_what_they_were_served),
        cmocka_unit_test(idle_time_is_not_saved_up),
        cmocka_unit_test(seconds_ahead_are_those_of_the_turns_of_others_too),
        cmocka_unit_test(what_is_ahead_takes_its_time),
        cmocka_unit_test(what_comes_before_is_counted_right_whatever_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
