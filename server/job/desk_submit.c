#include "proto/check.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"
#include "server/store/identity.h"

#include <string.h>

/* Of edges: naming a graph as large as this takes milliseconds, in which its file may be written.
 */
#define LARGE_BYTES ((uint64_t)4 << 20)

static uint64_t edges_bytes(const struct graph *graph)
{
    return graph->edge_count * (sizeof(uint32_t) + sizeof(int32_t));
}

static bool is_large(const struct graph *graph)
{
    return edges_bytes(graph) >= LARGE_BYTES;
}

static enum status read_graph(struct submission *submission)
{
    struct problem *problem = &submission->problem;
    enum status status = reader_finish(submission->reader, &submission->graph, problem);
    if (status == STATUS_OK) {
        input_report_complete(&submission->ask->input, reader_notes(submission->reader),
                              submission->graph);
    } else {
        input_report_hint(&submission->ask->input, problem);
    }
    const bool streamed = status == STATUS_OK && reader_was_streamed(submission->reader);
    reader_destroy(submission->reader);
    submission->reader = NULL;
    if (status == STATUS_OK && submission->ask->kind == ASK_SUBMIT) {
        status = graph_choose_kind(submission->graph, submission->ask->parameters.kind,
                                   &submission->kind, problem);
    }
    if (status != STATUS_OK || !streamed) {
        graph_stream_drop(submission->stream);
        submission->stream = NULL;
    }
    return status;
}

static enum status find_identity(struct submission *submission)
{
    const enum status status =
        identity_of_graph(submission->graph, submission->stream, submission->ask->tenant->name,
                          store_secret(submission->desk->store), submission->graph_id);
    return status == STATUS_OK
               ? STATUS_OK
               : problem_set(&submission->problem, status, "The graph cannot be named.");
}

/* Most of which is done when the last edge has come. A file that fails now is told of by the store,
 * if it is needed. */
static enum status end_stream(struct submission *submission)
{
    const enum status status = find_identity(submission);
    if (status == STATUS_OK) {
        submission->draft.failure =
            graph_stream_take_draft(submission->stream, submission->graph, &submission->draft);
    }
    graph_stream_drop(submission->stream);
    submission->stream = NULL;
    return status;
}

/* On a thread of the pool: sorting a large graph takes long. */
static void finish_graph(uv_work_t *request)
{
    struct submission *submission = request->data;
    double began_s = clock_monotonic_s();
    submission->status = read_graph(submission);
    if (submission->status == STATUS_OK && submission->stream != NULL) {
        submission->status = end_stream(submission);
    } else if (submission->status == STATUS_OK && !is_large(submission->graph)) {
        submission->status = find_identity(submission);
    }
    submission->ask->parse_s += clock_monotonic_s() - began_s;
}

/* On a thread of the pool, for a large graph. */
static void name_graph(uv_work_t *request)
{
    struct submission *submission = request->data;
    double began_s = clock_monotonic_s();
    submission->status = find_identity(submission);
    submission->ask->parse_s += clock_monotonic_s() - began_s;
}

/* On another one at the same time. What fails here is tried again, and told, by the store. */
static void draft_graph(uv_work_t *request)
{
    struct submission *submission = request->data;
    (void)!graph_file_begin(store_graph_folder(submission->desk->store), submission->graph,
                            &submission->draft);
}

/* Whether some graph has all of this that a graph's row tells: only then may it be the same. */
static bool may_be_known(const struct submission *submission)
{
    const struct graph *graph = submission->graph;
    const struct graph_summary *summary = &graph->summary;
    const struct graph_entry *entry = graph_table_newest(submission->desk->graphs);
    for (; entry != NULL; entry = entry->older) {
        const struct graph_row *row = &entry->row;
        if (entry->tenant == submission->tenant && row->vertex_count == graph->vertex_count &&
            row->edge_count == graph->edge_count && row->directed == graph->directed &&
            row->summary.components == summary->components &&
            row->summary.min_weight == summary->min_weight &&
            row->summary.max_weight == summary->max_weight &&
            row->summary.distance_bound == summary->distance_bound) {
            return true;
        }
    }
    return false;
}

/* Not what is sure to be refused, or not needed. */
static bool is_worth_a_draft(const struct submission *submission)
{
    const struct graph *graph = submission->graph;
    struct problem problem;
    return !submission->desk->full && !may_be_known(submission) &&
           tenant_check_bytes(submission->tenant, &submission->ask->quota, edges_bytes(graph),
                              &problem) == STATUS_OK;
}

