/* The jobs that wait for a worker. Each tenant has a share; of those that have jobs the one that
 * was served least comes next, by cubed vertices, which is time of the device: so a tenant that
 * floods the queue delays the others by its running job at most. Within a share: highest priority
 * first, then oldest. Holds pointers only; a job is in at most one queue. Loop thread, but for the
 * count of a share. */
#pragma once

#include "server/job/job.h"

/* Zeroed is empty. */
struct job_queue {
    struct job_share *shares; /* that have jobs */
    double served;            /* what the share served last had been served until then */
    uint32_t count;
};

void job_queue_push(struct job_queue *queue, struct job_share *share, struct job *job);
/* The next job, left in; NULL when empty. */
struct job *job_queue_first(const struct job_queue *queue);
/* The next one of no more vertices than the limit of its kind; those before it are passed, one step
 * for each. */
struct job *job_queue_first_within(const struct job_queue *queue,
                                   const uint32_t vertex_limit[KIND_COUNT]);
/* The job must be in it. */
void job_queue_remove(struct job_queue *queue, struct job *job);
/* The same for one that a worker takes: it counts as served. */
void job_queue_take(struct job_queue *queue, struct job *job);
/* Jobs that come before this one: exact while one share has jobs, else about. One step for each
 * share, here and below, but for the first question after a job has left the middle of a line,
 * which walks all of that. */
uint32_t job_queue_position(const struct job_queue *queue, const struct job *job);
/* The expected time of those jobs in all, given the seconds per cubed vertex of each kind. */
double job_queue_seconds_ahead(const struct job_queue *queue, const struct job *job,
                               const double pace_s[KIND_COUNT]);
