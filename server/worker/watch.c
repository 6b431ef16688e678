#include "server/worker/watch.h"

#include <math.h>

#define HURRIED_S 5.0

void worker_watch_begin(struct worker_watch *watch, double stall_s, double allowance_s)
{
    *watch = (struct worker_watch){.stall_s = stall_s,
                                   .allowance_s = allowance_s,
                                   .is_hurried = watch->is_hurried,
                                   .heartbeats = watch->heartbeats,
                                   .progress = UINT64_MAX};
}

void worker_watch_idle(struct worker_watch *watch, double stall_s)
{
    worker_watch_begin(watch, stall_s, -1);
}

/* Returns a number that changes with each round and at the start of the solve. */
static uint64_t count_progress(const struct task_signal *signal)
{
    return (uint64_t)atomic_load(&signal->rounds_done) + atomic_load(&signal->rounds_total) +
           (atomic_load(&signal->progress.begun_at_s) > 0 ? 1 : 0);
}

enum task_loss worker_watch_tick(struct worker_watch *watch, const struct worker_shared *shared,
                                 double tick_s)
{
    const uint32_t heartbeats = atomic_load(&shared->heartbeats);
    const double stall_s = watch->is_hurried ? fmin(watch->stall_s, HURRIED_S) : watch->stall_s;
    watch->silence_s = heartbeats != watch->heartbeats ? 0 : watch->silence_s + tick_s;
    watch->heartbeats = heartbeats;
    /* Between tasks the loop thread writes the signal, so it is not read here. */
    if (watch->silence_s > stall_s || watch->allowance_s < 0) {
        return watch->silence_s > stall_s ? TASK_LOSS_SILENT : TASK_LOSS_NONE;
    }
    const uint64_t progress = count_progress(&shared->signal);
    watch->round_s = progress != watch->progress ? 0 : watch->round_s + tick_s;
    watch->progress = progress;
    return watch->round_s > fmax(stall_s, watch->allowance_s) ? TASK_LOSS_STALLED : TASK_LOSS_NONE;
}
