/* Results: published, found, evicted, and solved again when they are damaged. Loop thread. */
#pragma once

#include "server/scheduler/commit.h"

/* Makes the result answer: for its graph and the aliases; a job that is done with it finds it at
 * the first question, by results_find. */
MUST_CHECK enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                                       struct result *result);
/* An alias finds the result that its graph has. */
void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry);
/* The newest job of its graph: when it is done its id finds its result, and of the results of
 * several kinds it is this one that the graph and its aliases answer with from now on. */
void results_bind_latest(struct scheduler *scheduler, const struct job *job);
/* No query finds it any more. The commit, whose matter its file and row are, lets it go. */
void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit);
/* Evicts the results longest unasked until the budget holds, never `kept`. */
void results_evict(struct scheduler *scheduler, const struct result *kept);
/* Whether the graph of the job has its result already, verified when the job asks for that. */
bool results_is_known(const struct job *job);
/* Marks such a job done, with the report of the job that solved it; nothing is committed. */
void results_end_known_job(struct job *job);
/* Whether the key of the call finds a result. The id of a job that is done is entered again if it
 * has lost its result and there is a newer one. */
bool results_find(struct scheduler *scheduler, const struct call *call);
/* From here on the result, not yet shared, goes to quarantine when it proves damaged, and its graph
 * is solved again. */
void results_watch(struct scheduler *scheduler, struct result *result);
/* The file of this graph is damaged: the next upload of the same graph writes it anew. */
void results_note_damaged_graph(const struct scheduler *scheduler, const char *graph_id);
