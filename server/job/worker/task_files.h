/* The files of a task: opened before a worker has it, closed and judged after. On the daemon's
 * side, whose folders these are: a worker in a process of its own opens nothing. */
#pragma once

#include "server/job/worker/task.h"

struct task_folders {
    int graphs; /* open directories, borrowed */
    int results;
    bool graph_files; /* open the file also of a graph that the task has in memory */
};

/* Sets status, with words: the result file is made, and where the task has no graph the descriptor
 * of its file is there. A cancelled work is STATUS_CANCELLED and has none. Blocks on the disk. */
void task_files_open(const struct task_folders *folders, struct task *task);

/* The graph that a task without one needs here too, for its names and for the check of its result.
 * STATUS_OK when it has it already. */
MUST_CHECK enum status task_files_read_graph(struct task *task);

/* After the solve: what is solved is checked by certificate on some rows, at most sample_rows,
 * drawn at random, and sealed. Sets status and problem; moves the names out of the graph. */
void task_files_judge(uint32_t sample_rows, struct task *task);

/* How many rows are checked of a matrix: so many as cost little beside its solve, at least 1, at
 * most sample_rows. */
uint32_t task_files_sample(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count);

/* Posts the task home, then frees what it no longer needs: giving back the pages and blocks of a
 * large result takes longer than a cancel should. */
void task_files_send_home(struct mailbox *home, void (*finished)(struct message *message),
                          struct task *task);
