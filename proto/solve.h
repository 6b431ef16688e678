/* Values that go into a solve and come out of it: options, observer, account, and the rates of the
 * device. Plain values; whoever calls the solver owns them. */
#pragma once

#include "proto/graph.h"
#include "proto/statistics.h"
#include "proto/verification.h"

#include <stdbool.h>
#include <stdint.h>

/* Options of one solve, beside the plan and the kind of its matrix. All zero: the distances and
 * nothing else. */
struct solve_options {
    /* Proven by the caller: no weight is below 0 and every finite distance is at most
     * NARROW_DISTANCE_MAX, so that a solver may compute an integer matrix in 16 bits. */
    bool narrow;
    /* The graph is undirected: the matrix is symmetric and half of it is enough to compute. */
    bool symmetric;
    /* With decimals the weights are integers, computed in its kind, and the matrix, f8, has their
     * sums divided by 10^decimals. */
    struct scaling scaling;
};

/* The kind in which a matrix of this kind is computed. */
static inline enum kind solve_computed_kind(const struct solve_options *options, enum kind kind)
{
    return options->scaling.decimals > 0 ? options->scaling.kind : kind;
}

/* 16-bit unreachable is 2^15-1, so that the sum of two still fits. */
#define NARROW_UNREACHABLE 32767
#define NARROW_DISTANCE_MAX (NARROW_UNREACHABLE - 1)

/* The phases of a solve, in their order. */
enum solve_phase {
    PHASE_PLANNING = 0, /* and all else before the matrix is filled */
    PHASE_FILLING,      /* the matrix, before the rounds: told as solving */
    PHASE_SOLVING,      /* rounds */
    PHASE_WRITING,      /* rows of the result */
    PHASE_CHECKING,     /* certificates and statistics that come after the rows */
    PHASE_PUBLISHING,   /* after the solve */
    PHASE_COUNT
};

/* How a solver tells of its progress and hears of a cancel: looked at between rounds. */
struct observer {
    void *context;
    /* Called on the solving thread after each round. */
    void (*progress)(void *context, uint32_t rounds_done, uint32_t rounds_total);
    /* True when the solve should stop: it then ends with STATUS_CANCELLED within one round, or, on
     * a device whose rounds are shorter than a millisecond, within a few milliseconds. */
    bool (*cancelled)(void *context);
    /* The share of the phase that is done; the phases before it are over. May be NULL, as may the
     * next. */
    void (*tell)(void *context, enum solve_phase phase, double share);
    /* The seconds that each phase is expected to take, as far as that is known by now. */
    void (*expect)(void *context, const double seconds[PHASE_COUNT]);
};

static inline bool observer_is_cancelled(const struct observer *observer)
{
    return observer != NULL && observer->cancelled(observer->context);
}

static inline void observer_tell(const struct observer *observer, enum solve_phase phase,
                                 double share)
{
    if (observer != NULL && observer->tell != NULL) {
        observer->tell(observer->context, phase, share);
    }
}

/* For rounds that take about as long as each other. */
static inline void observer_tell_rounds(const struct observer *observer, uint32_t rounds_done,
                                        uint32_t rounds_total)
{
    if (observer != NULL && observer->progress != NULL) {
        observer->progress(observer->context, rounds_done, rounds_total);
    }
    observer_tell(observer, PHASE_SOLVING, (double)rounds_done / rounds_total);
}

/* Seconds spent in each phase of a job; a phase that did not happen is 0. */
struct timings {
    double queue_s;
    double parse_s;
    double fill_s;
    double h2d_s;
    double compute_s;
    double d2h_s;
    double write_s;
    double total_s;
};

/* Devices that solve one graph together. */
#define SOLVE_DEVICES_MAX 16

/* Seconds of one of them: filling its rows, its rounds, and its way out, other devices being at
 * work at the same time. */
struct device_share {
    double fill_s; /* and the edges' way in */
    double compute_s;
    double d2h_s;
};

/* Account of one solve: all that a solver returns beside the matrix. Zero it before; solvers add to
 * it. */
struct solve_account {
    struct timings timings; /* fill_s, h2d_s, compute_s, d2h_s are the solver's */
    uint32_t device_count;  /* of a group that solved it together; 0: one did */
    struct device_share devices[SOLVE_DEVICES_MAX];
    struct verification verification; /* of the matrix, after the solve */
    /* Storage of the caller, for the matrix of the solve; NULL = not wanted. */
    struct statistics *statistics;
    /* The solver has filled them, all of them: it may also leave them to whoever called it. */
    bool statistics_filled;
};

/* The arithmetic of a relaxation, add and minimum, by the type that it runs on. */
enum arithmetic {
    ARITHMETIC_I4 = 0, /* 32-bit integers */
    ARITHMETIC_NARROW, /* pairs of 16-bit integers */
    ARITHMETIC_F4,
    ARITHMETIC_F8,
    ARITHMETIC_COUNT
};
