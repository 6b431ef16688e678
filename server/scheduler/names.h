/* Names that move to the graph of a job (an upload or a change) when the job is done, and the
 * deletion of graphs. While the job runs, the name still finds the previous graph; if the job
 * fails, the name stays there. If several jobs request one name, the last accepted job gets it.
 * Loop thread. */
#pragma once

#include "server/scheduler/tenants.h"

struct call;
struct commit;

/* A pending move of a name. It begins with the change or job, and ends when the job's end is
 * durable. */
struct name_move {
    LIST_ENTRY(name_move) in_moves;
    const struct tenant *tenant;
    const char *name;         /* borrowed; NULL = no move */
    char from[GRAPH_ID_SIZE]; /* the graph that lost the name; empty before the move */
};

/* Registers the move; does nothing for an empty name. */
void names_begin_move(struct scheduler *scheduler, struct name_move *move,
                      const struct tenant *tenant, const char *name);
/* Ends the move and resumes changes that wait for the name. */
void names_end_move(struct scheduler *scheduler, struct name_move *move);
bool names_is_moving(const struct scheduler *scheduler, const struct tenant *tenant,
                     const char *name);

/* Moves the name of a finished job to its graph, unless a later request has reassigned the name. */
void names_move(struct scheduler *scheduler, struct job *job);
/* Adds the row of the job's name to the commit, if the name moves when the job ends. */
void names_add_row(struct scheduler *scheduler, const struct job *job, struct commit *commit);
/* Deletes the graph if it was created by changing a named graph and now has neither a name nor an
 * unfinished job. Called once the move of the name is durable. */
void names_delete_old_graph(struct scheduler *scheduler, const char *graph_id);
/* Hides the graph from queries and deletes its rows and files. call: to be answered, or NULL. */
void names_delete_graph(struct scheduler *scheduler, struct graph_entry *entry, struct call *call);
