#include "server/job/job_table.h"

#include "proto/check.h"
#include "server/job/tenant.h"

#include <search.h>
#include <string.h>

/* Two balanced trees over the same jobs (tsearch of the C library). */
struct job_table {
    void *by_id;
    void *by_key;
    struct job *newest;
    struct job *oldest;
};

/* By whose they are first: the words of one tenant are never compared with those of another, so
 * that the time of a look tells nothing of them. */
static int compare_id(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->id, b->id);
}

static int compare_key(const void *left, const void *right)
{
    const struct job *a = left;
    const struct job *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->idempotency_key, b->idempotency_key);
}

enum status job_table_create(struct job_table **ret_table)
{
    struct job_table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    *ret_table = table;
    return STATUS_OK;
}

void job_table_destroy(struct job_table *table)
{
    if (table == NULL) {
        return;
    }
    while (table->oldest != NULL) {
        job_table_remove(table, table->oldest);
    }
    free(table);
}

static void append(struct job_table *table, struct job *job)
{
    job->newer = NULL;
    job->older = table->newest;
    if (table->newest != NULL) {
        table->newest->newer = job;
    } else {
        table->oldest = job;
    }
    table->newest = job;
}

enum status job_table_add(struct job_table *table, struct job **take_job)
{
    struct job *job = *take_job;
    struct job **node = tsearch(job, &table->by_id, compare_id);
    if (node == NULL) {
        return STATUS_NO_MEMORY;
    }
    CHECK(*node == job);
    /* A key found twice stays with its first job. */
    if (job->idempotency_key[0] != '\0' && tsearch(job, &table->by_key, compare_key) == NULL) {
        tdelete(job, &table->by_id, compare_id);
        return STATUS_NO_MEMORY;
    }
    append(table, job);
    *take_job = NULL;
    return STATUS_OK;
}

static void unlink_job(struct job_table *table, struct job *job)
{
    if (job->older != NULL) {
        job->older->newer = job->newer;
    } else {
        table->oldest = job->newer;
    }
    if (job->newer != NULL) {
        job->newer->older = job->older;
    } else {
        table->newest = job->older;
    }
}

void job_table_remove(struct job_table *table, struct job *job)
{
    tdelete(job, &table->by_id, compare_id);
    if (job_table_find_key(table, job->tenant, job->idempotency_key) == job) {
        tdelete(job, &table->by_key, compare_key);
    }
    unlink_job(table, job);
    job_destroy(job);
}

/* A job to compare with: only its id or its key is looked at. */
static struct job *find(void *const *root, const struct job *pattern,
                        int (*compare)(const void *, const void *))
{
    struct job *const *node = tfind(pattern, root, compare);
    return node != NULL ? *node : NULL;
}

struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id)
{
    struct job pattern;
    size_t size = strlen(id);
    if (size >= sizeof(pattern.id)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.id, id, size + 1);
    struct job *job = find(&table->by_id, &pattern, compare_id);
    return job != NULL && job->accepted ? job : NULL;
}

struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key)
{
    struct job pattern;
    size_t size = strlen(idempotency_key);
    if (size == 0 || size >= sizeof(pattern.idempotency_key)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.idempotency_key, idempotency_key, size + 1);
    return find(&table->by_key, &pattern, compare_key);
}

struct job *job_table_newest(const struct job_table *table)
{
    return table->newest;
}

struct job *job_table_oldest(const struct job_table *table)
{
    return table->oldest;
}
