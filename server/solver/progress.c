#include "server/solver/progress.h"

#include <math.h>

/* The expected pace is weighted like a measurement over this share of the phase. */
#define PRIOR_SHARE 0.01
/* If the first step is at most this share of a phase, it is not used to measure the pace, because
 * loading kernels makes it slow. */
#define FIRST_SHARE_MAX 0.02
/* An overdue step is assumed to need this share of its elapsed time in addition. */
#define OVERDUE_SHARE 0.25

void progress_expect(struct progress *progress, const double seconds[PHASE_COUNT], double now_s)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        progress->expected_s[phase] = seconds[phase];
    }
    if (progress->begun_at_s <= 0) {
        progress->phase_at_s = now_s;
        progress->told_at_s = now_s;
        progress->begun_at_s = now_s;
    }
}

void progress_tell(struct progress *progress, enum solve_phase phase, double share, double now_s)
{
    const bool is_first = progress->share <= 0 && share < FIRST_SHARE_MAX;
    if (phase != progress->phase || share <= 0 || share < progress->share || is_first) {
        progress->phase_at_s = now_s;
        progress->phase_from = is_first ? share : 0;
    }
    progress->share = share;
    progress->told_at_s = now_s;
    progress->phase = phase;
}

enum solve_phase progress_phase(const struct progress *progress)
{
    const unsigned phase = progress->phase;
    return phase < PHASE_COUNT ? (enum solve_phase)phase : PHASE_PLANNING;
}

double progress_left_s(const struct progress *progress, double now_s)
{
    const enum solve_phase phase = progress_phase(progress);
    const double share = progress->share;
    const double told_at_s = progress->told_at_s;
    const double since_s = now_s - told_at_s;
    const double passed_s =
        told_at_s - progress->phase_at_s + PRIOR_SHARE * progress->expected_s[phase];
    if (!(progress->begun_at_s > 0)) {
        return -1;
    }
    const double pace_s = passed_s / (fmax(share - progress->phase_from, 0) + PRIOR_SHARE);
    double left_s = fmax(pace_s * (1 - share) - since_s, OVERDUE_SHARE * since_s);
    for (unsigned later = phase + 1; later < PHASE_COUNT; later++) {
        left_s += progress->expected_s[later];
    }
    return left_s > 0 && isfinite(left_s) ? left_s : 0;
}

double progress_share(struct progress *progress, double now_s)
{
    const double passed_s = now_s - progress->begun_at_s;
    const double left_s = progress_left_s(progress, now_s);
    const double share = left_s >= 0 && passed_s > 0 ? passed_s / (passed_s + left_s) : 0;
    progress->shown = fmin(fmax(progress->shown, share), PROGRESS_SHARE_MAX);
    return progress->shown;
}
