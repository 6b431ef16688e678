#include "server/job/job_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
    struct job jobs[3] = {0};
    for (int i = 0; i < 3; i++) {
        job_queue_push(&queue, &jobs[i]);
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
    struct job low = {.priority = 0};
    struct job middle = {.priority = 5};
    struct job high = {.priority = 9};
    job_queue_push(&queue, &middle);
    job_queue_push(&queue, &low);
    job_queue_push(&queue, &high);
    assert_ptr_equal(pop(&queue), &high);
    assert_ptr_equal(pop(&queue), &middle);
    assert_ptr_equal(pop(&queue), &low);
}

static void a_removed_job_leaves_the_others_in_order(void **state)
{
    (void)state;
    for (int removed = 0; removed < 3; removed++) {
        struct job_queue queue = {0};
        struct job jobs[3] = {0};
        for (int i = 0; i < 3; i++) {
            job_queue_push(&queue, &jobs[i]);
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
    struct job first = {.priority = 1};
    struct job second = {.priority = 1};
    struct job urgent = {.priority = 2};
    struct job idle = {.priority = 0};
    job_queue_push(&queue, &first);
    job_queue_push(&queue, &second);
    job_queue_push(&queue, &urgent);
    job_queue_push(&queue, &idle);
    assert_int_equal(job_queue_position(&queue, &urgent), 0);
    assert_int_equal(job_queue_position(&queue, &first), 1);
    assert_int_equal(job_queue_position(&queue, &second), 2);
    assert_int_equal(job_queue_position(&queue, &idle), 3);
}

static void a_position_is_right_along_a_long_line(void **state)
{
    (void)state;
    struct job_queue queue = {0};
    struct job jobs[9] = {0};
    struct job urgent[2] = {{.priority = 1}, {.priority = 1}};
    for (int i = 0; i < 9; i++) {
        job_queue_push(&queue, &jobs[i]);
    }
    job_queue_push(&queue, &urgent[0]);
    job_queue_push(&queue, &urgent[1]);
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
    struct job job = {0};
    assert_null(job_queue_first(&queue));
    job_queue_push(&queue, &job);
    assert_ptr_equal(job_queue_first(&queue), &job);
    assert_ptr_equal(pop(&queue), &job);
    assert_null(job_queue_first(&queue));
}

static void what_is_ahead_takes_its_time(void **state)
{
    (void)state;
    const double pace_s[KIND_COUNT] = {[KIND_I4] = 1, [KIND_F8] = 3};
    struct job_queue queue = {0};
    struct job first = {.kind = KIND_I4, .vertex_count = 2};
    struct job second = {.kind = KIND_F8, .vertex_count = 2};
    struct job last = {.kind = KIND_I4, .vertex_count = 7};
    struct job high = {.kind = KIND_I4, .vertex_count = 3, .priority = 1};
    job_queue_push(&queue, &first);
    job_queue_push(&queue, &second);
    job_queue_push(&queue, &last);
    job_queue_push(&queue, &high);
    assert_true(job_queue_seconds_ahead(&queue, &high, pace_s) == 0);
    assert_true(job_queue_seconds_ahead(&queue, &first, pace_s) == 27);
    assert_true(job_queue_seconds_ahead(&queue, &last, pace_s) == 27 + 8 + 24);
}

/* Against a walk, after each of many pushes and removals anywhere. */
static void what_comes_before_is_counted_right_whatever_leaves(void **state)
{
    (void)state;
    const double pace_s[KIND_COUNT] = {[KIND_I4] = 1, [KIND_U2] = 2, [KIND_F8] = 3};
    static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F8};
    enum { COUNT = 60 };
    struct job_queue queue = {0};
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
            job_queue_push(&queue, job);
        }
        queued[chosen] = !queued[chosen];
        uint32_t position = 0;
        double seconds = 0;
        for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
            for (const struct job *j = queue.lines[priority].first; j != NULL; j = j->behind) {
                if (step % 7 == 0 || position % 5 == 0) {
                    assert_int_equal(job_queue_position(&queue, j), position);
                    assert_true(job_queue_seconds_ahead(&queue, j, pace_s) == seconds);
                }
                position++;
                seconds += job_expected_s(j, pace_s);
            }
        }
        assert_int_equal(position, queue.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_queue_gives_nothing),
        cmocka_unit_test(equal_priorities_leave_in_the_order_they_came),
        cmocka_unit_test(a_higher_priority_overtakes),
        cmocka_unit_test(a_removed_job_leaves_the_others_in_order),
        cmocka_unit_test(a_position_counts_the_jobs_that_come_before),
        cmocka_unit_test(a_position_is_right_along_a_long_line),
        cmocka_unit_test(the_first_stays_until_it_is_taken),
        cmocka_unit_test(what_is_ahead_takes_its_time),
        cmocka_unit_test(what_comes_before_is_counted_right_whatever_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
