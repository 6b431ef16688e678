/* Changes of a stored graph: PATCH of edges and PUT of weights. Each change creates a new graph.
 * Changes of the graph with the same name run one after another, and each checks If-Match when it
 * begins. Loop thread except change_finish_graph. */
#pragma once

#include "server/scheduler/submission.h"

/* Starts the change of the graph with the call's key, or parks it while the name is moving. */
void change_begin(struct submission *submission);
/* Called when the pool has finished the change, successfully or not. */
void change_end(struct submission *submission);
/* Reads the parent graph and applies the changes. Pool thread. */
MUST_CHECK enum status change_finish_graph(struct submission *submission);
