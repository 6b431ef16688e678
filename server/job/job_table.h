/* Every job that is remembered: by tenant and id, by tenant and idempotency key, in order of
 * creation. Owns the jobs. Loop thread. */
#pragma once

#include "server/job/job.h"

struct job_table;

MUST_CHECK enum status job_table_create(struct job_table **ret_table);
void job_table_destroy(struct job_table *table);

/* Takes the job, as the newest. */
MUST_CHECK enum status job_table_add(struct job_table *table, struct job **take_job);
/* Forgets and frees it. */
void job_table_remove(struct job_table *table, struct job *job);

/* NULL when there is none. A job not yet accepted is not found by its id, only by its key: a
 * repeated request must find it. */
struct job *job_table_find(const struct job_table *table, const struct tenant *tenant,
                           const char *id);
struct job *job_table_find_key(const struct job_table *table, const struct tenant *tenant,
                               const char *idempotency_key);

struct job *job_table_newest(const struct job_table *table);
struct job *job_table_oldest(const struct job_table *table);
