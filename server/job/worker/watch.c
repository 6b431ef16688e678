#include "server/job/worker/watch.h"

#include <math.h>
#include <stddef.h>

#define GAP_FACTOR 20.0
#define HURRIED_S 5.0
#define ELAPSED_FACTOR 4.0
/* A dense plan has a round for every so many vertices, at most. */
#define ROUND_VERTICES_MAX 256

void worker_watch_begin(struct worker_watch *watch, double stall_s, double allowance_s)
{
    const uint32_t beats = watch->beats;
    *watch = (struct worker_watch){
        .stall_s = stall_s, .allowance_s = allowance_s, .beats = beats, .progress = UINT64_MAX};
}

void worker_watch_hurry(struct worker_watch *watch)
{
    watch->stall_s = fmin(watch->stall_s, HURRIED_S);
}

/* A number that changes with every step of the task. */
static uint64_t progress_of(const struct task_signal *signal)
{
    return (uint64_t)atomic_load(&signal->rounds_done) + atomic_load(&signal->rounds_total) +
           (atomic_load(&signal->begun_at_s) > 0 ? 1 : 0);
}

/* How long the task may go on without progress, as things are. */
static double limit_s(const struct worker_watch *watch, const struct task_signal *signal,
                      const struct task *task)
{
    const double among_s = fmax(watch->stall_s, GAP_FACTOR * watch->longest_gap_s);
    const uint32_t done = atomic_load(&signal->rounds_done);
    const uint32_t total = atomic_load(&signal->rounds_total);
    if (done == 0 || done >= total) {
        return fmax(among_s, watch->allowance_s);
    }
    const bool even = (uint64_t)total * ROUND_VERTICES_MAX >= task->vertex_count;
    return even ? among_s : fmax(among_s, ELAPSED_FACTOR * watch->elapsed_s);
}

static enum task_loss look_at_task(struct worker_watch *watch, const struct task_signal *signal,
                                   const struct task *task, double tick_s)
{
    const uint64_t progress = progress_of(signal);
    watch->elapsed_s += tick_s;
    watch->gap_s += tick_s;
    if (progress == watch->progress) {
        return watch->gap_s > limit_s(watch, signal, task) ? TASK_LOSS_STALLED : TASK_LOSS_NONE;
    }
    /* The gap before the first round tells nothing about the others. */
    if (atomic_load(&signal->rounds_done) > 1) {
        watch->longest_gap_s = fmax(watch->longest_gap_s, watch->gap_s - tick_s);
    }
    watch->progress = progress;
    watch->gap_s = 0;
    return TASK_LOSS_NONE;
}

enum task_loss worker_watch_tick(struct worker_watch *watch, const struct task_board *board,
                                 const struct task *task, double tick_s)
{
    const uint32_t beats = atomic_load(&board->beats);
    watch->silence_s = beats != watch->beats ? 0 : watch->silence_s + tick_s;
    watch->beats = beats;
    if (watch->silence_s > watch->stall_s) {
        return TASK_LOSS_SILENT;
    }
    if (task != NULL) {
        return look_at_task(watch, &board->signal, task, tick_s);
    }
    watch->elapsed_s += tick_s;
    return watch->allowance_s > 0 && watch->elapsed_s > fmin(watch->allowance_s, watch->stall_s)
               ? TASK_LOSS_STALLED
               : TASK_LOSS_NONE;
}
