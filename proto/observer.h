/* How a solver tells of its progress and hears of a cancel: looked at between rounds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct observer {
    void *context;
    /* Called on the solving thread after each round. */
    void (*progress)(void *context, uint32_t rounds_done, uint32_t rounds_total);
    /* True when the solve should stop: it then ends with STATUS_CANCELLED within one round, or, on
     * a device whose rounds are shorter than a millisecond, within a few milliseconds. */
    bool (*cancelled)(void *context);
};

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
