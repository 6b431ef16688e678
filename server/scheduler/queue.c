#include "server/scheduler/queue.h"

#include "server/scheduler/jobs.h"

#include <math.h>

/* Cost of a hierarchy per vertex, in the same unit as the cost n^3 of a matrix. */
#define HIERARCHY_STEPS 1e5

/* Minimum cost of a job, because even a tiny graph is moved to a device and back. */
#define CUBES_MIN (64.0 * 64 * 64)

/* Returns the cost of a job in cubed vertices. */
static double cubes_of(const struct job *job)
{
    const double n = job->vertex_count;
    return job->report.result.form == RESULT_FORM_HIERARCHY ? n * HIERARCHY_STEPS : n * n * n;
}

static struct job_list *line_of(const struct job *job)
{
    CHECK(job->row.priority >= 0 && job->row.priority < PRIORITY_COUNT);
    return &job->share->lines[job->row.priority];
}

void queue_push(struct job_queue *queue, struct job_share *share, struct job *job)
{
    job->share = share;
    job->expected_s = cubes_of(job) * queue->pace_s[job->cost];
    struct job_list *line = line_of(job);
    if (atomic_fetch_add(&share->count, 1) == 0) {
        /* A tenant earns no credit while it has no jobs. */
        share->served = share->served < queue->served ? queue->served : share->served;
        LIST_INSERT_HEAD(&queue->shares, share, in_queue);
    }
    if (TAILQ_EMPTY(line)) {
        TAILQ_INIT(line);
    }
    TAILQ_INSERT_TAIL(line, job, in_line);
    queue->count++;
    queue->is_counted = false;
}

static struct job *first_of(const struct job_share *share, const uint32_t vertex_limit[COST_COUNT])
{
    for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
        struct job *job;
        TAILQ_FOREACH(job, &share->lines[priority], in_line)
        {
            /* A hierarchy is computed by the host, so the device's limit does not apply. */
            if (vertex_limit == NULL || job->report.result.form == RESULT_FORM_HIERARCHY ||
                job->vertex_count <= vertex_limit[job->cost]) {
                return job;
            }
        }
    }
    return NULL;
}

struct job *queue_first(const struct job_queue *queue, const uint32_t vertex_limit[COST_COUNT])
{
    const struct job_share *least = NULL;
    const struct job_share *share;
    struct job *first = NULL;
    LIST_FOREACH(share, &queue->shares, in_queue)
    {
        /* The list is newest first, so <= gives a tie to the oldest share. */
        struct job *job =
            least == NULL || share->served <= least->served ? first_of(share, vertex_limit) : NULL;
        if (job != NULL) {
            least = share;
            first = job;
        }
    }
    return first;
}

void queue_remove(struct job_queue *queue, struct job *job)
{
    TAILQ_REMOVE(line_of(job), job, in_line);
    queue->count--;
    queue->is_counted = false;
    if (atomic_fetch_sub(&job->share->count, 1) == 1) {
        LIST_REMOVE(job->share, in_queue);
    }
    job->share = NULL;
}

void queue_serve(struct job_queue *queue, struct job *job)
{
    const double cubes = cubes_of(job);
    queue->served = job->share->served;
    job->share->served += cubes > CUBES_MIN ? cubes : CUBES_MIN;
    queue_remove(queue, job);
}

/* Counts, for each job, the jobs in the same share that are served before it. */
static void count_places(struct job_queue *queue)
{
    struct job_share *share;
    LIST_FOREACH(share, &queue->shares, in_queue)
    {
        struct job_place sum = {0};
        for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
            struct job *job;
            TAILQ_FOREACH(job, &share->lines[priority], in_line)
            {
                job->before = sum;
                sum.number++;
                sum.seconds += job->expected_s;
            }
        }
        share->waiting = sum;
    }
    queue->is_counted = true;
}

/* The shares take turns: if k jobs of the job's own share run before it, about k jobs of every
 * other share do too, but no other share gets more seconds before it than the job's own share. */
struct job_place queue_ahead(struct job_queue *queue, const struct job *job)
{
    if (!queue->is_counted) {
        count_places(queue);
    }
    const struct job_place own = job->before;
    struct job_place ahead = own;
    const struct job_share *share;
    LIST_FOREACH(share, &queue->shares, in_queue)
    {
        if (share != job->share) {
            const struct job_place other = share->waiting;
            const uint32_t turns = own.number + (share->served < job->share->served ? 1 : 0);
            ahead.number += other.number < turns ? other.number : turns;
            ahead.seconds += fmin(other.seconds, own.seconds);
        }
    }
    return ahead;
}
