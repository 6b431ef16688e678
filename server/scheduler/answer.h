/* How a call is answered: with a document of a job or a graph, with a result that is there, or with
 * a problem. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"
#include "server/scheduler/graphs.h"
#include "server/scheduler/jobs.h"

struct scheduler;

/* Both among what belongs to the tenant of the call; NULL when there is none. Graphs are found by
 * id, alias or job id. */
struct job *answer_find_job(const struct scheduler *scheduler, const struct call *call,
                            const char *id);
struct graph_entry *answer_find_graph(const struct scheduler *scheduler, const struct call *call);
/* Without a body. */
void answer_empty(struct call *call, unsigned http_status);
void answer_status(struct call *call, enum status status, const char *detail);
void answer_problem(struct call *call, const struct problem *problem);
/* Takes body, which may be NULL: out of memory. */
void answer_body(struct call *call, unsigned http_status, char *body);
void answer_no_such(struct call *call);
void answer_job(struct scheduler *scheduler, struct call *call, const struct job *job);
void answer_graph(struct call *call, const struct graph_entry *entry, unsigned http_status);
/* JSON text of a job as of now, freed by the caller; NULL when out of memory. */
char *answer_print_job(struct scheduler *scheduler, const struct job *job);
/* upload: the graph came with it; or NULL. */
char *answer_print_graph(const struct graph_entry *entry, const struct submit_call *upload);
/* Jobs before this one in the queue. */
uint32_t answer_position(struct scheduler *scheduler, const struct job *job);
/* Seconds until a job ends, with those before it in the queue; below 0 = not known. */
double answer_eta_s(struct scheduler *scheduler, const struct job *job);
/* The job to watch for the result that is asked for; NULL when there is none. */
struct job *answer_job_to_watch(const struct scheduler *scheduler, const struct call *call);
/* Answers a call for a result: that it is there, or why not. */
void answer_result(struct scheduler *scheduler, struct call *call);
/* The name of the phase of a running job; else NULL. */
const char *answer_phase(const struct job *job);
