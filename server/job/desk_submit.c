#include "proto/check.h"
#include "server/clock.h"
#include "server/job/desk_internal.h"
#include "server/store/identity.h"

#include <string.h>

/* On a thread of the pool: sorting and hashing a large graph takes seconds. */
static void finish_graph(uv_work_t *request)
{
    struct submission *submission = request->data;
    double began_s = clock_monotonic_s();
    struct problem *problem = &submission->problem;
    enum status status = reader_finish(submission->reader, &submission->graph, problem);
    if (status == STATUS_OK) {
        input_report_complete(&submission->ask->input, reader_notes(submission->reader),
                              submission->graph);
    } else {
        input_report_hint(&submission->ask->input, problem);
    }
    reader_destroy(submission->reader);
    submission->reader = NULL;
    if (status == STATUS_OK && submission->ask->kind == ASK_SUBMIT) {
        status = graph_choose_kind(submission->graph, submission->ask->parameters.kind,
                                   &submission->kind, problem);
    }
    if (status == STATUS_OK) {
        status = identity_of_graph(submission->graph, submission->ask->tenant->name,
                                   store_secret(submission->desk->store), submission->graph_id);
        if (status != STATUS_OK) {
            problem_set(problem, status, "The graph cannot be named.");
        }
    }
    submission->status = status;
    submission->ask->parse_s += clock_monotonic_s() - began_s;
}

static void graph_finished(uv_work_t *request, int error)
{
    struct submission *submission = request->data;
    CHECK(error == 0); /* nothing cancels it */
    if (submission->status != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    desk_accept(submission);
}

static void submit_upload(struct submission *submission)
{
    struct ask *ask = submission->ask;
    submission->reader = ask->reader;
    ask->reader = NULL;
    /* What may be a repeat of what was taken before is judged when the graph is known. */
    bool repeated =
        job_table_find_key(submission->desk->jobs, ask->tenant, ask->idempotency_key) != NULL;
    if (ask->kind == ASK_SUBMIT && !repeated && submission_reserve(submission) != STATUS_OK) {
        submission_refuse(submission, &submission->problem);
        return;
    }
    CHECK(uv_queue_work(submission->desk->loop, &submission->request, finish_graph,
                        graph_finished) == 0);
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
