/* Commits: durable changes on their way to the store and back. Loop thread. */
#pragma once

#include "server/scheduler/scheduler_internal.h"

/* One store_change, and what it points to. */
struct commit {
    struct message message; /* first */
    struct store_change change;
    struct pool_work writing; /* of the graph's file */
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
MUST_CHECK enum status commit_create(struct scheduler *scheduler,
                                     void (*then)(struct commit *commit),
                                     struct commit **ret_commit);
void commit_destroy(struct commit *commit);
/* Adds the job's row as of now. */
MUST_CHECK enum status commit_add_job(struct commit *commit, struct job *job);
/* Both. */
MUST_CHECK enum status commit_create_of_job(struct scheduler *scheduler, struct job *job,
                                            void (*then)(struct commit *commit),
                                            struct commit **ret_commit);
void commit_add_name(struct commit *commit, const char *name, const char *graph_id,
                     const char *tenant);
/* Whether the file of a graph is part of it. */
bool commit_writes_graph(struct commit *commit);
/* Moves the commit to the disk threads; it comes back to then() and is freed after. */
void commit_send(struct commit *commit);
/* Whether one is under way that gives this name of the tenant. */
bool commit_names(const struct scheduler *scheduler, const struct tenant *tenant, const char *name);
