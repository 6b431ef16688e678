/* What the HTTP threads may know without asking the loop: whether new work is taken, and how large
 * it may be. Atomics, written by the loop, read anywhere. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct admission {
    atomic_bool ready;            /* a worker has opened its solver */
    atomic_bool draining;         /* no new jobs; readiness is 503 */
    atomic_bool full;             /* the disk: nothing new is taken, questions are answered */
    atomic_ullong promised_bytes; /* of the disk's free ones: to jobs, and kept for the catalogue */
    /* Likewise, for what is written without another look: also to jobs that run and have no file
     * yet. */
    atomic_ullong kept_bytes;
    atomic_uint queue_free;        /* jobs that the queue still takes */
    atomic_uint retry_after_s;     /* when it is full: a guess at when it is not */
    atomic_uint_fast64_t poisoned; /* jobs that failed as PoisonJob since the start */
    uint32_t vertex_limit;         /* fixed at start: no device holds more */
    uint64_t edge_limit;
    char limit_reason[160]; /* what sets vertex_limit, for the hint of the 413 */
};
