/* Changes of a stored graph: PATCH of edges and PUT of weights, each a new graph, one after another
 * for a name, under the condition of If-Match. */
#pragma once

#include "server/scheduler/submission.h"

/* Goes on with the graph that the key of the call finds, or parks until its name has moved. */
void change_begin(struct submission *submission);
/* The change has been applied, or not. */
void change_end(struct submission *submission);
/* On a thread of the pool: the graph with its changes. */
MUST_CHECK enum status change_finish_graph(struct submission *submission);
