/* Publishes, finds and evicts results, and sets damaged results aside. Loop thread. */
#pragma once

#include "server/scheduler/commit.h"

/* Publishes the result: queries for its graph and the graph's aliases are answered with it.
 * results_find binds the ID of a finished job at the first query with that ID. */
MUST_CHECK enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                                       struct result *result);
/* Binds an alias to the result of its graph. */
void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry);
/* Called for the newest job of a graph. If the job is done, binds its ID to its result; queries for
 * the graph and its aliases use the result of the job's kind from now on. */
void results_bind_latest(struct scheduler *scheduler, const struct job *job);
/* Hides the result from queries. The commit, which deletes the result, keeps a reference to it. */
void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit);
/* Evicts the least recently used results, but never `kept`, until limit and budget are met. */
void results_evict(struct scheduler *scheduler, const struct result *kept);
/* Returns whether the job's graph already has the result, verified if the job requires that. */
bool results_is_known(const struct job *job);
/* Marks a job whose result already exists as done, and copies the report of the job that computed
 * the result. Does not commit the change. */
void results_end_known_job(struct job *job);
/* Returns whether the key of the call finds a result. If a finished job has lost its result,
 * rebinds its ID to a newer result of its graph. */
bool results_find(struct scheduler *scheduler, const struct call *call);
/* Hides a damaged result of the graph. Returns a commit that moves the result to quarantine and
 * that the caller must send; NULL if the result is not published or memory ran out. */
struct commit *results_set_aside(struct scheduler *scheduler, struct graph_entry *entry,
                                 const struct result *result);
/* Marks the graph's file as damaged: the next upload of the same graph writes it again. */
void results_note_damaged_graph(const struct scheduler *scheduler, const char *graph_id);
