/* Tasks that come home, cancels and deadlines: how a job ends or is put back in the queue. Loop
 * thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/jobs.h"

struct scheduler;
struct scheduler_worker;

/* The task of the job has come home. */
void finish_task(struct scheduler_worker *slot, struct job *job, struct task *task);
/* job->report.problem tells why. */
void finish_failed(struct scheduler *scheduler, struct job *job);
/* Ends a queued job whose result its graph has already. */
void finish_known(struct scheduler *scheduler, struct job *job);
void finish_cancel(struct scheduler *scheduler, struct call *call);
/* Ends the jobs whose deadline is over. */
void finish_expired(struct scheduler *scheduler);
/* Ends that found no room on the disk are stored now. */
void finish_store_ends(struct scheduler *scheduler);
/* Forgets the oldest jobs beyond the limit of the history. */
void finish_trim_history(struct scheduler *scheduler);
