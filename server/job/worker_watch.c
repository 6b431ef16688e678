#include "server/job/worker_watch.h"

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

/* A number that changes with every step of any of the works. */
static uint64_t progress_of(const struct work_board *board, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct work_signal *signal = &board->signals[i];
        sum = sum * 31 + atomic_load(&signal->rounds_done) + atomic_load(&signal->rounds_total) +
              (atomic_load(&signal->begun_at_s) > 0 ? 1 : 0);
    }
    return sum;
}

/* How long the load may go on without progress, as things are. */
static double limit_s(const struct worker_watch *watch, const struct work_board *board,
                      const struct work *works, uint32_t count)
{
    const double among_s = fmax(watch->stall_s, GAP_FACTOR * watch->longest_gap_s);
    const uint32_t done = count == 1 ? atomic_load(&board->signals[0].rounds_done) : 0;
    const uint32_t total = count == 1 ? atomic_load(&board->signals[0].rounds_total) : 0;
    if (done == 0 || done >= total) {
        return fmax(among_s, watch->allowance_s);
    }
    const bool even = (uint64_t)total * ROUND_VERTICES_MAX >= works[0].vertex_count;
    return even ? among_s : fmax(among_s, ELAPSED_FACTOR * watch->elapsed_s);
}

static bool is_between_rounds(const struct work_board *board, uint32_t count)
{
    const uint32_t done = atomic_load(&board->signals[0].rounds_done);
    return count == 1 && done > 1;
}

static enum work_loss look_at_load(struct worker_watch *watch, const struct work_board *board,
                                   const struct work *works, uint32_t count, double tick_s)
{
    const uint64_t progress = progress_of(board, count);
    watch->elapsed_s += tick_s;
    watch->gap_s += tick_s;
    if (progress == watch->progress) {
        return watch->gap_s > limit_s(watch, board, works, count) ? WORK_LOSS_STALLED
                                                                  : WORK_LOSS_NONE;
    }
    if (is_between_rounds(board, count) || count > 1) {
        watch->longest_gap_s = fmax(watch->longest_gap_s, watch->gap_s - tick_s);
    }
    watch->progress = progress;
    watch->gap_s = 0;
    return WORK_LOSS_NONE;
}

enum work_loss worker_watch_tick(struct worker_watch *watch, const struct work_board *board,
                                 const struct work *works, uint32_t count, double tick_s)
{
    const uint32_t beats = atomic_load(&board->beats);
    watch->silence_s = beats != watch->beats ? 0 : watch->silence_s + tick_s;
    watch->beats = beats;
    if (watch->silence_s > watch->stall_s) {
        return WORK_LOSS_SILENT;
    }
    if (works != NULL) {
        return look_at_load(watch, board, works, count, tick_s);
    }
    watch->elapsed_s += tick_s;
    return watch->allowance_s > 0 && watch->elapsed_s > fmin(watch->allowance_s, watch->stall_s)
               ? WORK_LOSS_STALLED
               : WORK_LOSS_NONE;
}
