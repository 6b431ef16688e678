/* Tenants: the owners of graphs and jobs, and the limits of their keys.
 *
 * The tenant without a name, of number 0, is the only one while no keys are configured. The loop
 * thread makes tenants and frees none before its end, so any thread may keep a pointer to one and
 * compare it; the members that are not atomic are the loop thread's. */
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
    uint32_t number;               /* owner of its keys in the table of results */
    struct job_share share;        /* its jobs in the queue */
    atomic_uint reserved_places;   /* in the queue, for its submissions under way */
    atomic_ullong stored_bytes;    /* of its graphs and results */
    atomic_ullong reserved_bytes;  /* of the results that its unfinished jobs will have */
    _Atomic uint64_t upload_bytes; /* charged to its uploads under way */
    struct pool_share pool;
    LIST_HEAD(, job) jobs; /* newest first, as both tables hold them */
    LIST_HEAD(, graph_entry) graphs;
    struct tenant *next;
};

/* The limits that a key sets for its tenant; 0 = no limit. */
struct quota {
    uint32_t waiting_jobs;
    uint32_t vertex_limit;
    uint64_t stored_bytes;
};

/* Any thread, as all below that has no scheduler. NULL is nobody. */
static inline uint32_t tenant_number(const struct tenant *tenant)
{
    return tenant != NULL ? tenant->number : 0;
}

/* Below, at or above 0, as first comes before second, is it, or comes after: by their numbers. */
static inline int tenant_compare(const struct tenant *first, const struct tenant *second)
{
    const uint32_t a = tenant_number(first);
    const uint32_t b = tenant_number(second);
    return (a > b) - (a < b);
}

/* Finds it in the list, or makes it; the first that is made has number 0. The name is shorter than
 * TENANT_NAME_SIZE. Loop thread. */
MUST_CHECK enum status tenant_find(struct tenant **tenants, const char *name,
                                   struct tenant **ret_tenant);
void tenant_free_all(struct tenant *tenants);
/* STATUS_QUEUE_FULL or STATUS_JOB_QUOTA, with words, when there is no place in the queue for one
 * more job. While several tenants may submit, the free places are kept for those that have fewer
 * jobs in the queue than there are free places: one alone takes half of them, and the last place
 * goes to a tenant that has none. free_places: of `limit` in all. */
MUST_CHECK enum status tenant_check_queue(const struct admission *admission, uint32_t free_places,
                                          uint32_t limit, struct tenant *tenant,
                                          const struct quota *quota, struct problem *reterr);
/* STATUS_STORAGE_QUOTA with words when so many bytes more would be. */
MUST_CHECK enum status tenant_check_bytes(struct tenant *tenant, const struct quota *quota,
                                          uint64_t more_bytes, struct problem *reterr);
