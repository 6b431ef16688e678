/* The jobs that wait for a worker: highest priority first, then oldest. Holds pointers only; a job
 * is in at most one queue. Loop thread. */
#pragma once

#include "server/job/job.h"

#define PRIORITY_COUNT 10

struct job_line {
    struct job *first;
    struct job *last;
    uint32_t count;
    bool is_uneven; /* one has left its middle: the places behind it are to be counted anew */
};

/* Zeroed is empty. */
struct job_queue {
    struct job_line lines[PRIORITY_COUNT];
    uint32_t count;
};

void job_queue_push(struct job_queue *queue, struct job *job);
/* The next job, left in; NULL when empty. */
struct job *job_queue_first(const struct job_queue *queue);
/* The job must be in it. */
void job_queue_remove(struct job_queue *queue, struct job *job);
/* Jobs that come before this one. One step, here and below, but for the first question after a job
 * has left the middle of a line, which walks all of that. */
uint32_t job_queue_position(struct job_queue *queue, const struct job *job);
/* What they take in all, at these seconds per cubed vertex. */
double job_queue_seconds_ahead(struct job_queue *queue, const struct job *job,
                               const double pace_s[KIND_COUNT]);
