/* The queue of jobs waiting for a worker. Each tenant has a share of the queue; the next job comes
 * from the share served least so far, in cubed vertices, which measure device time (start-time fair
 * queueing). A tenant that floods the queue thus delays others by at most its running job. Within a
 * share the highest priority goes first, then the oldest job. The queue only borrows jobs; a job is
 * in at most one queue. Loop thread, except job_share.count. */
#pragma once

#include "proto/graph.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct job;

/* A number of jobs, and their total expected seconds. */
struct job_place {
    uint32_t number;
    double seconds;
};

#define PRIORITY_COUNT 10

TAILQ_HEAD(job_list, job);

/* A tenant's share. Zeroed = empty; `served` is the only state of an empty share. */
struct job_share {
    struct job_list lines[PRIORITY_COUNT]; /* indexed by priority; unset before the first job */
    atomic_uint count;
    struct job_place waiting; /* total of the share's jobs; valid while job_queue.is_counted */
    double served; /* cubed vertices served; raised to the queue's `served` after idle time */
    LIST_ENTRY(job_share) in_queue;
};

struct job_queue {
    LIST_HEAD(, job_share) shares; /* shares that have jobs, newest first */
    double served;                 /* `served` that the last served share had before that job */
    double pace_s[COST_COUNT];     /* by graph_cost: seconds per cubed vertex; 0 = unknown */
    uint32_t count;
    bool is_counted; /* whether `waiting` and job.before match the lines */
};

void queue_push(struct job_queue *queue, struct job_share *share, struct job *job);
/* Returns the next job within the vertex limit for its cost, if vertex_limit is not NULL. The job
 * stays in the queue; NULL if there is none. O(tenants + jobs skipped). */
struct job *queue_first(const struct job_queue *queue, const uint32_t vertex_limit[COST_COUNT]);
/* Removes a job, which must be in the queue. */
void queue_remove(struct job_queue *queue, struct job *job);
/* Removes a job that a worker starts, and charges it to the share. */
void queue_serve(struct job_queue *queue, struct job *job);
/* Returns the jobs and seconds before this job: exact with one tenant, else approximate. O(jobs)
 * after a change of the queue, else O(tenants). */
struct job_place queue_ahead(struct job_queue *queue, const struct job *job);
