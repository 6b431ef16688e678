/* Calls that wait for a job: long-polls, until its state changes or it ends, and streams of events.
 * The alarm rings at the earliest end of a wait, or deadline of a job. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/jobs.h"

struct scheduler;

/* Holds the call until the job changes, or answers it at once when it must not wait. */
void waiters_hold(struct scheduler *scheduler, struct call *call, struct job *job);
/* The next piece of a stream of events, at once or when there is one. */
void waiters_stream(struct scheduler *scheduler, struct call *call);
/* Ends the wait of a call with an answer of the state as of now. */
void waiters_release(struct scheduler *scheduler, struct call *call);
/* The state of the job has changed: its waiters are woken at the end of the turn. */
void waiters_mark_changed(struct scheduler *scheduler, struct job *job);
void waiters_wake(struct scheduler *scheduler);
/* Answers the waits whose time is over. */
void waiters_expire(struct scheduler *scheduler);
/* Ends every stream of events, with the state, or every other wait. */
void waiters_end(struct scheduler *scheduler, bool streams);
/* Sees to it that the alarm rings no later than this. */
void waiters_set_alarm(struct scheduler *scheduler, double at_s);
/* The same for the deadline of a job, if it has one. */
void waiters_watch_deadline(struct scheduler *scheduler, const struct job *job);
