#include "server/clock.h"
#include "server/job/desk_internal.h"
#include "server/store/graph_file.h"

#include <string.h>

/* What is counted on the way, for the log and the budget. */
struct restore {
    struct desk *desk;
    uint32_t graphs;
    uint32_t results;
    uint32_t jobs;
    uint32_t queued;
    uint64_t result_bytes;
};

static enum status restore_graph(void *context, const struct graph_row *row)
{
    struct restore *restore = context;
    struct graph_entry *entry;
    struct tenant *tenant;
    enum status status = desk_tenant(restore->desk, row->tenant, &tenant);
    if (status == STATUS_OK) {
        status = graph_table_add(restore->desk->graphs, tenant, row, &entry);
    }
    if (status == STATUS_OK) {
        graph_entry_commit(entry);
        restore->graphs++;
    }
    return status;
}

static enum status restore_name(void *context, const struct name_row *row)
{
    struct restore *restore = context;
    struct graph_table *graphs = restore->desk->graphs;
    struct graph_entry *entry = graph_table_find_id(graphs, row->graph_id);
    return entry != NULL ? graph_table_name(graphs, row->name, entry) : STATUS_OK;
}

static enum status open_result(const struct desk *desk, const struct graph_entry *entry,
                               const struct result_row *row, struct result **ret_result)
{
    char name[RESULT_NAME_SIZE];
    store_result_name(row->graph_id, row->kind, name);
    struct result_file *file = NULL;
    struct vertex_names *names = NULL;
    enum status status = result_file_open(store_result_folder(desk->store), name,
                                          entry->row.vertex_count, row->kind, row->checksum, &file);
    if (status == STATUS_OK) {
        status = graph_file_read_names(store_graph_folder(desk->store), row->graph_id, &names);
    }
    if (status == STATUS_OK) {
        status = result_create(row->graph_id, row->etag, &file, &names, ret_result);
    }
    result_file_destroy(file);
    vertex_names_destroy(names);
    return status;
}

