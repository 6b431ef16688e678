/* Ranks: processes, on one host or several, that solve one graph together. Each has the graph and
 * the plan, and every count-th row of tiles; what a round needs of the others' rows is broadcast.
 *
 * A rank that fails alone would leave the others waiting: whatever may fail in one of them, memory
 * above all, is agreed before they go on. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/ranks.h"

/* The graph of rank 0, which goes by the numbers of its rows elsewhere. status: of rank 0's reading
 * it; the other ranks' graph is set on STATUS_OK alone. STATUS_NO_MEMORY. */
MUST_CHECK enum status ranks_share_graph(const struct ranks *ranks, enum status status,
                                         struct graph **graph);

/* The plan of rank 0, likewise: two searches for separators may find different ones. tile: of the
 * solver. */
MUST_CHECK enum status ranks_share_plan(const struct ranks *ranks, const struct graph *graph,
                                        uint32_t tile, enum status status, struct plan **plan);

/* A rank's mapping of the file in which the matrix of rank 0 lies. */
struct ranks_mapping {
    void *memory; /* NULL: none */
    size_t size;
};

/* Lets all ranks write into the matrix of rank 0, where they are on one host and it is a mapping of
 * a file, from `offset` on; file: 0 = of none; both are those of rank 0. The others map the file
 * too, and get elements, until ranks_unshare_matrix. Where one of them cannot, none does: false. */
bool ranks_share_matrix(const struct ranks *ranks, int file, uint64_t offset, struct matrix *matrix,
                        struct ranks_mapping *ret_mapping);
void ranks_unshare_matrix(struct ranks_mapping *mapping, struct matrix *matrix);

/* ---- ranks_mpi.c in apsp-mpi and apspd-mpi, ranks_absent.c in apsp and apspd ---- */

/* The processes that mpirun or srun started with this one; takes the launcher's own arguments away.
 * NULL without MPI. All but the first have no standard output. A failure of MPI ends them all. */
struct ranks *ranks_open(int *argc, char ***argv);
void ranks_close(struct ranks *ranks);
