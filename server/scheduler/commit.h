/* Commits: durable changes on their way to the store and back. The store owns a commit from
 * commit_send until deliver_commit, which calls then() and frees it. Loop thread. */
#pragma once

#include "server/scheduler/scheduler_internal.h"

/* One store_change and the objects that it points to. */
struct commit {
    struct message message; /* must be the first member */
    struct store_change change;
    struct pool_work writing; /* writes the graph's file on the pool */
    struct scheduler *scheduler;
    char *report;                  /* report in the job's row; owned */
    struct graph *graph;           /* owned */
    struct hierarchy_shape *shape; /* shape of the graph's hierarchy; owned, or NULL */
    struct upload_share share;
    struct result *result;               /* counted reference */
    struct coordinates_info coordinates; /* the new coordinates; zeroed = none */
    bool keeps_graph;          /* prevents deletion of the graph until the commit returns */
    struct job *job;           /* borrowed; not freed while its `changes` > 0 */
    struct graph_entry *entry; /* borrowed; not freed while its `changes` > 0 */
    struct call *call;
    LIST_ENTRY(commit) in_namings;
    void (*then)(struct commit *commit); /* called on the loop with change.status set */
};

/* Creates an empty commit. then: may be NULL; a failure is logged in any case. */
MUST_CHECK enum status commit_create(struct scheduler *scheduler,
                                     void (*then)(struct commit *commit),
                                     struct commit **ret_commit);
void commit_destroy(struct commit *commit);
/* Adds the job's row, with the job's current state, to the commit. */
MUST_CHECK enum status commit_add_job(struct commit *commit, struct job *job);
/* Creates a commit with the job's row. */
MUST_CHECK enum status commit_create_of_job(struct scheduler *scheduler, struct job *job,
                                            void (*then)(struct commit *commit),
                                            struct commit **ret_commit);
void commit_add_name(struct commit *commit, const char *name, const char *graph_id,
                     const char *tenant);
/* Returns whether the commit writes the file of a graph. */
bool commit_writes_graph(struct commit *commit);
/* Moves the commit to the disk threads. The loop later calls then() and frees the commit. */
void commit_send(struct commit *commit);
/* Returns whether a pending commit gives this name, which belongs to the tenant, to a graph. */
bool commit_names(const struct scheduler *scheduler, const struct tenant *tenant, const char *name);
