/* Work that takes long, on the threads of libuv's pool: graphs are finished, ordered, changed and
 * written, stored ones are read. Tenants take turns. Loop thread.
 *
 * The next work is the oldest of the tenant that was given a thread longest ago. While several
 * tenants may submit, one of them has at most half of the threads of a class, so that the large
 * uploads of a tenant do not hold up another. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

struct scheduler;
struct tenant;

enum pool_class {
    POOL_UPLOAD, /* of a graph that came in, whose memory is charged */
    POOL_STORED, /* of a stored graph that is read: at most two at once, as nothing else limits
                    their memory */
    POOL_CLASS_COUNT
};

/* One piece of work, embedded in what it works on. */
struct pool_work {
    uv_work_t request;
    struct scheduler *scheduler;
    struct tenant *tenant;
    enum pool_class class_;
    void (*run)(struct pool_work *work);  /* on a thread of the pool */
    void (*then)(struct pool_work *work); /* on the loop, after run; may free the work */
    STAILQ_ENTRY(pool_work) in_waiting;
};

struct pool {
    STAILQ_HEAD(, pool_work) waiting; /* the oldest first */
    uint32_t running[POOL_CLASS_COUNT];
    uint64_t last_turn;
};

/* The part of the pool that a tenant has. */
struct pool_share {
    uint32_t running[POOL_CLASS_COUNT];
    uint64_t turn; /* the lowest is the tenant that was given a thread longest ago */
};

/* Before the loop runs: starts the threads, and gives them a niceness of their own. */
MUST_CHECK enum status pool_start(struct scheduler *scheduler);
/* Whether work of this class would start at once. */
bool pool_is_free(const struct scheduler *scheduler, const struct tenant *tenant,
                  enum pool_class class_);
/* Has run() called on a thread when it is the tenant's turn, then then(). The members before run
 * are filled here; the work must live until then. */
void pool_queue(struct scheduler *scheduler, struct tenant *tenant, enum pool_class class_,
                struct pool_work *work);
/* Whether nothing runs or waits. */
bool pool_is_idle(const struct pool *pool);
