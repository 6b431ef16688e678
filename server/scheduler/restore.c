#include "server/scheduler/restore.h"

#include "server/clock.h"
#include "server/scheduler/finish.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/waiters.h"
#include "server/store/graph_file.h"

#include <stdio.h>
#include <string.h>

/* Counts of restored rows, for the log. */
struct restore {
    struct scheduler *scheduler;
    uint32_t graphs;
    uint32_t results;
    uint32_t jobs;
    uint32_t queued;
    uint32_t damaged;
    uint64_t result_bytes;
};

/* Logs damage. Marks done jobs of a lost graph as queued, so that restore_queue fails them. */
static enum status tell_damage(void *context, const struct catalogue_damage *damage)
{
    struct restore *restore = context;
    const bool is_graph =
        strcmp(damage->what, "graph") == 0 || strcmp(damage->what, "graph_file") == 0;
    struct job *job;
    TAILQ_FOREACH(job, &restore->scheduler->jobs.unfinished, in_list)
    {
        if (is_graph && job->row.state == JOB_DONE && strcmp(job->row.graph_id, damage->id) == 0) {
            job->row.state = JOB_QUEUED;
        }
    }
    restore->damaged++;
    log_write(LOG_WARNING, "damage_found", LOG_TEXT("what", damage->what),
              LOG_TEXT("id", damage->id));
    return STATUS_OK;
}

static void tell_without_graph(struct restore *restore, const char *what, const char *id)
{
    struct catalogue_damage damage = {.what = what, .kind = KIND_COUNT};
    snprintf(damage.id, sizeof(damage.id), "%s", id);
    (void)tell_damage(restore, &damage);
}

static enum status restore_graph(void *context, const struct graph_row *row)
{
    struct restore *restore = context;
    struct graph_entry *entry;
    struct tenant *tenant;
    STATUS_TRY(tenant_find(&restore->scheduler->tenants, row->tenant, &tenant));
    STATUS_TRY(graph_table_add(&restore->scheduler->graphs, tenant, row, &entry));
    graph_entry_commit(entry, true);
    restore->graphs++;
    /* Damaged coordinates have been removed already; read errors are reported by later queries. */
    if (coordinates_file_look(store_folder(restore->scheduler->store, STORE_COORDINATES), row->id,
                              &entry->stored_coordinates) == STATUS_OK) {
        graph_entry_set_coordinates(entry, &entry->stored_coordinates);
    }
    return STATUS_OK;
}

static enum status restore_name(void *context, const struct name_row *row)
{
    struct restore *restore = context;
    struct graph_table *graphs = &restore->scheduler->graphs;
    struct graph_entry *entry = graph_table_find_id(graphs, row->graph_id);
    if (entry == NULL) {
        tell_without_graph(restore, "name_without_graph", row->name);
        return STATUS_OK;
    }
    return graph_table_name(graphs, row->name, entry, 0);
}

static enum status open_result(const struct scheduler *scheduler, const struct graph_entry *entry,
                               const struct result_row *row, struct result **ret_result)
{
    char name[RESULT_FILE_NAME_SIZE];
    result_file_name(row->graph_id, row->kind, name);
    struct result_file *file = NULL;
    struct vertex_names *names = NULL;
    STATUS_TRY(result_file_open(store_folder(scheduler->store, STORE_RESULTS), name,
                                entry->row.vertex_count, row->kind, row->checksum, &file));
    enum status status =
        graph_file_read_names(store_folder(scheduler->store, STORE_GRAPHS), row->graph_id, &names);
    STATUS_THEN(status, result_create(row->graph_id, row->etag, &file, &names, ret_result));
    result_file_destroy(file);
    vertex_names_destroy(names);
    return status;
}

/* Restores a result. If its file cannot be opened, the result counts as lost: see restart_lost. */
static enum status restore_result(void *context, const struct result_row *row)
{
    struct restore *restore = context;
    struct scheduler *scheduler = restore->scheduler;
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, row->graph_id);
    if (entry == NULL) {
        return STATUS_OK;
    }
    struct result *result = NULL;
    enum status status = open_result(scheduler, entry, row, &result);
    if (status == STATUS_OK) {
        result_watch(result, scheduler->note_damage, scheduler);
        status = results_publish(scheduler, entry, result);
        entry->results[row->kind].state = GRAPH_RESULT_DURABLE;
        restore->results++;
        restore->result_bytes += result_file_bytes(result_content(result));
        result_unref(result);
        return status;
    }
    log_write(LOG_WARNING, "result_not_restored", LOG_TEXT("graph", row->graph_id),
              LOG_TEXT("code", status_info(status)->code));
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

static enum status restore_job(void *context, const struct job_row *row)
{
    struct restore *restore = context;
    struct scheduler *scheduler = restore->scheduler;
    struct job *job;
    STATUS_TRY(job_restore(row, &job));
    struct job *added = job;
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, row->graph_id);
    job->graph = entry;
    enum status status = tenant_find(&scheduler->tenants, row->tenant, &job->tenant);
    STATUS_THEN(status, job_table_add(&scheduler->jobs, &job));
    if (status != STATUS_OK) {
        job_destroy(job);
        return status;
    }
    if (entry != NULL) {
        entry->latest_job = added;
        results_bind_latest(scheduler, added);
        if (added->row.state == JOB_DONE && graph_table_find_name(&scheduler->graphs, added->tenant,
                                                                  added->report.moves) == entry) {
            STATUS_TRY(
                graph_table_name(&scheduler->graphs, added->report.moves, entry, added->number));
        }
    }
    restore->jobs++;
    return STATUS_OK;
}

