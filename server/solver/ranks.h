/* Ranks: processes, on one host or several, that solve one graph together. Each has the graph and
 * the plan, and every count-th row of tiles; what a round needs of the others' rows is broadcast.
 *
 * A rank that fails alone would leave the others waiting: whatever may fail in one of them, memory
 * above all, is agreed before they go on. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

/* How one of them reaches the others; made by the program that starts them. */
struct ranks {
    uint32_t rank; /* of this process, 0..count-1 */
    uint32_t count;
    uint32_t on_host; /* of them, on the host of this one */
    uint32_t threads; /* for this one: those of a host divide its cores */
    void *context;
    /* All ranks call these, in the same order. The data of rank `root` becomes that of all. */
    void (*broadcast)(void *context, void *data, size_t size, uint32_t root);
    /* The highest of all their values, for all of them. */
    uint32_t (*highest)(void *context, uint32_t value);
    /* Called by rank 0 and by rank `from` alone: the data of `from` becomes that of rank 0. */
    void (*gather)(void *context, void *data, size_t size, uint32_t from);
    /* The data of rank 0 becomes that of all, who may wait for it long, and idle. */
    void (*await)(void *context, void *data, size_t size);
};

/* Whether this process is the one that has the graph at first, and the whole matrix at the end. */
static inline bool ranks_is_first(const struct ranks *ranks)
{
    return ranks == NULL || ranks->rank == 0;
}

/* The status of all, for each of them: OK only when it is that everywhere. ranks NULL = this
 * process is alone. */
enum status ranks_agree(const struct ranks *ranks, enum status status);

/* The graph of rank 0, which goes by the numbers of its rows elsewhere. status: of rank 0's reading
 * it; the other ranks' graph is set on STATUS_OK alone. STATUS_NO_MEMORY. */
MUST_CHECK enum status ranks_share_graph(const struct ranks *ranks, enum status status,
                                         struct graph **graph);

/* The plan of rank 0, likewise: two searches for separators may find different ones. tile: of the
 * solver. */
MUST_CHECK enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph,
                                        uint32_t tile, enum status status, struct plan **plan);

/* ---- ranks_mpi.c in apsp-mpi and apspd-mpi, ranks_absent.c in apsp and apspd ---- */

/* The processes that mpirun or srun started with this one; takes the launcher's own arguments away.
 * NULL without MPI. All but the first have no standard output. A failure of MPI ends them all. */
struct ranks *ranks_open(int *argc, char ***argv);
void ranks_close(struct ranks *ranks);
