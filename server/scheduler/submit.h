/* Uploads, changes and submissions of stored graphs, from the call to their commit. */
#pragma once

#include "server/scheduler/submission.h"

void submit_end(struct submission *submission);
/* Ends it, and answers the call where the status is no success: it is that of the submission's
 * problem, or want of memory. */
void submit_end_with(struct submission *submission, enum status status);
/* Whether the queue has a place for the job, which is reserved when that is created. */
MUST_CHECK enum status submit_check_place(struct submission *submission);
/* Keeps the submission for submit_parked. */
void submit_park(struct submission *submission, enum submission_state state);
/* The job of an earlier request with the same Idempotency-Key, or NULL. */
struct job *submit_find_repeated(const struct submission *submission);
/* A repeated request is answered like the first, once that is accepted. */
void submit_answer_repeat(struct submission *submission, struct job *earlier);
/* Has the graph finished and named on a thread of the pool, and goes on from there. */
void submit_finish_graph(struct submission *submission);
/* For CALL_SUBMIT and CALL_STORE_GRAPH. */
void submit_call(struct scheduler *scheduler, struct call *call);
/* A job on a stored graph, for a question that waits for its result. */
void submit_for_result(struct scheduler *scheduler, struct call *call, struct graph_entry *entry,
                       enum kind kind);
/* Submissions go on whose graph is not being deleted any more, nor their name given. */
void submit_parked(struct scheduler *scheduler);
