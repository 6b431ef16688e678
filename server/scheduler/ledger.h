/* The ledger of what is limited. A submission or a job has a struct capacity with what it holds:
 * places in the queue and bytes of the disk for results to come. Every amount is reserved for a
 * tenant and released once, by the loop thread. */
#pragma once

#include "proto/graph.h"
#include "proto/kind.h"
#include "proto/result_form.h"

struct job;
struct scheduler;
struct tenant;

/* Amounts: of one holder, of one step, or of all. */
struct capacity {
    uint32_t queue_places; /* for jobs that are not in the queue yet */
    uint64_t disk_bytes;   /* of a result, until its job has ended */
};

struct ledger {
    struct capacity reserved;
    uint64_t largest_disk_bytes; /* of one holder, since nothing was reserved last */
    uint64_t result_bytes;       /* of all results published */
    uint32_t result_count;
    uint32_t result_limit; /* by the open files that the process may have */
    uint32_t file_limit;   /* of these, for results and for what is on its way to the disk */
    bool is_full;          /* the disk: nothing new is taken, and nothing begun */
    bool is_paused;        /* nothing is begun until the next look at the disk */
};

/* Bytes of the arrays of a graph, in memory and about the same in its file: an offset a vertex, a
 * target and a weight an edge. */
uint64_t ledger_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type);
/* Bytes of the file of a result, of a hierarchy about; INT64_MAX of one that has no size. */
uint64_t ledger_result_bytes(enum result_form form, uint32_t vertex_count, uint64_t edge_count,
                             enum kind kind);

void ledger_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity more);
/* Room on the disk for the result that the job will have. */
void ledger_reserve_result(struct scheduler *scheduler, struct job *job, uint64_t edge_count);
/* `*held` itself as `less` releases all. */
void ledger_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                    struct capacity less);

/* Places that are neither taken nor reserved. */
uint32_t ledger_free_places(const struct scheduler *scheduler);
/* Bytes that may still be promised of the disk: 0 while it is full. */
uint64_t ledger_disk_room(const struct scheduler *scheduler);
/* A step failed for want of something that may be there a little later: nothing is begun until the
 * next look. */
void ledger_pause(struct scheduler *scheduler);
/* A step found no room on the disk: nothing new is taken either, until there is some again. */
void ledger_note_full(struct scheduler *scheduler);
/* Copies the totals to the admission, where HTTP threads read them. */
void ledger_publish(struct scheduler *scheduler);
/* The Retry-After of a refusal by what is stored or comes in; 0 for other statuses. */
unsigned ledger_retry_after_s(enum status status);
