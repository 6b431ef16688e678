/* Names that move to the graph of a job once that is done, be it an upload or a change, and graphs
 * that are deleted. While the job runs the graph that had the name before answers by it; if the job
 * fails the name stays there. Of several jobs the one that was accepted last has the name in the
 * end. Loop thread. */
#pragma once

#include "server/scheduler/tenants.h"

struct call;
struct commit;
struct graph_entry;
struct job;
struct scheduler;

/* A name that is to move: of a change from its beginning, and of a job until its end is durable. */
struct name_move {
    LIST_ENTRY(name_move) in_moves;
    const struct tenant *tenant;
    const char *name;         /* borrowed; NULL: none is to move */
    char from[GRAPH_ID_SIZE]; /* the graph that lost the name; empty until then */
};

/* An empty name is none. */
void names_begin_move(struct scheduler *scheduler, struct name_move *move,
                      const struct tenant *tenant, const char *name);
/* Changes that wait for it go on. */
void names_end_move(struct scheduler *scheduler, struct name_move *move);
bool names_is_moving(const struct scheduler *scheduler, const struct tenant *tenant,
                     const char *name);

/* The name of the job, which is done, moves to its graph, unless a later request gave it away. */
void names_move(struct scheduler *scheduler, struct job *job);
/* Adds the row of the name, which moves with the end of such a job. */
void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit);
/* Deletes the graph if changes of a name made it, it has no name, and no job uses it. Once the move
 * of the name is durable. */
void names_delete_old_graph(struct scheduler *scheduler, const char *graph_id);
/* The graph answers no more; its rows and files go next. call: to answer, or NULL. */
void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call);
