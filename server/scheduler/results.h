/* Durable changes on their way to the store and back, and results: published, found, evicted, and
 * solved again when they are damaged. Loop thread. */
#pragma once

#include "server/scheduler/scheduler_internal.h"

/* One store_change, and what it points to. */
struct commit {
    struct message message;
    struct store_change change;
    uv_work_t writing; /* of the graph's file */
    struct scheduler *scheduler;
    char *report;        /* owned, of the row of the job */
    struct graph *graph; /* owned */
    struct upload_share share;
    struct result *result; /* counted */
    /* The coordinates that it puts, and those that were there before. */
    struct coordinates_info coordinates;
    struct coordinates_info old_coordinates;
    bool keeps_graph;          /* the graph is not deleted meanwhile */
    struct job *job;           /* borrowed: its count of changes keeps it */
    struct graph_entry *entry; /* borrowed: its count of changes keeps it */
    struct call *call;
    LIST_ENTRY(commit) in_namings;
    void (*then)(struct commit *commit); /* change.status is set */
};

/* then may be NULL: a failure is logged either way. */
MUST_CHECK enum status scheduler_commit_create(struct scheduler *scheduler,
                                               void (*then)(struct commit *commit),
                                               struct commit **ret_commit);
void scheduler_commit_destroy(struct commit *commit);
/* Adds the job's row as of now. */
MUST_CHECK enum status scheduler_commit_add_job(struct commit *commit, struct job *job);
void scheduler_commit_add_name(struct commit *commit, const char *name, const char *graph_id,
                               const char *tenant);
/* Whether the file of a graph is part of it. */
bool scheduler_commit_writes_graph(struct commit *commit);
/* Moves the commit to the disk threads; it comes back to then() and is freed after. */
void scheduler_commit_send(struct commit *commit);
/* Whether one is under way that gives this name of the tenant. */
bool scheduler_commit_names(const struct scheduler *scheduler, const struct tenant *tenant,
                            const char *name);

/* Makes the result answer: for its graph and the aliases; a job that is done with it finds it at
 * the first question, by results_find. */
MUST_CHECK enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                                       struct result *result);
/* An alias finds the result that its graph has. */
void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry);
/* The newest job of its graph: when it is done its id finds its result, and of the results of
 * several kinds it is this one that the graph and its aliases answer with from now on. */
void results_bind_latest(struct scheduler *scheduler, const struct job *job,
                         struct graph_entry *entry);
/* No query finds it any more. The commit, whose matter its file and row are, lets it go. */
void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit);
/* Evicts the results longest unasked until the budget holds, never `kept`. */
void results_evict(struct scheduler *scheduler, const struct result *kept);
/* Whether the graph of the job has its result already, verified when the job asks for that. */
bool results_is_known(const struct scheduler *scheduler, const struct graph_entry *entry,
                      const struct job *job);
/* Marks such a job done, with the report of the job that solved it; nothing is committed. */
void results_end_known_job(const struct scheduler *scheduler, struct job *job);
/* Whether the key of the call finds a result. The id of a job that is done is entered again if it
 * has lost its result and there is a newer one. */
bool results_find(struct scheduler *scheduler, const struct call *call);
/* From here on the result, not yet shared, goes to quarantine when it proves damaged, and its graph
 * is solved again. */
void results_watch(struct scheduler *scheduler, struct result *result);
/* The file of this graph is damaged: the next upload of the same graph writes it anew. */
void results_note_damaged_graph(const struct scheduler *scheduler, const char *graph_id);
