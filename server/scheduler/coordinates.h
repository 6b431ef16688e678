/* Puts, deletes and copies coordinates of stored graphs. Loop thread, except coordinates_copy. */
#pragma once

#include "server/scheduler/submission.h"

void coordinates_put(struct scheduler *scheduler, struct call *call);
void coordinates_delete(struct scheduler *scheduler, struct call *call);
/* Copies the coordinates of the graph submission->placed_id into a draft for the new graph, if they
 * exist and both graphs have the same vertices. Pool thread. */
MUST_CHECK enum status coordinates_copy(struct submission *submission);
