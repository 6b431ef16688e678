/* The end of a submission: its commit has come back from the disk. Loop thread. */
#pragma once

struct commit;

/* The commits of a submission have come back: of a graph, of a job. */
void accept_stored_graph(struct commit *commit);
void accept_stored_job(struct commit *commit);