static void work_ended(uv_work_t *request, int error)
{
    struct submission *submission = request->data;
    CHECK(error == 0); /* nothing cancels it */
    if (--submission->works > 0) {
        return;
    }
    if (submission->status != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    desk_accept(submission);
}

static void start_work(struct submission *submission, uv_work_t *request, uv_work_cb work,
                       uv_after_work_cb ended)
{
    submission->works++;
    request->data = submission;
    CHECK(uv_queue_work(submission->desk->loop, request, work, ended) == 0);
}

static void graph_finished(uv_work_t *request, int error)
{
    struct submission *submission = request->data;
    if (submission->status != STATUS_OK || submission->graph_id[0] != '\0') {
        work_ended(request, error);
        return;
    }
    submission->works--;
    start_work(submission, &submission->request, name_graph, work_ended);
    if (is_worth_a_draft(submission)) {
        start_work(submission, &submission->drafting, draft_graph, work_ended);
    }
}

static void submit_upload(struct submission *submission)
{
    struct ask *ask = submission->ask;
    submission->reader = ask->reader;
    ask->reader = NULL;
    submission->stream = ask->stream;
    ask->stream = NULL;
    submission->share = upload_share_move(&ask->share);
    /* What may be a repeat of what was taken before is judged when the graph is known. */
    bool repeated =
        job_table_find_key(submission->desk->jobs, ask->tenant, ask->idempotency_key) != NULL;
    if (ask->kind == ASK_SUBMIT && !repeated && submission_reserve(submission) != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    start_work(submission, &submission->request, finish_graph, graph_finished);
}

/* The kind is a matter of the summary, which the catalogue keeps. */
static enum status choose_kind_of_row(const struct graph_row *row, enum kind requested,
                                      enum kind *ret_kind, struct problem *reterr)
{
    struct graph outline = {
        .vertex_count = row->vertex_count,
        .directed = row->directed,
        .weight_type = row->summary.integral ? WEIGHT_INTEGER : WEIGHT_REAL,
        .edge_count = row->edge_count,
        .summary = row->summary,
    };
    return graph_choose_kind(&outline, requested, ret_kind, reterr);
}

static void submit_stored(struct submission *submission, const struct graph_entry *entry,
                          enum kind kind)
{
    memcpy(submission->graph_id, entry->row.id, sizeof(submission->graph_id));
    if (choose_kind_of_row(&entry->row, kind, &submission->kind, &submission->problem) !=
        STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    desk_accept(submission);
}

/* An alias that looks like an id would hide what has that id. */
static bool check_request(struct desk *desk, struct ask *ask)
{
    const char *name = ask->parameters.name;
    if (desk->draining) {
        desk_answer_status(ask, STATUS_DRAINING, "The service is shutting down.");
        return false;
    }
    if (strncmp(name, "g_", 2) == 0 || strncmp(name, "j_", 2) == 0) {
        desk_answer_status(ask, STATUS_BAD_PARAMETER,
                           "A name must not begin with \"g_\" or \"j_\", as ids do.");
        return false;
    }
    return true;
}

void desk_submit(struct desk *desk, struct ask *ask)
{
    if (!check_request(desk, ask)) {
        return;
    }
    struct graph_entry *entry = NULL;
    if (ask->reader == NULL) {
        entry = desk_graph_find(desk, ask);
        if (entry == NULL) {
            desk_answer_no_such(ask);
            return;
        }
    }
    struct submission *submission = submission_begin(desk, ask);
    if (submission == NULL) {
        return;
    }
    if (entry != NULL) {
        submit_stored(submission, entry, ask->parameters.kind);
    } else {
        submit_upload(submission);
    }
}

void desk_submit_graph(struct desk *desk, struct ask *ask)
{
    struct submission *submission = check_request(desk, ask) ? submission_begin(desk, ask) : NULL;
    if (submission != NULL) {
        submit_upload(submission);
    }
}

void desk_submit_again(struct desk *desk, struct ask *ask, struct graph_entry *entry,
                       enum kind kind)
{
    if (desk->draining) {
        desk_answer_status(ask, STATUS_DRAINING, "The service is shutting down.");
        return;
    }
    struct submission *submission = submission_begin(desk, ask);
    if (submission != NULL) {
        submit_stored(submission, entry, kind);
    }
}
