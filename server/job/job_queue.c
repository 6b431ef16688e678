#include "server/job/scheduler_internal.h"

/* The least cost charged to a tenant for a job: even a tiny one has to be moved to a device and
 * back. */
#define CUBES_MIN (64.0 * 64 * 64)

static struct job_line *line_of(const struct job *job)
{
    CHECK(job->priority >= 0 && job->priority < PRIORITY_COUNT);
    return &job->share->lines[job->priority];
}

static double cubes_of(const struct job *job)
{
    const double n = job->vertex_count;
    return n * n * n;
}

/* The place right behind this job. */
static struct job_place behind(const struct job *job)
{
    struct job_place place = job->place;
    place.number++;
    place.cubes[job->kind] += cubes_of(job);
    return place;
}

void job_queue_push(struct job_queue *queue, struct job_share *share, struct job *job)
{
    job->share = share;
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
        job->place = behind(line->last);
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

static struct job *first_of(const struct job_share *share, const uint32_t vertex_limit[KIND_COUNT])
{
    for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
        for (struct job *job = share->lines[priority].first; job != NULL; job = job->behind) {
            if (vertex_limit == NULL || job->vertex_count <= vertex_limit[job->kind]) {
                return job;
            }
        }
    }
    return NULL;
}

struct job *job_queue_first_within(const struct job_queue *queue,
                                   const uint32_t vertex_limit[KIND_COUNT])
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

struct job *job_queue_first(const struct job_queue *queue)
{
    return job_queue_first_within(queue, NULL);
}

void job_queue_remove(struct job_queue *queue, struct job *job)
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

void job_queue_take(struct job_queue *queue, struct job *job)
{
    const double cubes = cubes_of(job);
    queue->served = job->share->served;
    job->share->served += cubes > CUBES_MIN ? cubes : CUBES_MIN;
    job_queue_remove(queue, job);
}

/* ---- What comes before ---- */

/* Counts the places of a line anew if one has left its middle. */
static void make_even(struct job_line *line)
{
    struct job_place place = {0};
    for (struct job *job = line->is_uneven ? line->first : NULL; job != NULL; job = job->behind) {
        job->place = place;
        place = behind(job);
    }
    line->is_uneven = false;
}

/* The shares take turns, so before a job of one come about as many of each other. */
uint32_t job_queue_position(const struct job_queue *queue, const struct job *job)
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

static double seconds_between(const struct job_place *from, const struct job_place *to,
                              const double pace_s[KIND_COUNT])
{
    double seconds = 0;
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        seconds += (to->cubes[kind] - from->cubes[kind]) * pace_s[kind];
    }
    return seconds;
}

static double seconds_of_line(struct job_line *line, const double pace_s[KIND_COUNT])
{
    if (line->first == NULL) {
        return 0;
    }
    make_even(line);
    const struct job_place end = behind(line->last);
    return seconds_between(&line->first->place, &end, pace_s);
}

/* The expected time of the jobs of a share above this priority; -1 is below all. */
static double seconds_above(struct job_share *share, int priority, const double pace_s[KIND_COUNT])
{
    double seconds = 0;
    for (int higher = PRIORITY_COUNT - 1; higher > priority; higher--) {
        seconds += seconds_of_line(&share->lines[higher], pace_s);
    }
    return seconds;
}

/* Every other share gets as much time as this one until then, if it has use for it. */
double job_queue_seconds_ahead(const struct job_queue *queue, const struct job *job,
                               const double pace_s[KIND_COUNT])
{
    struct job_line *line = line_of(job);
    make_even(line);
    const double own_s = seconds_above(job->share, job->priority, pace_s) +
                         seconds_between(&line->first->place, &job->place, pace_s);
    double seconds = own_s;
    for (struct job_share *share = queue->shares; share != NULL; share = share->next) {
        const double other_s = share != job->share ? seconds_above(share, -1, pace_s) : 0;
        seconds += other_s < own_s ? other_s : own_s;
    }
    return seconds;
}
