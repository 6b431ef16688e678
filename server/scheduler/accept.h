/* Ends a submission after its commit has returned from the disk. Loop thread. */
#pragma once

struct commit;

/* Called when the commit of a stored graph, or of an accepted job, has returned. */
void accept_stored_graph(struct commit *commit);
void accept_stored_job(struct commit *commit);
