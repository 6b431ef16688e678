#include "server/job/tenant.h"

#include <stdlib.h>
#include <string.h>

/* Few, and looked for only when keys are read and at the start. */
struct tenant_table {
    struct tenant *first;
    uint32_t count;
};

enum status tenant_table_create(struct tenant_table **ret_table)
{
    struct tenant_table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct tenant *nobody;
    enum status status = tenant_table_get(table, "", &nobody);
    if (status != STATUS_OK) {
        free(table);
        return status;
    }
    CHECK(nobody->number == 0);
    *ret_table = table;
    return STATUS_OK;
}

void tenant_table_destroy(struct tenant_table *table)
{
    if (table == NULL) {
        return;
    }
    while (table->first != NULL) {
        struct tenant *tenant = table->first;
        table->first = tenant->next;
        free(tenant);
    }
    free(table);
}

enum status tenant_table_get(struct tenant_table *table, const char *name,
                             struct tenant **ret_tenant)
{
    size_t size = strlen(name) + 1;
    struct tenant *tenant = table->first;
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
        tenant->number = table->count++;
        tenant->next = table->first;
        table->first = tenant;
    }
    *ret_tenant = tenant;
    return STATUS_OK;
}

uint32_t tenant_number(const struct tenant *tenant)
{
    return tenant != NULL ? tenant->number : 0;
}

int tenant_compare(const struct tenant *first, const struct tenant *second)
{
    const uint32_t a = tenant_number(first);
    const uint32_t b = tenant_number(second);
    return (a > b) - (a < b);
}

enum status tenant_check_jobs(struct tenant *tenant, const struct quota *quota,
                              struct problem *reterr)
{
    unsigned waiting = atomic_load(&tenant->share.count) + atomic_load(&tenant->reserved_places);
    if (quota->waiting_jobs == 0 || waiting < quota->waiting_jobs) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_JOB_QUOTA, "As many jobs wait as this key allows.");
    problem_limit(reterr, quota->waiting_jobs, waiting);
    problem_hint(reterr, "Come back after the seconds in Retry-After, or cancel a job.");
    return STATUS_JOB_QUOTA;
}

enum status tenant_check_bytes(struct tenant *tenant, const struct quota *quota,
                               uint64_t more_bytes, struct problem *reterr)
{
    uint64_t bytes;
    if (quota->stored_bytes == 0) {
        return STATUS_OK;
    }
    bytes = atomic_load(&tenant->stored_bytes) + atomic_load(&tenant->reserved_bytes);
    if (__builtin_add_overflow(bytes, more_bytes, &bytes)) {
        bytes = UINT64_MAX;
    }
    if (bytes <= quota->stored_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_STORAGE_QUOTA,
                "Graphs and results would take more bytes than this key allows.");
    problem_limit(reterr, (double)quota->stored_bytes, (double)bytes);
    problem_hint(reterr, "Delete graphs that are not needed any more.");
    return STATUS_STORAGE_QUOTA;
}
