/* The ledger of what is limited: places in the queue, bytes of the disk for results to come, and
 * memory for graphs that wait for a worker. A submission or a job has a struct capacity with what
 * it holds; every amount is reserved for a tenant and released once. Loop thread. */
#pragma once

#include "proto/graph.h"
#include "proto/kind.h"
#include "proto/problem.h"

struct scheduler;
struct scheduler_worker;
struct quota;
struct tenant;

/* Amounts: of one holder, of one step, or of all. */
struct capacity {
    uint32_t queue_places; /* for jobs that are not in the queue yet */
    uint64_t disk_bytes;   /* of a result, until its job has ended */
    uint64_t memory_bytes; /* of a graph that its queued job keeps */
};

struct capacity_ledger {
    struct capacity reserved;
    uint64_t largest_disk_bytes; /* of one holder, since nothing was reserved last */
    uint64_t result_bytes;       /* of all results published */
    uint32_t result_count;
    uint32_t result_limit; /* by the open files that the process may have */
    bool is_full;          /* the disk: nothing new is taken, and nothing begun */
    bool is_paused;        /* nothing is begun until the next look at the disk */
};

/* Bytes of the arrays of a graph, in memory and about the same in its file: an offset a vertex, a
 * target and a weight an edge. */
uint64_t capacity_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type);
/* Bytes of the file of a result; INT64_MAX of one that has no size. */
uint64_t capacity_result_bytes(uint32_t vertex_count, enum kind kind);

/* The worker whose device holds the largest graph of a kind. */
const struct scheduler_worker *capacity_largest_worker(const struct scheduler *scheduler,
                                                       enum kind kind);

void capacity_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity more);
/* `*held` itself as `less` releases all. */
void capacity_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity less);

/* STATUS_QUEUE_FULL or STATUS_JOB_QUOTA when there is no place for one more job. */
MUST_CHECK enum status capacity_check_queue(const struct scheduler *scheduler,
                                            struct tenant *tenant, const struct quota *quota,
                                            struct problem *reterr);
/* STATUS_DISK_FULL, with limit and actual, when this result and graph do not fit beside all that
 * is reserved. */
MUST_CHECK enum status capacity_check_disk(const struct scheduler *scheduler, uint32_t vertex_count,
                                           enum kind kind, uint64_t graph_bytes,
                                           struct problem *reterr);
bool capacity_has_memory(const struct scheduler *scheduler, uint64_t graph_bytes);

/* A step failed for want of something that may be there a little later: nothing is begun until the
 * next look. */
void capacity_pause(struct scheduler *scheduler);
/* A step found no room on the disk: nothing new is taken either, until there is some again. */
void capacity_note_full(struct scheduler *scheduler);
/* Copies the totals to the admission, where HTTP threads read them. */
void capacity_publish(struct scheduler *scheduler);
