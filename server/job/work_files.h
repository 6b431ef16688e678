/* The files of a work: opened before a worker has it, closed and judged after. On the daemon's
 * side, whose folders these are: a worker in a process of its own opens nothing. */
#pragma once

#include "server/job/work.h"

struct work_folders {
    int graphs; /* open directories, borrowed */
    int results;
    bool graph_files; /* open the file also of a graph that the work has in memory */
};

/* Sets status, with words: the result file is made, and where the work has no graph the descriptor
 * of its file is there. A cancelled work is STATUS_CANCELLED and has none. Blocks on the disk. */
void work_files_open(const struct work_folders *folders, struct work *work);

/* The graph that a work without one needs here too, for its names and for the check of its result.
 * STATUS_OK when it has it already. */
MUST_CHECK enum status work_files_read_graph(struct work *work);

/* After the solve: what is solved is checked by certificate on some rows, at most sample_rows,
 * drawn at random, and sealed. Sets status and problem; moves the names out of the graph. */
void work_files_judge(uint32_t sample_rows, struct work *work);

/* The result of a work that a process has solved is taken back from it. false: that can write it
 * still, or has cut it, so nothing that it said holds. No process is started meanwhile
 * (worker_process.h). */
MUST_CHECK bool work_files_reclaim(struct work *work);

/* How many rows are checked of a matrix: so many as cost little beside its solve, at least 1, at
 * most sample_rows. */
uint32_t work_files_sample(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count);

/* Posts the load home, then frees what its works no longer need: giving back the pages and blocks
 * of a large result takes longer than a cancel should. */
void work_files_send_home(struct mailbox *home, void (*finished)(struct message *message),
                          struct work_load *load);
