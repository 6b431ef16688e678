#include "server/solver/progress.h"
#include "tests/lib/test.h"

#include <math.h>

/* Number of times that each phase reports its progress. The estimate is queried as often. */
#define STEPS 50
#define BEGUN_AT_S 1000.0

static const double expected[PHASE_COUNT] = {0.2, 20, 2, 1, 0.1};

struct course {
    double real_s[PHASE_COUNT];
    double whole_s;
    double worst; /* largest factor between the real and the estimated remaining time */
    double shown;
};

/* Queries the estimate of the remaining time and compares it with the real remaining time. */
static void ask(struct progress *progress, struct course *course, double at_s, bool counts)
{
    const double left_s = course->whole_s - (at_s - BEGUN_AT_S);
    const double told_s = progress_left_s(progress, at_s);
    const double share = progress_share(progress, at_s);
    assert_true(share >= course->shown && share < 1);
    course->shown = share;
    if (counts && at_s - BEGUN_AT_S >= 0.1 * course->whole_s && left_s > 0.02 * course->whole_s) {
        course->worst = fmax(course->worst, fmax(told_s / left_s, left_s / told_s));
    }
}

/* Runs all phases, one of which takes `factor` times its expected time. The module can notice this
 * only after the phase has begun, so the test ignores estimates before the phase's second tenth. */
static struct course run(enum solve_phase wrong, double factor)
{
    struct progress progress = {0};
    struct course course = {0};
    double at_s = BEGUN_AT_S;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        course.real_s[phase] = expected[phase] * (phase == (int)wrong ? factor : 1);
        course.whole_s += course.real_s[phase];
    }
    progress_expect(&progress, expected, at_s);
    for (unsigned phase = 0; phase < PHASE_COUNT; phase++) {
        const double step_s = course.real_s[phase] / STEPS;
        for (int step = 0; step < STEPS; step++) {
            if (phase != PHASE_PLANNING && phase != PHASE_PUBLISHING) {
                progress_tell(&progress, phase, (double)step / STEPS, at_s);
            } else if (step == 0) {
                progress_tell(&progress, phase, 0, at_s);
            }
            at_s += step_s;
            ask(&progress, &course, at_s,
                wrong == PHASE_COUNT || phase > wrong || (phase == wrong && step > STEPS / 10));
        }
    }
    return course;
}

TEST(an_accurate_model_predicts_the_remaining_time)
{
    assert_true(run(PHASE_COUNT, 1).worst < 1.1);
}

TEST(a_wrong_model_is_corrected_within_a_tenth_of_the_phase)
{
    for (enum solve_phase phase = PHASE_SOLVING; phase < PHASE_PUBLISHING; phase++) {
        assert_true(run(phase, 4).worst < 1.5);
        assert_true(run(phase, 0.25).worst < 1.5);
    }
}

TEST(the_remaining_time_does_not_depend_on_a_single_slow_step)
{
    struct progress progress = {0};
    const double seconds[PHASE_COUNT] = {[PHASE_WRITING] = 4};
    progress_expect(&progress, seconds, 100);
    progress_tell(&progress, PHASE_WRITING, 0, 100);
    progress_tell(&progress, PHASE_WRITING, 0.01, 101);
    assert_true(fabs(progress_left_s(&progress, 101) - 3.96) < 1e-6);
    progress_tell(&progress, PHASE_WRITING, 0.02, 101.04);
    assert_true(fabs(progress_left_s(&progress, 101.04) - 3.92) < 1e-6);
    progress_tell(&progress, PHASE_WRITING, 0, 102);
    progress_tell(&progress, PHASE_WRITING, 0.5, 104);
    assert_true(fabs(progress_left_s(&progress, 104) - 2) < 1e-6);
}

TEST(an_overdue_step_still_has_remaining_time)
{
    struct progress progress = {0};
    const double seconds[PHASE_COUNT] = {[PHASE_SOLVING] = 4};
    assert_true(progress_left_s(&progress, 1) < 0);
    progress_expect(&progress, seconds, 100);
    progress_tell(&progress, PHASE_SOLVING, 0, 100);
    assert_true(progress_left_s(&progress, 101) == 3);
    assert_true(progress_left_s(&progress, 140) == 10);
    assert_true(progress_share(&progress, 140) < 1);
}

TEST(a_repeated_phase_does_not_lower_progress)
{
    struct progress progress = {0};
    const double seconds[PHASE_COUNT] = {[PHASE_SOLVING] = 4};
    progress_expect(&progress, seconds, 100);
    progress_tell(&progress, PHASE_SOLVING, 0, 100);
    progress_tell(&progress, PHASE_SOLVING, 0.75, 103);
    const double shown = progress_share(&progress, 103);
    assert_true(fabs(shown - 0.75) < 1e-6);
    progress_tell(&progress, PHASE_SOLVING, 0, 103);
    assert_true(progress_left_s(&progress, 103) == 4);
    assert_true(progress_share(&progress, 104) == shown);
}

/* The values come from a worker process. A broken worker process may send any values. */
TEST(the_remaining_time_is_finite_for_any_values)
{
    const double wild[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e308};
    const size_t count = sizeof(wild) / sizeof(wild[0]);
    for (size_t i = 0; i < count * count; i++) {
        struct progress progress = {.begun_at_s = 1,
                                    .phase = 77,
                                    .share = wild[i % count],
                                    .told_at_s = wild[i / count],
                                    .expected_s[PHASE_SOLVING] = wild[i % count],
                                    .shown = wild[i / count]};
        assert_true(progress_phase(&progress) == PHASE_PLANNING);
        const double left_s = progress_left_s(&progress, 5);
        assert_true(left_s >= 0 && isfinite(left_s));
        const double share = progress_share(&progress, 5);
        assert_true(share >= 0 && share < 1);
    }
}
