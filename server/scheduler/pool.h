/* Runs long work on the threads of libuv's pool: finishing, ordering, changing, writing and reading
 * graphs. Loop thread.
 *
 * Tenants take turns: the next work item is the oldest of the least recently served tenant. While
 * several tenants may submit, each uses at most half of the threads of a class, so that the large
 * uploads of one tenant do not delay another. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

struct scheduler;
struct tenant;

enum pool_class {
    POOL_UPLOAD, /* work on an uploaded graph, whose memory is charged */
    POOL_STORED, /* work on a stored graph: at most two at once, which limits memory */
    POOL_CLASS_COUNT
};

/* One piece of work, embedded in the object it works on. */
struct pool_work {
    uv_work_t request;
    struct scheduler *scheduler;
    struct tenant *tenant;
    enum pool_class class_;
    void (*run)(struct pool_work *work); /* called on a pool thread */
    void (*then)(
        struct pool_work *work); /* called on the loop thread after run; may free the work */
    STAILQ_ENTRY(pool_work) in_waiting;
};

struct pool {
    STAILQ_HEAD(, pool_work) waiting; /* the oldest work first */
    uint32_t running[POOL_CLASS_COUNT];
    uint64_t last_turn;
};

/* One tenant's use of the pool. */
struct pool_share {
    uint32_t running[POOL_CLASS_COUNT];
    uint64_t turn; /* number of the tenant's last turn; the lowest is served next */
};

/* Starts the threads and sets their niceness. Must be called before the loop runs. */
MUST_CHECK enum status pool_start(struct scheduler *scheduler);
/* Returns whether work of this class would start at once. */
bool pool_is_free(const struct scheduler *scheduler, const struct tenant *tenant,
                  enum pool_class class_);
/* Queues the work: at the tenant's turn run() is called on a pool thread, and afterwards then() on
 * the loop. Sets the members before `run`. The work must live until then() is called. */
void pool_queue(struct scheduler *scheduler, struct tenant *tenant, enum pool_class class_,
                struct pool_work *work);
/* Returns whether no work runs or waits. */
bool pool_is_idle(const struct pool *pool);
