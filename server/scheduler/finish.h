/* Ends jobs when their task finishes, they are cancelled or their deadline passes, or requeues
 * them. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/jobs.h"

struct scheduler_worker;

/* Ends the job, or queues it again, depending on the outcome of its task. */
void finish_task(struct scheduler_worker *slot, struct job *job, struct task *task);
/* Ends the job as failed; job->report.problem says why. */
void finish_failed(struct scheduler *scheduler, struct job *job);
/* Ends a queued job whose graph already has the result. */
void finish_known(struct scheduler *scheduler, struct job *job);
void finish_cancel(struct scheduler *scheduler, struct call *call);
/* Ends the jobs whose deadline has passed. */
void finish_expired(struct scheduler *scheduler);
/* Stores the ends of jobs that could not be stored earlier. */
void finish_store_ends(struct scheduler *scheduler);
/* Deletes the oldest finished jobs beyond the history limit. */
void finish_trim_history(struct scheduler *scheduler);
