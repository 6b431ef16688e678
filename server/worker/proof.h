/* The daemon proves rows of a result before the result is published. The worker that computed it is
 * not trusted: a broken device, or a process that was broken into, may have written anything.
 * Thread of the worker. */
#pragma once

#include "server/solver/cpu/pool.h"
#include "server/worker/task.h"

/* After the solve: seals the result and proves some of its rows, at most sample_rows, drawn at
 * random, by certificate. Rows of a hierarchy are computed first. *pool has `threads` threads (0:
 * one for each core), is created when rows and edges are many, and is kept by the caller: new
 * threads start on their creator's core and take a while to migrate. Sets status and problem; moves
 * the names out of the graph. */
void proof_check(uint32_t sample_rows, uint32_t threads, struct cpu_pool **pool, struct task *task);
/* The number of rows of a matrix to prove: as many as cost little compared to its solve, at least
 * 1, at most sample_rows. */
uint32_t proof_matrix_rows(uint32_t sample_rows, uint32_t vertex_count, uint64_t edge_count);
/* The number of rows of a hierarchy to prove. The rows stay in memory, at most about 256 MiB, until
 * they are proven. After an update that followed arcs one row is proven, as that already takes
 * longer than the update. */
uint32_t proof_hierarchy_rows(uint32_t sample_rows, bool verify, bool is_followed,
                              size_t row_bytes);
