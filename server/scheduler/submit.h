/* Uploads, changes and submissions of stored graphs, from the call to the commit. Loop thread. */
#pragma once

#include "server/scheduler/submission.h"

void submit_end(struct submission *submission);
/* Ends the submission. If the status is an error, answers the call with the submission's problem,
 * or with "out of memory" if the problem has another status. */
void submit_end_with(struct submission *submission, enum status status);
/* Checks that the queue has a place for the job, but does not reserve the place. */
MUST_CHECK enum status submit_check_place(struct submission *submission);
/* Parks the submission until submit_parked resumes it. */
void submit_park(struct submission *submission);
/* Returns the job of an earlier request with the same Idempotency-Key, or NULL. */
struct job *submit_find_repeated(const struct submission *submission);
/* Answers a repeated request like the first request, once the first is accepted. */
void submit_answer_repeat(struct submission *submission, struct job *earlier);
/* Finishes and identifies the graph on a pool thread, then continues on the loop. */
void submit_finish_graph(struct submission *submission);
/* Handles CALL_SUBMIT, CALL_CHANGE and CALL_STORE_GRAPH. */
void submit_call(struct scheduler *scheduler, struct call *call);
/* Submits a job on a stored graph, for a call that waits for its result. */
void submit_for_result(struct scheduler *scheduler, struct call *call, struct graph_entry *entry,
                       enum kind kind);
/* Resumes parked submissions whose graph is no longer being deleted, or whose name is free. */
void submit_parked(struct scheduler *scheduler);
