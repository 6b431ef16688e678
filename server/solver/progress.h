/* How far a solve is and how long it will still take: the expected seconds of its phases, corrected
 * by the pace of the one in hand.
 *
 * Written by the thread that solves and read by any other, also by way of memory that is shared
 * with a process that may be broken: whatever stands there, the time left is a finite number. */
#pragma once

#include "proto/solve.h"

#include <stdatomic.h>

/* Shown at most, as long as there is something left to do. */
#define PROGRESS_SHARE_MAX 0.999

struct progress {
    _Atomic double begun_at_s; /* monotonic; 0 = not yet */
    _Atomic double expected_s[PHASE_COUNT];
    atomic_uint phase;
    _Atomic double phase_at_s; /* when it began, but for a first short step, */
    _Atomic double phase_from; /* and the share done by then: to a reader it may be the newer */
    _Atomic double share;      /* of the phase, done at told_at_s */
    _Atomic double told_at_s;
    _Atomic double shown; /* the largest share of the whole that was asked for */
};

/* Calls of an observer, of which the first begins the solve. A share of 0, or less than before,
 * begins the phase anew. */
void progress_expect(struct progress *progress, const double seconds[PHASE_COUNT], double now_s);
void progress_tell(struct progress *progress, enum solve_phase phase, double share, double now_s);

enum solve_phase progress_phase(const struct progress *progress);
/* Seconds until the last phase ends; below 0 = not begun. */
double progress_left_s(const struct progress *progress, double now_s);
/* The share of the whole time that has passed, by the time left: less than 1, and never less than
 * it was. */
double progress_share(struct progress *progress, double now_s);
