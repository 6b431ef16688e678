/* Changes of a stored graph: PATCH of edges and PUT of weights, each a new graph, one after another
 * for a name, under the condition of If-Match. */
#pragma once

#include "server/scheduler/submission.h"

/* The first step of a change. */
void change_begin(struct submission *submission);
/* Changes that are parked go on where they can: tenants take turns. */
void change_resume_parked(struct scheduler *scheduler);
/* The change has been applied, or not. */
void change_end(struct submission *submission);
/* On a thread of the pool: the graph with its changes. */
MUST_CHECK enum status change_finish_graph(struct submission *submission);
