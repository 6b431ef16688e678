/* Publishes, finds and evicts results, and sets damaged results aside. Loop thread. */
#pragma once

#include "server/scheduler/commit.h"

/* Makes the result answer queries for its graph and the graph's aliases. results_find binds the IDs
 * of finished jobs at the first query. */
MUST_CHECK enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                                       struct result *result);
/* Binds an alias to the result of its graph. */
void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry);
/* Called for the newest job of a graph. If the job is done, makes its ID find its result, and the
 * graph and its aliases answer queries with the job's kind from now on. */
void results_bind_latest(struct scheduler *scheduler, const struct job *job);
/* Hides the result from queries; the commit, which deletes its row and file, gets the reference. */
void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit);
/* Evicts the least recently used results, but never `kept`, until limit and budget hold. */
void results_evict(struct scheduler *scheduler, const struct result *kept);
/* Returns whether the job's graph already has the result, verified if the job requires that. */
bool results_is_known(const struct job *job);
/* Marks a job whose result exists as done, with the report of the job that solved it; no commit. */
void results_end_known_job(struct job *job);
/* Returns whether the key of the call finds a result. If a finished job has lost its result,
 * rebinds its ID to a newer result of its graph. */
bool results_find(struct scheduler *scheduler, const struct call *call);
/* Hides a damaged result of the graph. Returns the commit, to be sent, that moves it to quarantine;
 * NULL if the result is not published, or if there is no memory. */
struct commit *results_set_aside(struct scheduler *scheduler, struct graph_entry *entry,
                                 const struct result *result);
/* Marks the graph's file as damaged: the next upload of the same graph writes it again. */
void results_note_damaged_graph(const struct scheduler *scheduler, const char *graph_id);
