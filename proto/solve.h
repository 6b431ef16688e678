/* Input and output of a solve: options, observer and account. Plain values owned by the caller. */
#pragma once

#include "proto/graph.h"
#include "proto/statistics.h"
#include "proto/verification.h"

#include <stdbool.h>
#include <stdint.h>

/* Options of one solve, except its plan and the kind of its matrix. All members may be zero. */
struct solve_options {
    /* The caller guarantees that no weight is below 0 and every finite distance is at most
     * NARROW_DISTANCE_MAX, so that a solver may compute an integer matrix in 16 bits. */
    bool narrow;
    /* The graph is undirected, so the matrix is symmetric, and computing half of it is enough. */
    bool symmetric;
    /* If scaling.decimals > 0, the solve computes integers of scaling.kind from integer weights.
     * The matrix is of kind f8 and holds these integers divided by 10^decimals. */
    struct scaling scaling;
};

/* Returns the kind in which the solver computes, to produce a matrix of this kind. */
static inline enum kind solve_computed_kind(const struct solve_options *options, enum kind kind)
{
    return options->scaling.decimals > 0 ? options->scaling.kind : kind;
}

/* The value for unreachable in 16 bits: 2^15-1, so that the sum of two such values fits a
 * uint16. */
#define NARROW_UNREACHABLE 32767
#define NARROW_DISTANCE_MAX (NARROW_UNREACHABLE - 1)

/* The phases of a solve, in order. */
enum solve_phase {
    PHASE_PLANNING = 0, /* planning, and everything else before the matrix is filled */
    PHASE_FILLING,      /* filling the matrix before the rounds; users see "solving" */
    PHASE_SOLVING,      /* running the rounds */
    PHASE_WRITING,      /* writing rows of the result */
    PHASE_CHECKING,     /* certificates and statistics that are computed after the rows */
    PHASE_PUBLISHING,   /* publishing the result, after the solve */
    PHASE_COUNT
};

/* Callbacks by which a solver reports progress and polls for cancellation, between rounds. */
struct observer {
    void *context;
    /* Called on the solving thread after each round of the plan. */
    void (*progress)(void *context, uint32_t rounds_done, uint32_t rounds_total);
    /* Returns true when the solve should stop. The solve then ends with STATUS_CANCELLED within one
     * round, or within milliseconds on a device with shorter rounds. */
    bool (*cancelled)(void *context);
    /* Reports the fraction of the phase that is done. tell and expect may be NULL. */
    void (*tell)(void *context, enum solve_phase phase, double share);
    /* Reports the seconds that each phase is expected to take, if known. */
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

/* Reports the progress of a solve whose rounds take about the same time. */
static inline void observer_tell_rounds(const struct observer *observer, uint32_t rounds_done,
                                        uint32_t rounds_total)
{
    if (observer != NULL && observer->progress != NULL) {
        observer->progress(observer->context, rounds_done, rounds_total);
    }
    observer_tell(observer, PHASE_SOLVING, (double)rounds_done / rounds_total);
}

/* Seconds spent in each phase of a job; 0 for a phase that did not happen. */
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

/* Largest number of devices that solve one graph together. */
#define SOLVE_DEVICES_MAX 16

/* Seconds that one device of a group spent on filling its rows, on rounds and on copying rows to
 * the host. The devices work at the same time. */
struct device_share {
    double fill_s; /* includes the copy of the edges to the device */
    double compute_s;
    double d2h_s;
};

/* Everything that a solver returns except the matrix. The caller zeroes it; solvers add to it. */
struct solve_account {
    struct timings timings; /* the solver sets fill_s, h2d_s, compute_s and d2h_s */
    uint32_t device_count;  /* number of devices in the group that solved it; 0: a single device */
    struct device_share devices[SOLVE_DEVICES_MAX];
    struct verification verification; /* verification of the matrix after the solve */
    /* The caller's storage for the statistics of the matrix. NULL: the solver computes none. */
    struct statistics *statistics;
    /* Whether the solver has filled in all statistics. Otherwise the caller computes them. */
    bool statistics_filled;
};

/* The arithmetic of a relaxation (an addition and a minimum), by element type. */
enum arithmetic {
    ARITHMETIC_I4 = 0, /* 32-bit integers */
    ARITHMETIC_NARROW, /* pairs of 16-bit integers */
    ARITHMETIC_F4,
    ARITHMETIC_F8,
    ARITHMETIC_COUNT
};
