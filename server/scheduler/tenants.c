#include "server/scheduler/tenants.h"

#include "server/scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>

/* The search is linear, because it is needed only at start-up and when the keys are read. */
enum status tenant_find(struct tenant **tenants, const char *name, struct tenant **ret_tenant)
{
    const size_t size = strlen(name) + 1;
    struct tenant *tenant = *tenants;
    CHECK(size <= TENANT_NAME_SIZE);
    while (tenant != NULL && strcmp(tenant->name, name) != 0) {
        tenant = tenant->next;
    }
    if (tenant == NULL) {
        tenant = calloc(1, sizeof(*tenant));
        if (tenant == NULL) {
            return STATUS_NO_MEMORY;
        }
        memcpy(tenant->name, name, size);
        tenant->number = *tenants != NULL ? (*tenants)->number + 1 : 0;
        tenant->next = *tenants;
        *tenants = tenant;
    }
    *ret_tenant = tenant;
    return STATUS_OK;
}

void tenant_free_all(struct tenant *tenants)
{
    while (tenants != NULL) {
        struct tenant *next = tenants->next;
        free(tenants);
        tenants = next;
    }
}

enum status tenant_check_queue(const struct admission *admission, uint32_t free_places,
                               uint32_t limit, struct tenant *tenant, const struct quota *quota,
                               struct problem *reterr)
{
    const unsigned waiting =
        tenant != NULL ? atomic_load(&tenant->share.count) + atomic_load(&tenant->reserved_places)
                       : 0;
    if (free_places == 0) {
        return problem_refuse_limit(reterr, STATUS_QUEUE_FULL, limit, limit,
                                    "Retry after the number of seconds in the Retry-After header.",
                                    "The queue is full: %u jobs are waiting.", limit);
    }
    if (waiting >= free_places && atomic_load(&admission->tenant_count) > 1) {
        return problem_refuse_limit(
            reterr, STATUS_QUEUE_FULL, free_places, waiting,
            "Retry after the number of seconds in the Retry-After header, or cancel a job.",
            "The %u free places of the queue are reserved for tenants with fewer waiting jobs; "
            "this tenant has %u.",
            free_places, waiting);
    }
    if (quota->waiting_jobs == 0 || waiting < quota->waiting_jobs) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_JOB_QUOTA, quota->waiting_jobs, waiting,
        "Retry after the number of seconds in the Retry-After header, or cancel a job.",
        "This key allows no more waiting jobs.");
}

enum status tenant_check_bytes(struct tenant *tenant, const struct quota *quota,
                               uint64_t more_bytes, struct problem *reterr)
{
    if (quota->stored_bytes == 0) {
        return STATUS_OK;
    }
    uint64_t bytes = atomic_load(&tenant->stored_bytes) + atomic_load(&tenant->reserved_bytes);
    if (__builtin_add_overflow(bytes, more_bytes, &bytes)) {
        bytes = UINT64_MAX;
    }
    if (bytes <= quota->stored_bytes) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_STORAGE_QUOTA, (double)quota->stored_bytes, (double)bytes,
        "Delete graphs that are no longer needed.",
        "The graphs and results would exceed the storage quota of this key.");
}
