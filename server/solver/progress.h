/* The progress of a solve and its remaining time: the expected seconds of its phases, corrected by
 * the pace of the current phase.
 *
 * The solving thread writes a struct progress and any thread reads it, also in memory shared with a
 * process that may be faulty: whatever the values are, the remaining time is finite. */
#pragma once

#include "proto/solve.h"

#include <stdatomic.h>

/* Maximum share that is shown before the solve has ended. */
#define PROGRESS_SHARE_MAX 0.999

struct progress {
    _Atomic double begun_at_s; /* in monotonic time; 0 = not started */
    _Atomic double expected_s[PHASE_COUNT];
    atomic_uint phase;
    _Atomic double phase_at_s; /* time when the phase began, or when its short first step ended */
    _Atomic double phase_from; /* share done at phase_at_s; a reader may see a newer value */
    _Atomic double share;      /* share of the phase that was done at told_at_s */
    _Atomic double told_at_s;
    _Atomic double shown; /* largest share that progress_share has returned */
};

/* These two functions implement the calls of an observer. The first call of progress_expect starts
 * the solve. A share of 0, or a smaller share than before, restarts the phase. */
void progress_expect(struct progress *progress, const double seconds[PHASE_COUNT], double now_s);
void progress_tell(struct progress *progress, enum solve_phase phase, double share, double now_s);

enum solve_phase progress_phase(const struct progress *progress);
/* Returns the seconds until the last phase ends; below 0 = the solve has not started. */
double progress_left_s(const struct progress *progress, double now_s);
/* Returns the elapsed share of the total time: below 1, and never below the previous value. */
double progress_share(struct progress *progress, double now_s);
