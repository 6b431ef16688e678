#include "server/scheduler/requests.h"

#include "proto/job_document.h"
#include "proto/text.h"
#include "server/clock.h"
#include "server/scheduler/accept.h"
#include "server/scheduler/answer.h"
#include "server/scheduler/choose_form.h"
#include "server/scheduler/dispatch.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/scheduler/submit.h"
#include "server/scheduler/waiters.h"
#include "server/store/graph_file.h"
#include "server/worker/estimate.h"

#include <stdlib.h>
#include <string.h>

/* A page of a list ends at this size, because it is built in memory before it is sent. */
#define PAGE_BYTES ((size_t)262144)
/* Maximum number of jobs that the filter rejects for one page: more than a history has by default.
 * The next page continues with the following job. */
#define PAGE_LOOKS 20000

/* Appends and frees a document; NULL makes the whole answer fail. */
static void append_document(struct text *text, uint32_t index, char *document)
{
    if (index > 0) {
        text_append_char(text, ',');
    }
    if (document == NULL) {
        text->failed = true;
        return;
    }
    text_append_string(text, document);
    free(document);
}

/* Answers with a page of a list. next: the ID after which the next page begins; NULL: last page. */
static void answer_list(struct call *call, struct text *text, const char *next)
{
    const char *quote = next != NULL ? "\"" : "";
    text_printf(text, "],\"next\":%s%s%s}", quote, next != NULL ? next : "null", quote);
    answer_body(call, 200, text_take(text, NULL));
}

/* Returns the first job that the filter accepts, starting at `job` (may be NULL). *last: the job
 * before it. *looks: number of jobs that may still be rejected. IDs sort by creation time, so
 * `below` is valid even if the job with this ID was deleted. */
static const struct job *next_listed_job(const struct job *job, const struct call *call,
                                         const char *below, uint32_t *looks,
                                         const struct job **last)
{
    while (job != NULL && *looks > 0 &&
           (job->durability == JOB_ACCEPTING ||
            (call->list.filter_state && job->row.state != call->list.state) ||
            (below != NULL && strcmp(job->row.id, below) >= 0))) {
        (*looks)--;
        *last = job;
        job = LIST_NEXT(job, of_tenant);
    }
    return job;
}

void requests_list_jobs(struct scheduler *scheduler, struct call *call)
{
    struct text text = {0};
    uint32_t looks = PAGE_LOOKS;
    const struct job *last = job_table_find(&scheduler->jobs, call->tenant, call->list.cursor);
    const char *below = last == NULL && call->list.cursor[0] != '\0' ? call->list.cursor : NULL;
    const struct job *job =
        last != NULL ? LIST_NEXT(last, of_tenant) : LIST_FIRST(&call->tenant->jobs);
    job = next_listed_job(job, call, below, &looks, &last);
    text_append_string(&text, "{\"jobs\":[");
    for (uint32_t count = 0;
         job != NULL && looks > 0 && count < call->list.limit && text.size < PAGE_BYTES; count++) {
        append_document(&text, count, answer_print_job(scheduler, job));
        last = job;
        job = next_listed_job(LIST_NEXT(job, of_tenant), call, below, &looks, &last);
    }
    answer_list(call, &text, job != NULL && last != NULL ? last->row.id : NULL);
}

static const struct graph_entry *next_listed_graph(const struct graph_entry *entry)
{
    while (entry != NULL && !graph_entry_is_visible(entry)) {
        entry = LIST_NEXT(entry, of_tenant);
    }
    return entry;
}

