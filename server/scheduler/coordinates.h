/* The coordinates of a stored graph: put, deleted, and copied to a
 * new graph. Loop thread, but for the copy. */
#pragma once

#include "server/scheduler/submission.h"

void coordinates_put(struct scheduler *scheduler, struct call *call);
void coordinates_delete(struct scheduler *scheduler, struct call *call);
/* On a thread of the pool: the coordinates of the graph of placed_id, if it has any and the same
 * vertices, as a file for the new graph. */
MUST_CHECK enum status coordinates_copy(struct submission *submission);
