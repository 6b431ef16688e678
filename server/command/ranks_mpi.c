/* apsp-mpi: ranks by MPI. Its calls return no errors: by default one ends all ranks. */
#include "server/command/command.h"
#include "server/solver/cpu/pool.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>

/* MPI counts bytes as an int. */
#define PIECE_BYTES ((size_t)1 << 30)

static void broadcast(void *context, void *data, size_t size, uint32_t root)
{
    (void)context;
    for (size_t done = 0; done < size; done += PIECE_BYTES) {
        const size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        MPI_Bcast((char *)data + done, (int)piece, MPI_BYTE, (int)root, MPI_COMM_WORLD);
    }
}

static uint32_t highest(void *context, uint32_t value)
{
    (void)context;
    uint32_t most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void gather(void *context, void *data, size_t size, uint32_t from)
{
    const struct ranks *ranks = context;
    for (size_t done = 0; done < size; done += PIECE_BYTES) {
        char *piece = (char *)data + done;
        const int bytes = (int)(size - done < PIECE_BYTES ? size - done : PIECE_BYTES);
        if (ranks->rank == 0) {
            MPI_Recv(piece, bytes, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(piece, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

struct ranks *command_ranks_open(int *argc, char ***argv)
{
    static struct ranks ranks = {
        .context = &ranks, .broadcast = broadcast, .highest = highest, .gather = gather};
    int provided = 0;
    int rank = 0;
    int count = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ranks.rank = (uint32_t)rank;
    ranks.count = (uint32_t)count;
    if (rank > 0 && freopen("/dev/null", "w", stdout) == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return &ranks;
}

void command_ranks_close(struct ranks *ranks)
{
    (void)ranks;
    MPI_Finalize();
}

/* A launcher binds each rank to some cores, or all ranks of a host share all of them. */
uint32_t command_ranks_threads(const struct ranks *ranks)
{
    (void)ranks;
    cpu_set_t own;
    cpu_set_t all;
    MPI_Comm host;
    int on_host = 1;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof(own), &own) != 0) {
        CPU_SET(0, &own);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &on_host);
    MPI_Allreduce(&own, &all, (int)sizeof(own), MPI_BYTE, MPI_BOR, host);
    MPI_Comm_free(&host);
    const int share = CPU_COUNT(&all) / on_host;
    const uint32_t threads = cpu_pool_cores();
    return share < 1 ? 1 : (uint32_t)share < threads ? (uint32_t)share : threads;
}