void requests_list_graphs(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = LIST_FIRST(&call->tenant->graphs);
    if (call->list.cursor[0] != '\0') {
        const struct graph_entry *cursor =
            graph_table_find_own(&scheduler->graphs, call->tenant, call->list.cursor);
        if (cursor == NULL) {
            answer_status(call, STATUS_BAD_PARAMETER,
                          "The graph named by cursor= was deleted; start again without cursor=.");
            return;
        }
        entry = LIST_NEXT(cursor, of_tenant);
    }
    entry = next_listed_graph(entry);
    struct text text = {0};
    const struct graph_entry *last = NULL;
    text_append_string(&text, "{\"graphs\":[");
    for (uint32_t count = 0; entry != NULL && count < call->list.limit && text.size < PAGE_BYTES;
         count++) {
        append_document(&text, count, answer_print_graph(entry, NULL));
        last = entry;
        entry = next_listed_graph(LIST_NEXT(entry, of_tenant));
    }
    answer_list(call, &text, entry != NULL && last != NULL ? last->row.id : NULL);
}

void requests_show_job(struct scheduler *scheduler, struct call *call)
{
    struct job *job = job_table_find(&scheduler->jobs, call->tenant, call->key);
    if (job == NULL) {
        answer_no_such(call);
    } else {
        waiters_hold(scheduler, call, job);
    }
}

void requests_show_graph(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL) {
        answer_no_such(call);
    } else {
        answer_graph(call, entry, 200);
    }
}

/* Deletes a graph: hides it from queries immediately, then deletes its rows and files. */
void requests_delete_graph(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL) {
        answer_no_such(call);
        return;
    }
    memcpy(call->graph_id, entry->row.id, sizeof(call->graph_id));
    if (entry->active_jobs > 0) {
        answer_status(
            call, STATUS_GRAPH_IN_USE,
            "A queued or running job uses this graph. Cancel the job, or wait until it has ended.");
        return;
    }
    names_delete_graph(scheduler, entry, call);
}

/* Answers a call for a result. A call that may wait waits for the job to watch until it ends, else
 * for the newest job until it is accepted. If neither is pending, submits a job like the newest
 * one, unless the job to watch has failed, because a new job would fail too. */
void requests_call_result(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    if (entry == NULL && job_table_find(&scheduler->jobs, call->tenant, call->key) != NULL) {
        answer_status(call, STATUS_NO_SUCH_GRAPH, "The graph of this job was deleted.");
        return;
    }
    if (entry == NULL) {
        answer_no_such(call);
        return;
    }
    struct job *job = answer_job_to_watch(scheduler, call);
    struct job *last = LIST_FIRST(&entry->jobs);
    const bool waits =
        call->wait_s > 0 && scheduler->stage == SCHEDULER_SERVES && !results_find(scheduler, call);
    if (waits && job != NULL && !job_state_is_final(job->row.state)) {
        waiters_hold(scheduler, call, job);
    } else if (waits && last != NULL && last->durability == JOB_ACCEPTING) {
        LIST_INSERT_HEAD(&last->acceptors, call, of_job);
    } else if (waits && (job == NULL || job->row.state != JOB_FAILED)) {
        call->submit.parameters.form = last != NULL ? last->report.result.form : RESULT_FORM_AUTO;
        submit_for_result(scheduler, call, entry, last != NULL ? last->row.kind : KIND_AUTO);
    } else {
        answer_result(scheduler, call);
    }
}

/* Adds a job with the parameters of the job that computed the damaged result; that job stays
 * finished. No limit applies to the new job, because the earlier job was accepted. */
static enum status solve_again(struct commit *commit, const struct result *result)
{
    struct scheduler *scheduler = commit->scheduler;
    struct graph_entry *entry = commit->entry;
    const enum kind kind = result_kind(result);
    const struct job *solver = entry->solvers[kind];
    struct job *job;
    STATUS_TRY(job_create(entry->row.id, kind, clock_wall_s(), &job));
    job->graph = entry;
    job->tenant = entry->tenant;
    job_set_graph(job, entry->row.vertex_count, &entry->row.summary);
    job->report.result =
        (struct result_summary){.form = result_form(result), .reason = RESULT_REASON_ASKED};
    job->row.verify = solver != NULL && solver->row.verify;
    job->row.priority = solver != NULL ? solver->row.priority : 0;
    struct job *added = job;
    if (job_table_add(&scheduler->jobs, &job) != STATUS_OK) {
        job_destroy(job);
        return STATUS_NO_MEMORY;
    }
    if (commit_add_job(commit, added) != STATUS_OK) {
        job_table_remove(&scheduler->jobs, added);
        return STATUS_NO_MEMORY;
    }
    commit->then = accept_stored_job;
    entry->latest_job = added;
    entry->active_jobs++;
    ledger_reserve_result(scheduler, added, entry->row.edge_count);
    return STATUS_OK;
}

