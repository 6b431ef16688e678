#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

#include <semaphore.h>

/* Work that occupies a pool thread until the test releases this thread. */
struct held_work {
    struct pool_work work; /* must be the first member */
    sem_t go;
    bool is_ended;
};

static void hold_thread(struct pool_work *work)
{
    while (sem_wait(&((struct held_work *)work)->go) != 0) {
    }
}

static void end_work(struct pool_work *work)
{
    ((struct held_work *)work)->is_ended = true;
}

static void queue_held(struct fixture *fixture, const char *tenant_name, enum pool_class class_,
                       struct held_work *held)
{
    struct tenant *tenant;
    assert_int_equal(tenant_find(scheduler_tenants(fixture->scheduler), tenant_name, &tenant),
                     STATUS_OK);
    *held = (struct held_work){.work = {.run = hold_thread, .then = end_work}};
    assert_int_equal(sem_init(&held->go, 0, 0), 0);
    pool_queue(fixture->scheduler, tenant, class_, &held->work);
}

static void let_go(struct fixture *fixture, struct held_work *held)
{
    sem_post(&held->go);
    run_until(fixture, &held->is_ended);
    sem_destroy(&held->go);
}

SCHEDULER_TEST(uploads_of_one_tenant_leave_threads_for_other_tenants)
{
    struct held_work large[4];
    struct held_work small;
    scheduler_share_queue(fixture->scheduler, 2);
    for (size_t i = 0; i < 4; i++) {
        queue_held(fixture, "busy", POOL_UPLOAD, &large[i]);
    }
    assert_int_equal(large[0].work.tenant->pool.running[POOL_UPLOAD], 2);
    queue_held(fixture, "other", POOL_UPLOAD, &small);
    let_go(fixture, &small);
    for (size_t i = 0; i < 4; i++) {
        assert_false(large[i].is_ended);
    }
    for (size_t i = 0; i < 4; i++) {
        let_go(fixture, &large[i]);
    }
    assert_true(pool_is_idle(&fixture->scheduler->pool));
}

SCHEDULER_TEST(uploads_of_the_only_tenant_may_use_all_threads)
{
    struct held_work large[5];
    for (size_t i = 0; i < 5; i++) {
        queue_held(fixture, "busy", POOL_UPLOAD, &large[i]);
    }
    assert_int_equal(large[0].work.tenant->pool.running[POOL_UPLOAD], 4);
    assert_false(pool_is_free(fixture->scheduler, large[0].work.tenant, POOL_UPLOAD));
    for (size_t i = 0; i < 5; i++) {
        let_go(fixture, &large[i]);
    }
}

SCHEDULER_TEST(the_tenant_served_least_recently_is_next)
{
    struct held_work first;
    struct held_work waiting[2];
    struct held_work other[2];
    scheduler_share_queue(fixture->scheduler, 3);
    queue_held(fixture, "other", POOL_STORED, &other[0]);
    queue_held(fixture, "busy", POOL_STORED, &first);
    queue_held(fixture, "busy", POOL_STORED, &waiting[0]);
    queue_held(fixture, "busy", POOL_STORED, &waiting[1]);
    queue_held(fixture, "other", POOL_STORED, &other[1]);
    let_go(fixture, &first);
    assert_int_equal(first.work.tenant->pool.running[POOL_STORED], 1);
    let_go(fixture, &other[0]);
    assert_int_equal(other[0].work.tenant->pool.running[POOL_STORED], 1);
    let_go(fixture, &waiting[0]);
    let_go(fixture, &other[1]);
    let_go(fixture, &waiting[1]);
}
