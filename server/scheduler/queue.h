/* The queue: the jobs that wait for a worker, and which of them is next among tenants and
 * priorities. Each tenant has a share of the queue. The next job comes from the share that was
 * served least among those that have jobs, by cubed vertices, which is time of the device: a tenant
 * that floods the queue delays the others by its running job at most. Within a share the highest
 * priority goes first, then the oldest job. The queue holds pointers only; a job is in at most one
 * queue. Loop thread, but for the count of a share. */
#pragma once

#include "proto/graph.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct job;

/* The jobs before a place, and their expected time. The place of a job in its line counts from some
 * earlier job, perhaps long gone, so only the difference between two of them has a meaning. */
struct job_place {
    uint64_t number;
    double seconds;
};

#define PRIORITY_COUNT 10

TAILQ_HEAD(job_list, job);

struct job_line {
    struct job_list jobs; /* not initialised until the first job comes */
    uint32_t count;
    bool is_uneven; /* one has left its middle: the places behind it are to be counted anew */
};

/* Zeroed is empty; so it is while it has no jobs, but for what it was served. */
struct job_share {
    struct job_line lines[PRIORITY_COUNT];
    atomic_uint count;
    double served; /* cubed vertices, as if it had never been idle */
    LIST_ENTRY(job_share) in_queue;
};

struct job_queue {
    LIST_HEAD(, job_share) shares; /* that have jobs, the newest first */
    double served;                 /* what the share served last had been served until then */
    double pace_s[COST_COUNT];     /* by graph_cost: seconds per cubed vertex; 0 = not known */
    uint32_t count;
};

void queue_push(struct job_queue *queue, struct job_share *share, struct job *job);
/* The next job, left in; NULL when empty. */
struct job *queue_first(const struct job_queue *queue);
/* The next one of no more vertices than the limit of its cost; those before it are passed, one step
 * for each. */
struct job *queue_first_within(const struct job_queue *queue,
                               const uint32_t vertex_limit[COST_COUNT]);
/* The job must be in it. */
void queue_remove(struct job_queue *queue, struct job *job);
/* The same for one that a worker takes: it counts as served. */
void queue_serve(struct job_queue *queue, struct job *job);
/* The jobs that come before this one: exact while one share has jobs, else about. One step for each
 * priority of a share, but for the first question after a job has left the middle of a line, which
 * walks all of that. */
struct job_place queue_ahead(const struct job_queue *queue, const struct job *job);