/* Returns whether an unfinished job will publish this kind of result. */
static bool is_being_solved(const struct graph_entry *entry, enum kind kind)
{
    const struct job *job = LIST_FIRST(&entry->jobs);
    while (job != NULL && (job_state_is_final(job->row.state) || job->row.kind != kind)) {
        job = LIST_NEXT(job, of_graph);
    }
    return job != NULL;
}

void requests_note_damage(struct scheduler *scheduler, struct call *call)
{
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, call->key);
    const struct result *result = call->damaged;
    struct commit *commit = NULL;
    if (result == NULL) {
        results_note_damaged_graph(scheduler, call->key);
    } else if (entry != NULL) {
        commit = results_set_aside(scheduler, entry, result);
    }
    if (commit != NULL) {
        if (!is_being_solved(entry, result_kind(result)) &&
            solve_again(commit, result) != STATUS_OK) {
            log_write(LOG_ERROR, "job_not_stored", LOG_TEXT("graph", entry->row.id));
        }
        commit_send(commit);
    }
    answer_empty(call, 204);
}

static uint64_t add_bytes(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static bool has_room(const struct scheduler *scheduler, const struct estimate *estimate,
                     enum kind kind)
{
    const uint32_t n = estimate->vertex_count;
    return n <= scheduler->vertex_limit[kind] &&
           add_bytes(ledger_result_bytes(RESULT_FORM_MATRIX, n, estimate->edge_count, kind),
                     ledger_graph_bytes(n, estimate->edge_count, WEIGHT_INTEGER)) <=
               estimate->free_disk_bytes;
}

/* Suggests another kind that fits, or else gives the maximum number of vertices for this kind. */
static void add_hint(const struct scheduler *scheduler, struct estimate *estimate)
{
    static const struct {
        enum kind from;
        enum kind to;
        const char *provided;
    } ways[] = {
        {KIND_I4, KIND_U2, "if no distance is negative or above 65534"},
        {KIND_F8, KIND_F4, "if 32-bit floats are precise enough"},
        {KIND_F8, KIND_I4, "if the weights are integers"},
        {KIND_F8, KIND_U2, "if the weights are integers and no distance is above 65534"},
        {KIND_F4, KIND_U2, "if the weights are integers and no distance is above 65534"},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].from == estimate->kind && has_room(scheduler, estimate, ways[i].to)) {
            snprintf(estimate->hint, sizeof(estimate->hint), "The matrix fits with kind=%s, %s.",
                     kind_name(ways[i].to), ways[i].provided);
            return;
        }
    }
    if (estimate->vertex_count > estimate->vertex_limit) {
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "At most %u vertices fit on this machine with kind=%s. Solve a part of the graph, "
                 "or use a machine with more memory. The limit comes from %s.",
                 (unsigned)estimate->vertex_limit, kind_name(estimate->kind),
                 scheduler->admission.limit_reason);
    } else {
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "Free %llu bytes on the disk of the state directory, for example with "
                 "DELETE /v1/graphs/{id}.",
                 (unsigned long long)(estimate->disk_bytes - estimate->free_disk_bytes));
    }
}

/* Chooses the form that a job would get with the current free disk space. look: the measured size
 * of the graph's hierarchy. Returns false if neither form fits. */
