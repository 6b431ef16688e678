#include "server/worker/watch.h"
#include "tests/lib/test.h"

static struct worker_shared shared;
static struct worker_watch watch;

static int reset(void **state)
{
    shared = (struct worker_shared){0};
    watch = (struct worker_watch){0};
    return 0;
}

/* Returns how many one-second ticks pass until the process counts as lost (at most 10,000). */
static unsigned ticks_until_lost(bool with_heartbeats, enum task_loss *ret_loss)
{
    unsigned ticks = 0;
    do {
        atomic_fetch_add(&shared.heartbeats, with_heartbeats ? 1 : 0);
        *ret_loss = worker_watch_tick(&watch, &shared, 1);
        ticks++;
    } while (*ret_loss == TASK_LOSS_NONE && ticks < 10000);
    return ticks;
}

static void expect(bool with_heartbeats, enum task_loss loss, unsigned ticks)
{
    enum task_loss found;
    assert_int_equal(ticks_until_lost(with_heartbeats, &found), ticks);
    assert_int_equal(found, loss);
}

static void report(uint32_t done, uint32_t total)
{
    atomic_store(&shared.signal.rounds_done, done);
    atomic_store(&shared.signal.rounds_total, total);
}

TEST_WITH(a_silent_process_counts_as_lost_with_and_without_a_task, reset, NULL)
{
    worker_watch_begin(&watch, 10, 1000);
    expect(false, TASK_LOSS_SILENT, 11);
    worker_watch_idle(&watch, 10);
    expect(false, TASK_LOSS_SILENT, 11);
}

TEST_WITH(an_idle_process_only_has_to_send_heartbeats, reset, NULL)
{
    worker_watch_idle(&watch, 10);
    expect(true, TASK_LOSS_NONE, 10000);
}

TEST_WITH(a_round_may_take_the_longer_of_the_allowance_and_the_stall_time, reset, NULL)
{
    /* The first tick sees new progress, so the time of the round starts at that tick. */
    worker_watch_begin(&watch, 10, 100);
    expect(true, TASK_LOSS_STALLED, 102);
    worker_watch_begin(&watch, 10, 3);
    expect(true, TASK_LOSS_STALLED, 12);
}

TEST_WITH(each_round_has_the_whole_deadline, reset, NULL)
{
    worker_watch_begin(&watch, 10, 0);
    for (uint32_t round = 1; round < 100; round++) {
        report(round, 100);
        for (int tick = 0; tick < 10; tick++) {
            atomic_fetch_add(&shared.heartbeats, 1);
            assert_int_equal(worker_watch_tick(&watch, &shared, 1), TASK_LOSS_NONE);
        }
    }
    expect(true, TASK_LOSS_STALLED, 2);
}

TEST_WITH(a_shutdown_shortens_the_stall_time_but_not_the_allowance, reset, NULL)
{
    worker_watch_begin(&watch, 10, 0);
    watch.is_hurried = true;
    expect(true, TASK_LOSS_STALLED, 7);
    worker_watch_begin(&watch, 2, 0);
    expect(true, TASK_LOSS_STALLED, 4);
    worker_watch_begin(&watch, 10, 100);
    expect(true, TASK_LOSS_STALLED, 102);
}
