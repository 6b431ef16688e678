#include "server/scheduler/queue.h"

#include "server/scheduler/jobs.h"

#include <math.h>

/* A vertex of a hierarchy takes as long as so many steps of a matrix. */
#define HIERARCHY_STEPS 1e5

/* The least cost charged to a tenant for a job: even a tiny one has to be moved to a device and
 * back. */
#define CUBES_MIN (64.0 * 64 * 64)

/* The time that it takes, in cubed vertices. */
static double cubes_of(const struct job *job)
{
    const double n = job->vertex_count;
    return job->report.result.form == RESULT_FORM_HIERARCHY ? n * HIERARCHY_STEPS : n * n * n;
}

static struct job_line *line_of(const struct job *job)
{
    CHECK(job->priority >= 0 && job->priority < PRIORITY_COUNT);
    return &job->share->lines[job->priority];
}

/* The place right behind this job. */
static struct job_place place_behind(const struct job *job)
{
    struct job_place place = job->place;
    place.number++;
    place.seconds += job->expected_s;
    return place;
}

void queue_push(struct job_queue *queue, struct job_share *share, struct job *job)
{
    job->share = share;
    job->expected_s = cubes_of(job) * queue->pace_s[job_cost(job)];
    struct job_line *line = line_of(job);
    if (atomic_fetch_add(&share->count, 1) == 0) {
        /* Idle time is not saved up. */
        share->served = share->served < queue->served ? queue->served : share->served;
        share->previous = NULL;
        share->next = queue->shares;
        if (queue->shares != NULL) {
            queue->shares->previous = share;
        }
        queue->shares = share;
    }
    job->ahead = line->last;
    job->behind = NULL;
    if (line->last != NULL) {
        job->place = place_behind(line->last);
        line->last->behind = job;
    } else {
        job->place = (struct job_place){0};
        line->is_uneven = false;
        line->first = job;
    }
    line->last = job;
    line->count++;
    queue->count++;
}

static struct job *first_of(const struct job_share *share, const uint32_t vertex_limit[COST_COUNT])
{
    for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
        for (struct job *job = share->lines[priority].first; job != NULL; job = job->behind) {
            /* The host makes a hierarchy, whatever the device holds. */
            if (vertex_limit == NULL || job->report.result.form == RESULT_FORM_HIERARCHY ||
                job->vertex_count <= vertex_limit[job_cost(job)]) {
                return job;
            }
        }
    }
    return NULL;
}

struct job *queue_first_within(const struct job_queue *queue,
                               const uint32_t vertex_limit[COST_COUNT])
{
    const struct job_share *least = NULL;
    struct job *first = NULL;
    for (const struct job_share *share = queue->shares; share != NULL; share = share->next) {
        /* Shares are listed newest first: <= gives a tie to the share that came first. */
        struct job *job =
            least == NULL || share->served <= least->served ? first_of(share, vertex_limit) : NULL;
        if (job != NULL) {
            least = share;
            first = job;
        }
    }
    return first;
}

struct job *queue_first(const struct job_queue *queue)
{
    return queue_first_within(queue, NULL);
}

void queue_remove(struct job_queue *queue, struct job *job)
{
    struct job_line *line = line_of(job);
    CHECK(job->ahead != NULL || line->first == job);
    line->is_uneven |= job->ahead != NULL && job->behind != NULL;
    if (job->ahead != NULL) {
        job->ahead->behind = job->behind;
    } else {
        line->first = job->behind;
    }
    if (job->behind != NULL) {
        job->behind->ahead = job->ahead;
    } else {
        line->last = job->ahead;
    }
    job->ahead = NULL;
    job->behind = NULL;
    line->count--;
    queue->count--;
    struct job_share *share = job->share;
    job->share = NULL;
    if (atomic_fetch_sub(&share->count, 1) == 1) {
        if (share->next != NULL) {
            share->next->previous = share->previous;
        }
        if (share->previous != NULL) {
            share->previous->next = share->next;
        } else {
            queue->shares = share->next;
        }
    }
}

void queue_serve(struct job_queue *queue, struct job *job)
{
    const double cubes = cubes_of(job);
    queue->served = job->share->served;
    job->share->served += cubes > CUBES_MIN ? cubes : CUBES_MIN;
    queue_remove(queue, job);
}

/* Counts the places of a line anew if one has left its middle. */
static void make_even(struct job_line *line)
{
    struct job_place place = {0};
    for (struct job *job = line->is_uneven ? line->first : NULL; job != NULL; job = job->behind) {
        job->place = place;
        place = place_behind(job);
    }
    line->is_uneven = false;
}

/* The shares take turns, so before a job of one come about as many of each other. */
uint32_t queue_position(const struct job_queue *queue, const struct job *job)
{
    struct job_line *line = line_of(job);
    make_even(line);
    uint32_t own = (uint32_t)(job->place.number - line->first->place.number);
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        own += job->share->lines[priority].count;
    }
    uint32_t position = own;
    for (const struct job_share *share = queue->shares; share != NULL; share = share->next) {
        const uint32_t turns = own + (share->served < job->share->served ? 1 : 0);
        const uint32_t count = atomic_load(&share->count);
        if (share != job->share) {
            position += count < turns ? count : turns;
        }
    }
    return position;
}

static double seconds_of_line(struct job_line *line)
{
    if (line->first == NULL) {
        return 0;
    }
    make_even(line);
    return place_behind(line->last).seconds - line->first->place.seconds;
}

/* The expected time of the jobs of a share above this priority; -1 is below all. */
static double seconds_above(struct job_share *share, int priority)
{
    double seconds = 0;
    for (int higher = PRIORITY_COUNT - 1; higher > priority; higher--) {
        seconds += seconds_of_line(&share->lines[higher]);
    }
    return seconds;
}

/* Every other share gets as much time as this one until then, if it has use for it. */
double queue_seconds_ahead(const struct job_queue *queue, const struct job *job)
{
    struct job_line *line = line_of(job);
    make_even(line);
    const double own_s =
        seconds_above(job->share, job->priority) + job->place.seconds - line->first->place.seconds;
    double seconds = own_s;
    for (struct job_share *share = queue->shares; share != NULL; share = share->next) {
        seconds += share != job->share ? fmin(seconds_above(share, -1), own_s) : 0;
    }
    return seconds;
}