static bool choose_form(const struct scheduler *scheduler, const struct form_look *look,
                        struct estimate *estimate)
{
    const struct quota unlimited = {0};
    const struct form_question question = {
        .quota = &unlimited,
        .vertex_count = estimate->vertex_count,
        .edge_count = estimate->edge_count,
        .cost = estimate->cost,
        .graph_bytes =
            ledger_graph_bytes(estimate->vertex_count, estimate->edge_count, WEIGHT_INTEGER),
        .look = *look};
    struct result_summary result = {.form = RESULT_FORM_AUTO};
    struct problem lack;
    if (choose_result_form(scheduler, &question, &result, &lack) != STATUS_OK) {
        return false;
    }
    estimate->result = result;
    if (result.form == RESULT_FORM_HIERARCHY) {
        estimate->solver = "cpu";
        estimate->device_bytes = 0;
        estimate->disk_bytes = add_bytes(result.bytes, question.graph_bytes);
        estimate->host_bytes =
            add_bytes(estimate->disk_bytes, add_bytes(result.bytes, look->label_bytes));
        estimate->seconds = -1;
    }
    return true;
}

static void judge_fit(const struct scheduler *scheduler, const struct form_look *look,
                      struct estimate *estimate)
{
    if (estimate->edge_count > estimate->edge_limit) {
        snprintf(estimate->reason, sizeof(estimate->reason),
                 "The graph has more edges than graph.edge_limit.");
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "Start the service with a larger graph.edge_limit.");
        return;
    }
    estimate->fits = choose_form(scheduler, look, estimate);
    if (estimate->fits) {
        return;
    }
    snprintf(estimate->reason, sizeof(estimate->reason), "%s",
             estimate->vertex_count > estimate->vertex_limit
                 ? "The matrix does not fit in the memory of the solver."
                 : "The disk of the state directory has too little free space.");
    add_hint(scheduler, estimate);
}

static void measure_job(const struct scheduler *scheduler, struct estimate *estimate)
{
    const enum kind kind = estimate->kind;
    const uint32_t n = estimate->vertex_count;
    /* An idle service gives a graph to the group if the graph is large or fits no single device. */
    const struct scheduler_worker *slot =
        n < SCHEDULER_GROUP_VERTICES_MIN ? dispatch_fitting_worker(scheduler, n, estimate->cost)
                                         : NULL;
    slot = slot != NULL ? slot : dispatch_largest_worker(scheduler, estimate->cost);
    const uint64_t result_bytes =
        ledger_result_bytes(RESULT_FORM_MATRIX, n, estimate->edge_count, kind);
    const uint64_t graph_bytes = ledger_graph_bytes(n, estimate->edge_count, WEIGHT_INTEGER);
    struct solver_estimate solve;
    /* If the size of the result overflows, there is no estimate. */
    if (result_bytes == INT64_MAX) {
        solve = (struct solver_estimate){.device_bytes = INT64_MAX, .seconds = -1};
    } else {
        estimate_solve(worker_solver(slot->worker), n, estimate->edge_count, estimate->cost,
                       &solve);
    }
    estimate->result = (struct result_summary){
        .form = RESULT_FORM_MATRIX, .reason = RESULT_REASON_FITS, .bytes = result_bytes};
    estimate->solver = slot->facts->device.solver;
    estimate->device = slot->facts->device.name;
    estimate->device_bytes = solve.device_bytes < INT64_MAX ? solve.device_bytes : INT64_MAX;
    estimate->disk_bytes = add_bytes(result_bytes, graph_bytes);
    estimate->host_bytes = add_bytes(estimate->disk_bytes,
                                     solve.host_bytes < INT64_MAX ? solve.host_bytes : INT64_MAX);
    estimate->seconds = solve.seconds;
    estimate->vertex_limit = scheduler->vertex_limit[estimate->cost];
    estimate->edge_limit = scheduler->config->edge_limit;
    estimate->free_disk_bytes = ledger_disk_room(scheduler);
}

