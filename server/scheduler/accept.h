/* Ends a submission after its commit has returned from the disk. Loop thread. */
#pragma once

struct commit;

/* Callbacks of the commits of a stored graph and of an accepted job. */
void accept_stored_graph(struct commit *commit);
void accept_stored_job(struct commit *commit);
