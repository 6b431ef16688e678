/* The results of MPI calls are not checked, because by default an error ends all ranks. */
#include "server/solver/ranks_mpi.h"

#include "server/solver/cpu/pool.h"

#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Maximum bytes of a message, because MPI counts bytes in an int. */
#define PIECE_BYTES ((size_t)1 << 30)
/* An idle rank polls with this pause, because a blocking wait of MPI keeps the processor busy. */
#define IDLE_MS 5

/* Broadcasts in progress. If all entries are in use, start_broadcast completes them first. */
static MPI_Request requests[64];
static int request_count;

static void complete_broadcasts(void *context)
{
    (void)context;
    MPI_Waitall(request_count, requests, MPI_STATUSES_IGNORE);
    request_count = 0;
}

static void start_broadcast(void *context, void *data, size_t size, uint32_t root)
{
    for (size_t done = 0; done < size; done += PIECE_BYTES) {
        const size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        if (request_count == sizeof(requests) / sizeof(requests[0])) {
            complete_broadcasts(context);
        }
        MPI_Ibcast((char *)data + done, (int)piece, MPI_BYTE, (int)root, MPI_COMM_WORLD,
                   &requests[request_count++]);
    }
}

static uint32_t find_highest(void *context, uint32_t value)
{
    (void)context;
    uint32_t most = 0;
    MPI_Allreduce(&value, &most, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void gather_data(void *context, void *data, size_t size, uint32_t from)
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

static void end_all(void *context)
{
    const struct ranks *ranks = context;
    fprintf(stderr, "rank %u has lost its device: all ranks exit\n", ranks->rank);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static void await_data(void *context, void *data, size_t size)
{
    const struct ranks *ranks = context;
    MPI_Request request;
    int is_there = 0;
    MPI_Ibcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    while (!is_there) {
        (void)poll(NULL, 0, ranks->rank == 0 ? 0 : IDLE_MS);
        MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    }
}

/* Divides the cores of a host among its ranks, even if the launcher has bound ranks to cores. */
static void divide_host(struct ranks *ranks)
{
    cpu_set_t own;
    cpu_set_t all;
    MPI_Comm host;
    int on_host = 1;
    int rank = 0;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof(own), &own) != 0) {
        CPU_SET(0, &own);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &on_host);
    MPI_Comm_rank(host, &rank);
    MPI_Allreduce(&own, &all, (int)sizeof(own), MPI_BYTE, MPI_BOR, host);
    MPI_Comm_free(&host);
    const int share = CPU_COUNT(&all) / on_host;
    const uint32_t threads = cpu_pool_cores();
    ranks->on_host = (uint32_t)on_host;
    ranks->rank_on_host = (uint32_t)rank;
    ranks->threads = share < 1 ? 1 : (uint32_t)share < threads ? (uint32_t)share : threads;
}

struct ranks *ranks_mpi_open(int *argc, char ***argv)
{
    static struct ranks ranks = {.context = &ranks,
                                 .start_broadcast = start_broadcast,
                                 .complete_broadcasts = complete_broadcasts,
                                 .highest = find_highest,
                                 .gather = gather_data,
                                 .end = end_all,
                                 .await = await_data};
    int provided = 0;
    int rank = 0;
    int count = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ranks.rank = (uint32_t)rank;
    ranks.count = (uint32_t)count;
    divide_host(&ranks);
    if (rank > 0 && freopen("/dev/null", "w", stdout) == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return &ranks;
}

void ranks_mpi_close(void)
{
    MPI_Finalize();
}
