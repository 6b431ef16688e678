#include "server/job/job_queue.h"

#include "proto/check.h"

static struct job_line *line_of(struct job_queue *queue, const struct job *job)
{
    CHECK(job->priority >= 0 && job->priority < PRIORITY_COUNT);
    return &queue->lines[job->priority];
}

/* The place right behind this job. */
static struct job_place behind(const struct job *job)
{
    const double n = job->vertex_count;
    struct job_place place = job->place;
    place.number++;
    place.cubes[job->kind] += n * n * n;
    return place;
}

void job_queue_push(struct job_queue *queue, struct job *job)
{
    struct job_line *line = line_of(queue, job);
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

struct job *job_queue_first(const struct job_queue *queue)
{
    for (int priority = PRIORITY_COUNT - 1; priority >= 0; priority--) {
        if (queue->lines[priority].first != NULL) {
            return queue->lines[priority].first;
        }
    }
    return NULL;
}

void job_queue_remove(struct job_queue *queue, struct job *job)
{
    struct job_line *line = line_of(queue, job);
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
}

/* ---- What comes before ---- */

static void count_anew(struct job_line *line)
{
    struct job_place place = {0};
    for (struct job *job = line->first; job != NULL; job = job->behind) {
        job->place = place;
        place = behind(job);
    }
    line->is_uneven = false;
}

static void make_even(struct job_line *line)
{
    if (line->is_uneven) {
        count_anew(line);
    }
}

uint32_t job_queue_position(struct job_queue *queue, const struct job *job)
{
    struct job_line *line = line_of(queue, job);
    uint32_t position = 0;
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        position += queue->lines[priority].count;
    }
    make_even(line);
    return position + (uint32_t)(job->place.number - line->first->place.number);
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

double job_queue_seconds_ahead(struct job_queue *queue, const struct job *job,
                               const double pace_s[KIND_COUNT])
{
    struct job_line *line = line_of(queue, job);
    double seconds = 0;
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        seconds += seconds_of_line(&queue->lines[priority], pace_s);
    }
    make_even(line);
    return seconds + seconds_between(&line->first->place, &job->place, pace_s);
}
