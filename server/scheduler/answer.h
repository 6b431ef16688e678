/* Answers calls: with the document of a job or graph, a result, or a problem. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/graphs.h"
#include "server/scheduler/jobs.h"

/* Finds the graph of the call's tenant by the call's key: an ID, alias or job ID; else NULL. */
struct graph_entry *answer_find_graph(const struct scheduler *scheduler, const struct call *call);
/* Answers a call without a body. */
void answer_empty(struct call *call, unsigned http_status);
void answer_status(struct call *call, enum status status, const char *detail);
/* Answers a call whose change was not stored, because the store failed or memory ran out. */
void answer_not_stored(struct call *call, enum status status);
/* Answers with call->problem. */
void answer_problem(struct call *call);
/* Answers with the body, which moves into the call; NULL means out of memory. */
void answer_body(struct call *call, unsigned http_status, char *body);
void answer_no_such(struct call *call);
void answer_job(struct scheduler *scheduler, struct call *call, const struct job *job);
void answer_graph(struct call *call, const struct graph_entry *entry, unsigned http_status);
/* Returns JSON text of a job's current state, which the caller frees; NULL when out of memory. */
char *answer_print_job(struct scheduler *scheduler, const struct job *job);
/* Returns JSON text of a graph, which the caller frees. upload: the uploading call, or NULL. */
char *answer_print_graph(const struct graph_entry *entry, const struct submit_call *upload);
/* Returns the number of jobs before this one in the queue. */
uint32_t answer_position(struct scheduler *scheduler, const struct job *job);
/* Returns the estimated seconds until the job ends, after the jobs before it; below 0 = unknown. */
double answer_eta_s(struct scheduler *scheduler, const struct job *job);
/* Returns the job that a client should watch for the requested result; NULL if there is none. */
struct job *answer_job_to_watch(const struct scheduler *scheduler, const struct call *call);
/* Answers a call for a result: with success if the result is published, else with the reason. */
void answer_result(struct scheduler *scheduler, struct call *call);
/* Returns the name of the current phase of a running job, or NULL if the job is not running. */
const char *answer_phase(const struct job *job);
