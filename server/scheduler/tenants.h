/* Tenants: the owners of graphs and jobs, and the limits of their keys.
 *
 * The tenant without a name, number 0, is the only one while no keys are configured. The loop
 * thread creates tenants and frees them only when the scheduler is destroyed, so any thread may
 * store and compare pointers to them. Only the loop thread accesses members that are not atomic. */
#pragma once

#include "proto/problem.h"
#include "server/scheduler/pool.h"
#include "server/scheduler/queue.h"
#include "server/store/catalogue.h"

#include <sys/queue.h>

struct admission;
struct graph_entry;

struct tenant {
    char name[TENANT_NAME_SIZE];
    uint32_t number;               /* the tenant's number in keys of the result table */
    struct job_share share;        /* the tenant's jobs in the queue */
    atomic_uint reserved_places;   /* number of queue places reserved for its submissions */
    atomic_ullong stored_bytes;    /* bytes of the tenant's graphs and results */
    atomic_ullong reserved_bytes;  /* bytes of the future results of its unfinished jobs */
    _Atomic uint64_t upload_bytes; /* bytes charged to the tenant's current uploads */
    struct pool_share pool;
    LIST_HEAD(, job) jobs; /* newest first, as in both tables */
    LIST_HEAD(, graph_entry) graphs;
    struct tenant *next;
};

/* The limits that a key sets for its tenant; 0 = no limit. */
struct quota {
    uint32_t waiting_jobs;
    uint32_t vertex_limit;
    uint64_t stored_bytes;
};

/* Returns the tenant's number, or 0 for NULL (no tenant). Any thread. */
static inline uint32_t tenant_number(const struct tenant *tenant)
{
    return tenant != NULL ? tenant->number : 0;
}

/* Compares two tenants by their numbers; the result is below, at or above 0 as in strcmp. */
static inline int tenant_compare(const struct tenant *first, const struct tenant *second)
{
    const uint32_t a = tenant_number(first);
    const uint32_t b = tenant_number(second);
    return (a > b) - (a < b);
}

/* Finds a tenant in the list or creates it; the first one created has number 0. The name must be
 * shorter than TENANT_NAME_SIZE. Loop thread. */
MUST_CHECK enum status tenant_find(struct tenant **tenants, const char *name,
                                   struct tenant **ret_tenant);
void tenant_free_all(struct tenant *tenants);
/* Returns STATUS_QUEUE_FULL or STATUS_JOB_QUOTA, with a problem, if the queue has no place for one
 * more job of the tenant. While several tenants may submit, a tenant may not have more jobs in the
 * queue than there are free places: one tenant alone gets half of the queue, and the last place
 * goes to a tenant without jobs. free_places: number of free places out of `limit`. */
MUST_CHECK enum status tenant_check_queue(const struct admission *admission, uint32_t free_places,
                                          uint32_t limit, struct tenant *tenant,
                                          const struct quota *quota, struct problem *reterr);
/* Returns STATUS_STORAGE_QUOTA with a problem if more_bytes would exceed the quota. */
MUST_CHECK enum status tenant_check_bytes(struct tenant *tenant, const struct quota *quota,
                                          uint64_t more_bytes, struct problem *reterr);
