/* Tenants: whom graphs and jobs belong to. The one without a name, of number 0, is the only one
 * while no keys are configured.
 *
 * The scheduler's loop thread makes them and never frees one before its end, so a pointer to one
 * may be kept, and compared, by any thread; what is not atomic is the loop thread's. */
#pragma once

#include "server/job/job_queue.h"

struct tenant {
    char name[TENANT_NAME_SIZE];
    uint32_t number;               /* owner of its keys in the table of results */
    struct job_share share;        /* its jobs in the queue */
    atomic_uint reserved_places;   /* in the queue, for its submissions under way */
    atomic_ullong stored_bytes;    /* of its graphs and results */
    atomic_ullong reserved_bytes;  /* of the results that its unfinished jobs will have */
    _Atomic uint64_t upload_bytes; /* charged to its uploads under way */
    struct tenant *next;
};

/* The limits that a key sets for its tenant; 0 = no limit. */
struct quota {
    uint32_t waiting_jobs;
    uint32_t vertex_limit;
    uint64_t stored_bytes;
};

struct tenant_table;

MUST_CHECK enum status tenant_table_create(struct tenant_table **ret_table);
void tenant_table_destroy(struct tenant_table *table);
/* Finds it, or makes it. The name is shorter than TENANT_NAME_SIZE. */
MUST_CHECK enum status tenant_table_get(struct tenant_table *table, const char *name,
                                        struct tenant **ret_tenant);

/* Any thread, from here on. NULL is nobody. */
uint32_t tenant_number(const struct tenant *tenant);
/* Below, at or above 0, as first comes before second, is it, or comes after: by their numbers. */
int tenant_compare(const struct tenant *first, const struct tenant *second);
/* STATUS_JOB_QUOTA with words when one more job would be too many. */
MUST_CHECK enum status tenant_check_jobs(struct tenant *tenant, const struct quota *quota,
                                         struct problem *reterr);
/* STATUS_STORAGE_QUOTA with words when so many bytes more would be. */
MUST_CHECK enum status tenant_check_bytes(struct tenant *tenant, const struct quota *quota,
                                          uint64_t more_bytes, struct problem *reterr);
