/* Calls that wait for a job: long-polls, which wait for a new state or the end of the job, and
 * event streams. An alarm fires at the earliest end of a wait or deadline of a job. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/jobs.h"

/* Makes the call wait until the job changes, or answers the call at once if it must not wait. */
void waiters_hold(struct scheduler *scheduler, struct call *call, struct job *job);
/* Answers with the next part of an event stream as soon as there is a part to send. */
void waiters_stream(struct scheduler *scheduler, struct call *call);
/* Notes that the job's state has changed: its waiters are woken at the end of the turn. */
void waiters_mark_changed(struct scheduler *scheduler, struct job *job);
void waiters_wake(struct scheduler *scheduler);
/* Answers the calls whose wait has timed out or whose client has disconnected. */
void waiters_expire(struct scheduler *scheduler);
/* Ends all event streams if `streams` is true, otherwise all other waits, and answers the calls
 * with the current state. */
void waiters_end(struct scheduler *scheduler, bool streams);
/* Sets the alarm for the deadline of the job, if it has one. */
void waiters_watch_deadline(struct scheduler *scheduler, const struct job *job);
