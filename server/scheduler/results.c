#include "server/scheduler/results.h"

#include "server/clock.h"
#include "server/scheduler/scheduler_internal.h"

#include <string.h>

/* Binds the key to the result; NULL removes the key. If memory runs out, queries with the key fail
 * as NotSolved until a restart. */
static void bind_key(struct scheduler *scheduler, const struct tenant *tenant, const char *key,
                     struct result *result)
{
    if (result == NULL) {
        result_table_remove(scheduler->results, tenant_number(tenant), key);
    } else if (result_table_put(scheduler->results, tenant_number(tenant), key, result) !=
               STATUS_OK) {
        log_write(LOG_ERROR, "result_not_published", LOG_TEXT("key", key));
    }
}

void results_bind_name(struct scheduler *scheduler, const char *name,
                       const struct graph_entry *entry)
{
    bind_key(scheduler, entry->tenant, name, graph_entry_answer(entry));
}

static void bind_aliases(struct scheduler *scheduler, const struct graph_entry *entry)
{
    for (size_t i = 0; i < entry->name_count; i++) {
        results_bind_name(scheduler, entry->names[i], entry);
    }
}

void results_bind_latest(struct scheduler *scheduler, const struct job *job)
{
    struct graph_entry *entry = job->graph;
    struct result *result = entry->results[job->row.kind].result;
    if (job->row.state != JOB_DONE) {
        return;
    }
    bind_key(scheduler, entry->tenant, job->row.id, result);
    if (result != NULL && entry->answering != job->row.kind) {
        entry->answering = job->row.kind;
        bind_key(scheduler, entry->tenant, entry->row.id, result);
        bind_aliases(scheduler, entry);
    }
}

/* ---- Results by the time of their last query ----
 *
 * The list is sorted lazily: a query only sets the time in the result, on its own thread. Before
 * the first item is evicted, its time is read again; the item moves if its result was queried. */

static uint64_t bytes_of(const struct result *result)
{
    return result_file_bytes(result_content(result));
}

/* Inserts the item by its time, usually near the end. */
static void insert_item(struct scheduler *scheduler, struct result_item *item, double touched_s)
{
    struct result_item *before = TAILQ_LAST(&scheduler->items, result_list);
    item->touched_s = touched_s;
    while (before != NULL && before->touched_s > touched_s) {
        before = TAILQ_PREV(before, result_list, in_list);
    }
    if (before != NULL) {
        TAILQ_INSERT_AFTER(&scheduler->items, before, item, in_list);
    } else {
        TAILQ_INSERT_HEAD(&scheduler->items, item, in_list);
    }
}

/* Returns the least recently used result other than `kept`; NULL if there is no other result. */
static struct result_item *find_oldest(struct scheduler *scheduler, const struct result *kept)
{
    struct result_item *first;
    while ((first = TAILQ_FIRST(&scheduler->items)) != NULL) {
        struct result *result = first->entry->results[first->kind].result;
        if (result == kept && TAILQ_NEXT(first, in_list) == NULL) {
            return NULL;
        }
        if (result == kept) {
            result_touch(result, clock_monotonic_s());
        }
        const double touched_s = result_touched_s(result);
        if (touched_s <= first->touched_s) {
            return first;
        }
        TAILQ_REMOVE(&scheduler->items, first, in_list);
        insert_item(scheduler, first, touched_s);
    }
    return NULL;
}

/* Adds the deletion of a result's row. as: the operation, which deletes or quarantines its file. */
static void delete_result(struct commit *commit, struct graph_entry *entry, enum kind kind,
                          enum store_op_kind as)
{
    struct result_row *row = &store_add_op(&commit->change, as)->result.row;
    commit->entry = entry;
    row->kind = kind;
    memcpy(row->graph_id, entry->row.id, sizeof(entry->row.id));
}

static void remove_result(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind)
{
    TAILQ_REMOVE(&scheduler->items, &entry->results[kind].item, in_list);
    scheduler->ledger.result_bytes -= bytes_of(entry->results[kind].result);
    scheduler->ledger.result_count--;
}

enum status results_publish(struct scheduler *scheduler, struct graph_entry *entry,
                            struct result *result)
{
    const enum kind kind = result_kind(result);
    STATUS_TRY(
        result_table_put(scheduler->results, tenant_number(entry->tenant), entry->row.id, result));
    const double now_s = clock_monotonic_s();
    result_touch(result, now_s);
    scheduler->ledger.result_bytes += bytes_of(result);
    if (entry->results[kind].result != NULL) {
        result_table_remove_result(scheduler->results, entry->results[kind].result);
        remove_result(scheduler, entry, kind);
    }
    graph_entry_set_result(entry, kind, result);
    struct result_item *item = &entry->results[kind].item;
    item->entry = entry;
    item->kind = kind;
    insert_item(scheduler, item, now_s);
    scheduler->ledger.result_count++;
    entry->answering = kind;
    bind_aliases(scheduler, entry);
    return STATUS_OK;
}

