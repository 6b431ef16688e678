/* Names that move from a graph to its change, and graphs that are deleted. Loop thread. */
#pragma once

#include "server/scheduler/graphs.h"
#include "server/scheduler/jobs.h"

struct call;
struct commit;
struct scheduler;

/* The name of the job, which is done, moves to its graph, unless it has moved elsewhere since. */
void names_move(struct scheduler *scheduler, const struct job *job, struct graph_entry *entry);
/* Adds the row of the name, which moves with the end of such a job. */
void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit);
/* The change of this name from the parent has ended, and its end is durable: the next one begins.
 * An empty name is none. */
void names_release(struct scheduler *scheduler, const struct tenant *tenant, const char *name,
                   const char *parent_id);
/* Deletes the graph if changes of a name made it, it has no name, and no job uses it. Once the move
 * of the name is durable. */
void names_sweep(struct scheduler *scheduler, const char *graph_id);
/* The graph answers no more; its rows and files go next. call: to answer, or NULL. */
void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call);