/* One that cannot be opened is as good as lost: its job is queued again. */
static enum status restore_result(void *context, const struct result_row *row)
{
    struct restore *restore = context;
    struct desk *desk = restore->desk;
    struct graph_entry *entry = graph_table_find_id(desk->graphs, row->graph_id);
    if (entry == NULL) {
        return STATUS_OK;
    }
    struct result *result = NULL;
    enum status status = open_result(desk, entry, row, &result);
    if (status == STATUS_OK) {
        desk_damage_watch(desk, result);
        status = desk_result_publish(desk, entry, result);
        entry->durable[row->kind] = true;
        /* Just after boot, in the order of their making: older than any question to come. */
        result_touch(result, ++restore->results * 1e-6);
        restore->result_bytes += result_file_bytes(result_matrix_file(result));
        result_unref(result);
        return status;
    }
    log_write(LOG_WARNING, "result_not_restored", LOG_TEXT("graph", row->graph_id),
              LOG_TEXT("code", status_info(status)->code));
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

/* A report that cannot be read is left out; what the job was stays. */
static enum status read_job(const struct job_row *row, struct job **ret_job)
{
    enum status status = job_restore(row, ret_job);
    if (status == STATUS_CORRUPT) {
        struct job_row bare = *row;
        bare.report = NULL;
        status = job_restore(&bare, ret_job);
    }
    return status;
}

static enum status restore_job(void *context, const struct job_row *row)
{
    struct restore *restore = context;
    struct desk *desk = restore->desk;
    struct job *job;
    enum status status = read_job(row, &job);
    if (status != STATUS_OK) {
        return status;
    }
    struct job *added = job;
    status = desk_tenant(desk, row->tenant, &job->tenant);
    if (status == STATUS_OK) {
        status = job_table_add(desk->jobs, &job);
    }
    if (status != STATUS_OK) {
        job_destroy(job);
        return status;
    }
    struct graph_entry *entry = graph_table_find_id(desk->graphs, row->graph_id);
    if (entry != NULL) {
        memcpy(entry->latest_job, added->id, sizeof(entry->latest_job));
        desk_result_bind_latest(desk, added, entry);
    }
    restore->jobs++;
    return STATUS_OK;
}

/* Set back to queued; its row may say what it likes until it ends again. */
static void restart(struct restore *restore, struct job *job)
{
    job->state = JOB_QUEUED;
    job->committed = false;
    job->started_s = 0;
    job->finished_s = 0;
    if (job->deadline_s > 0) {
        double left_s = job->created_s + job->deadline_s - clock_wall_s();
        job->deadline_at_s = clock_monotonic_s() + (left_s > 0 ? left_s : 0);
    }
    job_report_reset(&job->report);
    restore->queued++;
}

/* Another job brings, or has brought, the same result later. */
static bool is_followed(const struct job *job)
{
    for (const struct job *newer = job->newer; newer != NULL; newer = newer->newer) {
        bool brings = newer->state == JOB_DONE || newer->state == JOB_QUEUED;
        if (brings && newer->kind == job->kind && strcmp(newer->graph_id, job->graph_id) == 0) {
            return true;
        }
    }
    return false;
}

/* Evicted on purpose, or lost? It is lost if the budget and the limit have room for it; of a graph
 * that was deleted, and came again after this job, nothing is. */
static bool is_lost(const struct restore *restore, const struct job *job, uint64_t *ret_bytes)
{
    const struct desk *desk = restore->desk;
    const struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
    uint64_t budget_bytes = desk->config->result_budget_bytes;
    size_t bytes;
    if (job->state != JOB_DONE || entry == NULL || entry->results[job->kind] != NULL ||
        job->created_s < entry->row.created_s ||
        result_file_size(entry->row.vertex_count, job->kind, &bytes) != STATUS_OK) {
        return false;
    }
    *ret_bytes = bytes;
    return restore->results < desk->result_limit && restore->results < desk->config->result_limit &&
           (budget_bytes == 0 || restore->result_bytes + *ret_bytes <= budget_bytes);
}

/* The latest job of a result that is gone solves it again, under its id. */
static void restart_lost(struct restore *restore)
{
    struct job *job = job_table_newest(restore->desk->jobs);
    for (; job != NULL; job = job->older) {
        uint64_t bytes;
        if (!is_lost(restore, job, &bytes)) {
            continue;
        }
        graph_table_find_id(restore->desk->graphs, job->graph_id)->lost[job->kind] = true;
        if (!is_followed(job)) {
            restore->result_bytes += bytes;
            restore->results++;
            restart(restore, job);
        }
    }
}

static void restart_unfinished(struct restore *restore)
{
    struct job *job = job_table_oldest(restore->desk->jobs);
    for (; job != NULL; job = job->newer) {
        if (!job_state_is_final(job->state)) {
            restart(restore, job);
        }
    }
}

enum status desk_restore(struct desk *desk, struct problem *reterr)
{
    struct restore restore = {.desk = desk};
    const struct catalogue_visitor visitor = {
        .context = &restore,
        .graph = restore_graph,
        .name = restore_name,
        .result = restore_result,
        .job = restore_job,
    };
    enum status status = store_visit(desk->store, &visitor);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "The catalogue cannot be read.");
    }
    restart_unfinished(&restore);
    restart_lost(&restore);
    log_write(LOG_INFO, "restored", LOG_NUMBER("graphs", restore.graphs),
              LOG_NUMBER("results", restore.results), LOG_NUMBER("jobs", restore.jobs),
              LOG_NUMBER("queued", restore.queued));
    return STATUS_OK;
}

static void fail_without_graph(struct desk *desk, struct job *job)
{
    problem_set(&job->report.problem, STATUS_CORRUPT, "The stored graph %s is lost.",
                job->graph_id);
    desk_finish_failed(desk, job);
}

void desk_restore_queue(struct desk *desk)
{
    for (struct job *job = job_table_oldest(desk->jobs); job != NULL; job = job->newer) {
        struct graph_entry *entry = graph_table_find_id(desk->graphs, job->graph_id);
        if (job_state_is_final(job->state)) {
            desk->history++;
        } else if (entry == NULL) {
            fail_without_graph(desk, job);
        } else {
            entry->active_jobs++;
            desk_room_promise(desk, job, entry->row.vertex_count);
            desk_dispatch_queue(desk, job);
        }
    }
    desk_result_evict(desk, NULL); /* the budget may be smaller now */
    desk_dispatch(desk);
}
