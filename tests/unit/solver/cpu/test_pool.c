#include "server/solver/cpu/pool.h"
#include "tests/lib/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define TASKS 1000

struct tally {
    atomic_uint runs[TASKS];
    atomic_uint by_thread[4];
    uint32_t plain; /* not atomic: the end of a loop must make all writes visible */
    pthread_t caller;
    atomic_bool foreign;
};

static void count_task(void *context, uint32_t thread, uint64_t task)
{
    struct tally *tally = context;
    atomic_fetch_add(&tally->runs[task], 1);
    atomic_fetch_add(&tally->by_thread[thread], 1);
    if ((thread == 0) != (pthread_equal(pthread_self(), tally->caller) != 0)) {
        atomic_store(&tally->foreign, true);
    }
}

TEST(every_task_runs_once)
{
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        struct cpu_pool *pool = NULL;
        struct tally tally = {.caller = pthread_self()};
        assert_int_equal(cpu_pool_create(threads, &pool), STATUS_OK);
        assert_int_equal(cpu_pool_threads(pool), threads);
        for (uint32_t loop = 1; loop <= 50; ++loop) {
            cpu_pool_run(pool, TASKS, count_task, &tally);
            assert_int_equal(tally.runs[0], loop);
            assert_int_equal(tally.runs[TASKS - 1], loop);
        }
        for (uint32_t task = 0; task < TASKS; ++task) {
            assert_int_equal(tally.runs[task], 50);
        }
        assert_false(tally.foreign);
        cpu_pool_destroy(pool);
    }
}

TEST(a_single_task_runs_on_the_calling_thread)
{
    struct cpu_pool *pool = NULL;
    struct tally tally = {.caller = pthread_self()};
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    for (uint32_t loop = 0; loop < 100; ++loop) {
        cpu_pool_run(pool, 1, count_task, &tally);
    }
    assert_int_equal(tally.by_thread[0], 100);
    assert_int_equal(tally.by_thread[1], 0);
    cpu_pool_destroy(pool);
}

/* A barrier that makes the loop end only if all threads run tasks at the same time. */
struct meeting {
    pthread_barrier_t barrier;
};

static void meet(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    (void)task;
    pthread_barrier_wait(&((struct meeting *)context)->barrier);
}

TEST(all_threads_run_concurrently)
{
    struct cpu_pool *pool = NULL;
    struct meeting meeting;
    pthread_barrier_init(&meeting.barrier, NULL, 3);
    assert_int_equal(cpu_pool_create(3, &pool), STATUS_OK);
    for (uint32_t loop = 0; loop < 20; ++loop) {
        cpu_pool_run(pool, 3, meet, &meeting);
    }
    cpu_pool_destroy(pool);
    pthread_barrier_destroy(&meeting.barrier);
}

static void write_plain(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    if (task == TASKS - 1) {
        ((struct tally *)context)->plain += 1;
    }
}

TEST(writes_of_tasks_are_visible_to_the_caller_and_the_next_loop)
{
    struct cpu_pool *pool = NULL;
    struct tally tally = {.caller = pthread_self()};
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    for (uint32_t loop = 1; loop <= 200; ++loop) {
        cpu_pool_run(pool, TASKS, write_plain, &tally);
        assert_int_equal(tally.plain, loop);
    }
    cpu_pool_destroy(pool);
}

TEST(an_empty_loop_runs_no_task)
{
    struct cpu_pool *pool = NULL;
    struct tally tally = {.caller = pthread_self()};
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    cpu_pool_run(pool, 0, count_task, &tally);
    assert_int_equal(tally.runs[0], 0);
    cpu_pool_destroy(pool);
    cpu_pool_destroy(NULL);
}

TEST(the_core_count_follows_the_cpu_affinity)
{
    cpu_set_t all;
    cpu_set_t one;
    assert_true(cpu_pool_cores() >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(cpu_pool_cores(), CPU_COUNT(&all));
    size_t first = 0;
    while (!CPU_ISSET(first, &all)) {
        ++first;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(cpu_pool_cores(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}
