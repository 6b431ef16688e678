/* Ranks: processes, on one host or several, that solve one graph together. Whoever starts them
 * makes a struct ranks, with the few things that they do together; solvers on processors and on
 * GPUs know no more of each other than that. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a process that solves a graph together with others, its rank among them, reaches these; made
 * by the program that starts them. */
struct ranks {
    uint32_t rank; /* of this process, 0..count-1 */
    uint32_t count;
    uint32_t on_host;      /* of them, on the host of this one */
    uint32_t rank_on_host; /* of this process, among those */
    uint32_t threads;      /* for this one: those of a host divide its cores */
    void *context;
    /* All ranks call these, in the same order. The data of rank `root` becomes that of all: of
     * several that were started at once, and that nobody touches until all have been completed. */
    void (*start_broadcast)(void *context, void *data, size_t size, uint32_t root);
    void (*complete_broadcasts)(void *context);
    /* The highest of all their values, for all of them. */
    uint32_t (*highest)(void *context, uint32_t value);
    /* Called by rank 0 and by rank `from` alone: the data of `from` becomes that of rank 0. */
    void (*gather)(void *context, void *data, size_t size, uint32_t from);
    /* Ends all ranks, by the one that calls it, when it has lost its device: does not return. */
    void (*end)(void *context);
    /* The data of rank 0 becomes that of all, who may wait for it long, and idle. */
    void (*await)(void *context, void *data, size_t size);
};

/* Whether this process is the one that has the graph at first, and the whole matrix at the end. */
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

/* The status of all, for each of them: OK only when it is that everywhere. ranks NULL = this
 * process is alone. */
static inline enum status ranks_agree(const struct ranks *ranks, enum status status)
{
    return ranks != NULL ? (enum status)ranks->highest(ranks->context, (uint32_t)status) : status;
}
