/* Ranks: processes, on one host or several, that solve one graph together. The program that starts
 * the ranks creates a struct ranks with the operations below; the CPU and GPU solvers borrow it and
 * know nothing else of the other ranks. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One process's view of the group, and its collective operations for the solving thread. */
struct ranks {
    uint32_t rank; /* index of this process, 0..count-1 */
    uint32_t count;
    uint32_t on_host;      /* number of ranks on the host of this process */
    uint32_t rank_on_host; /* index of this process among the ranks of its host */
    uint32_t threads; /* number of threads of this process; the ranks of a host divide its cores */
    void *context;
    /* All ranks call the broadcasts, in the same order. The data of rank `root` is copied to all
     * ranks. Several broadcasts may be in progress; no rank may touch the data until
     * complete_broadcasts returns. */
    void (*start_broadcast)(void *context, void *data, size_t size, uint32_t root);
    void (*complete_broadcasts)(void *context);
    /* Computes the maximum of the values of all ranks and returns it to all of them. */
    uint32_t (*highest)(void *context, uint32_t value);
    /* Copies the data of rank `from` to rank 0. Only these two ranks call it. */
    void (*gather)(void *context, void *data, size_t size, uint32_t from);
    /* Terminates all ranks when the calling rank has lost its device. Does not return. */
    void (*end)(void *context);
    /* Copies the data of rank 0 to all ranks, which wait for it without using a processor. */
    void (*await)(void *context, void *data, size_t size);
};

/* Returns whether this process is the first rank, which holds the graph at the start and the whole
 * matrix at the end. */
static inline bool ranks_is_first(const struct ranks *ranks)
{
    return ranks == NULL || ranks->rank == 0;
}

static inline void ranks_broadcast(const struct ranks *ranks, void *data, size_t size,
                                   uint32_t root)
{
    ranks->start_broadcast(ranks->context, data, size, root);
    ranks->complete_broadcasts(ranks->context);
}

/* Returns the status that all ranks agree on: STATUS_OK only if every rank passes STATUS_OK. ranks
 * may be NULL: this process is alone. */
static inline enum status ranks_agree(const struct ranks *ranks, enum status status)
{
    return ranks != NULL ? (enum status)ranks->highest(ranks->context, (uint32_t)status) : status;
}