void results_retire(struct scheduler *scheduler, struct graph_entry *entry, enum kind kind,
                    struct commit *commit)
{
    commit->change.retired[kind] = result_ref(entry->results[kind].result);
    result_table_remove_result(scheduler->results, entry->results[kind].result);
    remove_result(scheduler, entry, kind);
    graph_entry_set_result(entry, kind, NULL);
    /* If there is a result of another kind, it answers queries from now on. */
    entry->answering = KIND_AUTO;
    for (enum kind other = KIND_I4; other < KIND_COUNT; other++) {
        if (entry->results[other].result != NULL) {
            entry->answering = other;
        }
    }
    bind_key(scheduler, entry->tenant, entry->row.id, graph_entry_answer(entry));
    bind_aliases(scheduler, entry);
}

void results_evict(struct scheduler *scheduler, const struct result *kept)
{
    const uint64_t budget_bytes = scheduler->config->result_budget_bytes;
    const struct ledger *ledger = &scheduler->ledger;
    const uint32_t limit = scheduler->config->result_limit < ledger->result_limit
                               ? scheduler->config->result_limit
                               : ledger->result_limit;
    while (ledger->result_count > limit ||
           (budget_bytes > 0 && ledger->result_bytes > budget_bytes)) {
        struct commit *commit;
        const struct result_item *oldest = find_oldest(scheduler, kept);
        if (oldest == NULL || commit_create(scheduler, NULL, &commit) != STATUS_OK) {
            return;
        }
        struct graph_entry *entry = oldest->entry;
        const enum kind kind = oldest->kind;
        log_write(LOG_INFO, "result_evicted", LOG_TEXT("graph", entry->row.id),
                  LOG_TEXT("kind", kind_name(kind)),
                  LOG_NUMBER("bytes", bytes_of(entry->results[kind].result)));
        metrics_add(METRIC_RESULTS_EVICTED, 1);
        delete_result(commit, entry, kind, STORE_DELETE_RESULT);
        results_retire(scheduler, entry, kind, commit);
        commit_send(commit);
    }
}

bool results_is_known(const struct job *job)
{
    const enum result_form form = job->report.result.form;
    const struct result *result = job->graph->results[job->row.kind].result;
    const struct job *solver = job->graph->solvers[job->row.kind];
    return result != NULL && (form == RESULT_FORM_AUTO || form == result_form(result)) &&
           (!job->row.verify || (solver != NULL && solver->report.verification.done));
}

void results_end_known_job(struct job *job)
{
    const struct job *solver = job->graph->solvers[job->row.kind];
    job->row.state = JOB_DONE;
    metrics_add(METRIC_JOBS_DONE, 1);
    metrics_add(METRIC_JOBS_KNOWN, 1);
    job->row.started_s = clock_wall_s();
    job->row.finished_s = job->row.started_s;
    if (solver != NULL) {
        const struct job_report own = job->report;
        job->report = solver->report;
        job->report.input = own.input;
        job->report.warnings = own.warnings;
        memcpy(job->report.traceparent, own.traceparent, sizeof(own.traceparent));
        memcpy(job->report.parent, own.parent, sizeof(own.parent));
        memcpy(job->report.moves, own.moves, sizeof(own.moves));
        job->report.cycle = NULL; /* owned by the solver's report; a done job has none */
        const char *stored = solver->report.stored;
        job->report.stored = stored != NULL ? strdup(stored) : NULL;
    } else {
        const struct result *result = job->graph->results[job->row.kind].result;
        job->report.result =
            (struct result_summary){.form = result_form(result),
                                    .bytes = result_file_bytes(result_content(result)),
                                    .arcs = result_arc_count(result)};
    }
    job->report.cached = true;
}

bool results_find(struct scheduler *scheduler, const struct call *call)
{
    const uint32_t owner = tenant_number(call->tenant);
    struct result *result = result_table_find(scheduler->results, owner, call->key);
    if (result == NULL) {
        const struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
        const struct graph_entry *entry =
            job != NULL && job->row.state == JOB_DONE
                ? graph_table_find(&scheduler->graphs, call->tenant, job->row.graph_id)
                : NULL;
        if (entry == NULL || entry->results[job->row.kind].result == NULL) {
            return false;
        }
        bind_key(scheduler, call->tenant, job->row.id, entry->results[job->row.kind].result);
        result = result_table_find(scheduler->results, owner, call->key);
    }
    result_unref(result);
    return result != NULL;
}

void results_note_damaged_graph(const struct scheduler *scheduler, const char *graph_id)
{
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, graph_id);
    if (entry != NULL && entry->state == GRAPH_STORED) {
        entry->state = GRAPH_DAMAGED;
        log_write(LOG_ERROR, "graph_damaged", LOG_TEXT("graph", graph_id));
    }
}

struct commit *results_set_aside(struct scheduler *scheduler, struct graph_entry *entry,
                                 const struct result *result)
{
    const enum kind kind = result_kind(result);
    struct commit *commit = NULL;
    if (entry->state == GRAPH_DELETING || entry->results[kind].result != result ||
        commit_create(scheduler, NULL, &commit) != STATUS_OK) {
        return NULL;
    }
    log_write(LOG_ERROR, "result_damaged", LOG_TEXT("graph", entry->row.id),
              LOG_TEXT("kind", kind_name(kind)));
    delete_result(commit, entry, kind, STORE_QUARANTINE_RESULT);
    results_retire(scheduler, entry, kind, commit);
    entry->results[kind].state = GRAPH_RESULT_LOST;
    return commit;
}