/* The estimate of a stored graph whose hierarchy a pool thread measures, to choose the form. */
struct stored_estimate {
    struct pool_work work; /* must be the first member */
    struct call *call;
    char graph_id[GRAPH_ID_SIZE];
    struct form_look look;
    struct estimate estimate;
    enum status status;
};

static void look_at_stored(struct pool_work *work)
{
    struct stored_estimate *stored = (struct stored_estimate *)work;
    struct graph *graph = NULL;
    stored->status = graph_file_read(store_folder(work->scheduler->store, STORE_GRAPHS),
                                     stored->graph_id, &graph);
    if (stored->status == STATUS_OK) {
        form_look_run(work->scheduler, work->tenant->name, graph, stored->estimate.kind,
                      &stored->look);
        hierarchy_destroy_shape(stored->look.shape);
    }
    graph_destroy(graph);
}

static void answer_stored(struct pool_work *work)
{
    struct stored_estimate *stored = (struct stored_estimate *)work;
    const struct scheduler *scheduler = work->scheduler;
    if (stored->status == STATUS_OK) {
        judge_fit(scheduler, &stored->look, &stored->estimate);
        answer_body(stored->call, 200, estimate_print(&stored->estimate));
    } else if (graph_table_find(&scheduler->graphs, work->tenant, stored->graph_id) == NULL) {
        answer_no_such(stored->call);
    } else {
        answer_status(stored->call, stored->status, "The stored graph cannot be read.");
    }
    free(stored);
}

static void start_look(struct scheduler *scheduler, struct call *call,
                       const struct graph_entry *entry, const struct estimate *estimate,
                       const struct form_look *look)
{
    if (!pool_is_free(scheduler, call->tenant, POOL_STORED)) {
        answer_status(
            call, STATUS_QUEUE_FULL,
            "The service is busy with other estimates. Retry, or send n and m instead of graph.");
        return;
    }
    struct stored_estimate *stored = calloc(1, sizeof(*stored));
    if (stored == NULL) {
        answer_status(call, STATUS_NO_MEMORY, "There is not enough memory for the request.");
        return;
    }
    *stored = (struct stored_estimate){.work = {.run = look_at_stored, .then = answer_stored},
                                       .call = call,
                                       .look = *look,
                                       .estimate = *estimate};
    memcpy(stored->graph_id, entry->row.id, sizeof(stored->graph_id));
    pool_queue(scheduler, call->tenant, POOL_STORED, &stored->work);
}

void requests_estimate(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = NULL;
    struct estimate estimate = {
        .vertex_count = call->estimate.vertex_count,
        .edge_count = call->estimate.edge_count,
        .kind = call->estimate.kind == KIND_AUTO ? KIND_I4 : call->estimate.kind,
    };
    if (call->key[0] != '\0') {
        entry = answer_find_graph(scheduler, call);
        if (entry == NULL) {
            answer_no_such(call);
            return;
        }
        /* Choose the kind that a job on this graph would get. */
        if (graph_entry_choose_kind(entry, call->estimate.kind, &estimate.kind, &call->problem) !=
            STATUS_OK) {
            answer_problem(call);
            return;
        }
        estimate.vertex_count = entry->row.vertex_count;
        estimate.edge_count = entry->row.edge_count;
    }
    estimate.cost =
        entry != NULL ? graph_cost(&entry->row.summary, estimate.kind) : (uint32_t)estimate.kind;
    measure_job(scheduler, &estimate);
    judge_fit(scheduler, &(struct form_look){0}, &estimate);
    struct form_look look;
    if (entry != NULL && estimate.fits &&
        form_look_begin(scheduler, RESULT_FORM_AUTO, estimate.cost, estimate.vertex_count,
                        estimate.edge_count, &look)) {
        start_look(scheduler, call, entry, &estimate, &look);
    } else {
        answer_body(call, 200, estimate_print(&estimate));
    }
}