/* Queues the job again; its row is updated when it ends. */
static void restart_job(struct restore *restore, struct job *job)
{
    job->row.state = JOB_QUEUED;
    job->durability = JOB_ACCEPTED;
    job->row.started_s = 0;
    job->row.finished_s = 0;
    if (job->row.deadline_s > 0) {
        double left_s = job->row.created_s + job->row.deadline_s - clock_wall_s();
        job->deadline_at_s = clock_monotonic_s() + (left_s > 0 ? left_s : 0);
    }
    job_report_reset(&job->report);
    restore->queued++;
}

/* Queues the latest job of a lost result again, with the same ID. A missing result counts as lost,
 * not as evicted, if it fits the budget and limit. A job older than its graph has lost nothing,
 * because its result was deleted with an earlier copy of the graph. */
static void restart_lost(struct restore *restore, struct job *job)
{
    const struct scheduler *scheduler = restore->scheduler;
    const uint64_t budget_bytes = scheduler->config->result_budget_bytes;
    struct graph_entry *entry = job->graph;
    if (job->row.state != JOB_DONE || entry == NULL ||
        entry->results[job->row.kind].result != NULL || job->row.created_s < entry->row.created_s) {
        return;
    }
    const uint64_t bytes = ledger_result_bytes(job->report.result.form, entry->row.vertex_count,
                                               entry->row.edge_count, job->row.kind);
    if (bytes == INT64_MAX || restore->results >= scheduler->ledger.result_limit ||
        restore->results >= scheduler->config->result_limit ||
        (budget_bytes > 0 && restore->result_bytes + bytes > budget_bytes)) {
        return;
    }
    entry->results[job->row.kind].state = GRAPH_RESULT_LOST;
    /* A newer job may have the same result, or will compute it. */
    for (const struct job *newer = LIST_FIRST(&entry->jobs); newer != job;
         newer = LIST_NEXT(newer, of_graph)) {
        if (newer->row.kind == job->row.kind &&
            (newer->row.state == JOB_DONE || newer->row.state == JOB_QUEUED)) {
            return;
        }
    }
    restore->result_bytes += bytes;
    restore->results++;
    restart_job(restore, job);
}

enum status restore_tables(struct scheduler *scheduler, struct problem *reterr)
{
    struct restore restore = {.scheduler = scheduler};
    const struct catalogue_visitor visitor = {
        .context = &restore,
        .damaged = tell_damage,
        .graph = restore_graph,
        .name = restore_name,
        .result = restore_result,
        .job = restore_job,
    };
    STATUS_TRY(problem_explain(reterr, store_visit(scheduler->store, &visitor),
                               "The catalogue cannot be read."));
    struct job *job;
    TAILQ_FOREACH(job, &scheduler->jobs.unfinished, in_list)
    {
        if (!job_state_is_final(job->row.state)) {
            /* Only a finished job may have no graph, because its graph may have been deleted. */
            if (job->graph == NULL) {
                tell_without_graph(&restore, "job_without_graph", job->row.id);
            }
            restart_job(&restore, job);
        }
    }
    TAILQ_FOREACH_REVERSE(job, &scheduler->jobs.unfinished, job_list, in_list)
    {
        restart_lost(&restore, job);
    }
    log_write(LOG_INFO, "restored", LOG_NUMBER("graphs", restore.graphs),
              LOG_NUMBER("results", restore.results), LOG_NUMBER("jobs", restore.jobs),
              LOG_NUMBER("queued", restore.queued), LOG_NUMBER("damaged", restore.damaged));
    return STATUS_OK;
}

void restore_queue(struct scheduler *scheduler)
{
    struct job *next;
    for (struct job *job = TAILQ_FIRST(&scheduler->jobs.unfinished); job != NULL; job = next) {
        next = TAILQ_NEXT(job, in_list);
        if (job_state_is_final(job->row.state)) {
            job_table_end(&scheduler->jobs, job);
        } else if (job->graph == NULL) {
            problem_set(&job->report.problem, STATUS_CORRUPT, "The stored graph %s is lost.",
                        job->row.graph_id);
            finish_failed(scheduler, job);
        } else {
            job_set_graph(job, job->graph->row.vertex_count, &job->graph->row.summary);
            job->graph->active_jobs++;
            names_begin_move(scheduler, &job->move, job->tenant, job->report.moves);
            ledger_reserve_result(scheduler, job, job->graph->row.edge_count);
            queue_push(&scheduler->queue, &job->tenant->share, job);
            waiters_watch_deadline(scheduler, job);
        }
    }
    /* Deletes graphs whose deletion had not begun when the process was killed. Deletions are
     * asynchronous, so the list does not change during the loop. */
    const struct graph_entry *entry;
    LIST_FOREACH(entry, &scheduler->graphs.all, in_table)
    {
        names_delete_old_graph(scheduler, entry->row.id);
    }
    results_evict(scheduler, NULL); /* the budget may have been reduced */
}
