#include "server/job/job_queue.h"

#include "proto/check.h"

static struct job_line *line_of(struct job_queue *queue, const struct job *job)
{
    CHECK(job->priority >= 0 && job->priority < PRIORITY_COUNT);
    return &queue->lines[job->priority];
}

void job_queue_push(struct job_queue *queue, struct job *job)
{
    struct job_line *line = line_of(queue, job);
    job->ahead = line->last;
    job->behind = NULL;
    if (line->last != NULL) {
        line->last->behind = job;
    } else {
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

/* From both ends at once: who has just come is the last, and finds that in one step. */
static uint32_t place_in_line(const struct job_line *line, const struct job *job)
{
    uint32_t steps = 0;
    const struct job *ahead = job->ahead;
    const struct job *behind = job->behind;
    while (ahead != NULL && behind != NULL) {
        ahead = ahead->ahead;
        behind = behind->behind;
        steps++;
    }
    return ahead == NULL ? steps : line->count - 1 - steps;
}

uint32_t job_queue_position(const struct job_queue *queue, const struct job *job)
{
    uint32_t position = 0;
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        position += queue->lines[priority].count;
    }
    return position + place_in_line(&queue->lines[job->priority], job);
}

double job_queue_seconds_ahead(const struct job_queue *queue, const struct job *job,
                               const double pace_s[KIND_COUNT])
{
    double seconds = 0;
    for (int priority = PRIORITY_COUNT - 1; priority > job->priority; priority--) {
        for (const struct job *j = queue->lines[priority].first; j != NULL; j = j->behind) {
            seconds += job_expected_s(j, pace_s);
        }
    }
    for (const struct job *j = job->ahead; j != NULL; j = j->ahead) {
        seconds += job_expected_s(j, pace_s);
    }
    return seconds;
}
