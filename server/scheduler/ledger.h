/* The ledger of limited resources: places in the queue, and disk space for future results. A
 * submission or a job has a struct capacity with the amounts reserved for it. Every amount is
 * reserved for a tenant and released once. Loop thread. */
#pragma once

#include "proto/graph.h"
#include "proto/kind.h"
#include "proto/result_form.h"

struct job;
struct scheduler;
struct tenant;

/* Reserved amounts: of one submission or job, of one reservation, or the total of all of them. */
struct capacity {
    uint32_t queue_places; /* number of places for jobs that are not in the queue yet */
    uint64_t disk_bytes;   /* space for a result, until its job has ended */
};

struct ledger {
    struct capacity reserved;
    uint64_t largest_disk_bytes; /* largest reservation since the total was last 0 */
    uint64_t result_bytes;       /* bytes of all published results */
    uint32_t result_count;
    uint32_t result_limit; /* maximum number of results, from the process's limit of open files */
    uint32_t file_limit;   /* maximum number of open result files */
    bool is_full;          /* the disk is full: no new work is accepted and no job is started */
    bool is_paused;        /* no job is started until the next check of the disk */
};

/* Returns the bytes of the arrays of a graph in memory, about the size of its file: an offset per
 * vertex, a target and a weight per edge. */
uint64_t ledger_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type);
/* Returns the bytes of a result's file, an estimate for a hierarchy; INT64_MAX on overflow. */
uint64_t ledger_result_bytes(enum result_form form, uint32_t vertex_count, uint64_t edge_count,
                             enum kind kind);

void ledger_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity more);
/* Reserves disk space for the job's result. */
void ledger_reserve_result(struct scheduler *scheduler, struct job *job, uint64_t edge_count);
/* Releases a reservation; pass `*held` as `less` to release all of it. */
void ledger_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity less);

/* Returns the number of queue places that are neither occupied nor reserved. */
uint32_t ledger_free_places(const struct scheduler *scheduler);
/* Returns the bytes of the disk that can still be reserved; 0 while the disk is full. */
uint64_t ledger_disk_room(const struct scheduler *scheduler);
/* Stops starting jobs until the next check of the disk. Called when memory or files ran out. */
void ledger_pause(struct scheduler *scheduler);
/* Like ledger_pause, and refuses new work until there is space. Called when the disk is full. */
void ledger_note_full(struct scheduler *scheduler);
/* Copies the totals to struct admission, where HTTP threads read them. */
void ledger_publish(struct scheduler *scheduler);
/* Returns the seconds of Retry-After for a lack of storage or upload memory, else 0. */
unsigned ledger_retry_after_s(enum status status);
